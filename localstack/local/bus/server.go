package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxCall is the longest body of a call, with room for the escapes of 1 MB of messages.
const maxCall = 8 << 20

// fault is the error of a call, with the name that the service of AWS uses.
type fault struct {
	name, message string
	status        int
}

func (f fault) Error() string { return "bus: " + f.name + ": " + f.message }

// invalid returns the fault of a wrong call.
func invalid(name, message string) error { return fault{name, message, http.StatusBadRequest} }

// call answers the body of a call.
type call func(b *Bus, body []byte) (any, error)

// calls has the known calls by X-Amz-Target.
var calls = map[string]call{
	"AmazonSQS.SendMessage":         define((*Bus).send),
	"AmazonSQS.SendMessageBatch":    define((*Bus).sendBatch),
	"AmazonSQS.ReceiveMessage":      define((*Bus).receive),
	"AmazonSQS.DeleteMessage":       define((*Bus).remove),
	"AmazonSQS.DeleteMessageBatch":  define((*Bus).removeBatch),
	"AmazonSQS.GetQueueUrl":         define((*Bus).queueURL),
	"AmazonSQS.GetQueueAttributes":  define((*Bus).attributes),
	"AWSEvents.PutEvents":           define((*Bus).putEvents),
	"secretsmanager.GetSecretValue": define((*Bus).secretValue),
}

// define returns the call of a method with the input I.
func define[I any](method func(*Bus, I) (any, error)) call {
	return func(b *Bus, body []byte) (any, error) {
		var in I
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, invalid("SerializationException", err.Error())
		}
		return method(b, in)
	}
}

// transcribePrefix begins the target of each call of Amazon Transcribe.
const transcribePrefix = "Transcribe."

// ServeHTTP answers a call of SQS, EventBridge or Secrets Manager, and passes on those of Amazon
// Transcribe.
func (b *Bus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if target := r.Header.Get("X-Amz-Target"); b.config.Transcribe != nil && strings.HasPrefix(target, transcribePrefix) {
		b.config.Transcribe.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCall))
	if err != nil {
		answer(w, http.StatusRequestEntityTooLarge, fault{"RequestEntityTooLarge", err.Error(), http.StatusRequestEntityTooLarge}.shown())
		return
	}
	target := r.Header.Get("X-Amz-Target")
	do, known := calls[target]
	if !known {
		answer(w, http.StatusBadRequest, fault{name: "UnknownOperationException", message: target + " is no call of the local bus"}.shown())
		return
	}
	found, err := do(b, body)
	if wrong := (fault{}); errors.As(err, &wrong) {
		answer(w, wrong.status, wrong.shown())
		return
	}
	if err != nil {
		b.config.Log.Error("the local bus failed", "call", target, "error", err)
		answer(w, http.StatusInternalServerError, fault{name: "InternalFailure", message: "the local bus failed"}.shown())
		return
	}
	answer(w, http.StatusOK, found)
}

// shown returns the fault in the form of the services.
func (f fault) shown() map[string]string {
	return map[string]string{"__type": "com.amazonaws.local#" + f.name, "message": f.message}
}

// answer writes an answer as JSON. A client that has gone needs no answer.
func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) //nolint:errchkjson // every answer has a form in JSON
}

// queueOf returns the queue of a URL, with or without an address.
func (b *Bus) queueOf(url string) (*queue, error) {
	return b.queueNamed(url[strings.LastIndexByte(url, '/')+1:])
}

// queueNamed returns the queue with a whole name.
func (b *Bus) queueNamed(whole string) (*queue, error) {
	name, _ := strings.CutPrefix(whole, b.config.prefix()+"-")
	q := b.queues.byName[name]
	if q == nil {
		return nil, invalid("QueueDoesNotExist", fmt.Sprintf("there is no queue %q", whole))
	}
	return q, nil
}
