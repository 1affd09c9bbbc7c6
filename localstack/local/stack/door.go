package stack

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lectern/shared/api"
	"lectern/shared/api/server"
	"lectern/shared/apierr"
	"lectern/shared/auth"
)

// Limits of the gateway and of Lambda. The limit of 6 MB for an event holds only for functions
// that run as processes. A form that a function of this process reads as it comes has neither a limit of
// the gateway nor of its time.
const (
	maxBody    = 10 << 20         // API Gateway's limit of a request body.
	maxAnswer  = 6 << 20          // Lambda's limit of an answer.
	maxHeaders = 10240            // API Gateway's limit of all headers together.
	timeout    = 29 * time.Second // API Gateway's limit of one request.
)

// The header that the gateway renames in the answers of functions, and the new name. The
// gateway's own answers keep the header.
const (
	headerChallenge = "Www-Authenticate"
	headerRenamed   = "X-Amzn-Remapped-Www-Authenticate"
)

// door takes HTTP requests and answers like API Gateway: each request becomes a proxy event of
// a REST API with payload format 1.0 for the group's Lambda handler. A form goes to a function of this
// process as on a server without a gateway, beside its event; no header of its answer gets another name.
type door struct {
	router router
	// stage is the stage that paths begin with; empty for paths without a stage, as at a domain
	// of the API.
	stage string
	// routes, unless nil, collects the routes of the requests.
	routes *Routes
	// patience limits the wait for an answer.
	patience time.Duration
	newID    func() string
	now      func() time.Time
	log      *slog.Logger
	// wrote, unless nil, is called after a request that may have written.
	wrote func()
}

// newDoor returns the door for groups; functionOf returns the function of a group. The group root gets every
// other request.
func newDoor(env api.Env, groups []api.Group, functionOf func(api.Group) function) *door {
	d := &door{patience: timeout, newID: env.NewID, now: env.Now, log: env.Log}
	for _, group := range groups {
		handler := functionOf(group)
		for _, op := range group.Operations {
			d.router.add(op, handler)
		}
		if group.Name == "root" {
			d.router.rest = function{invoke: handler.invoke}
		}
	}
	return d
}

// ServeHTTP answers a request.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, found := server.Below(d.stage, r.URL.EscapedPath())
	if !found {
		server.RefuseStage(w)
		return
	}
	to := d.router.find(r.Method, path)
	if to.group.connected && r.Header.Get("Authorization") == "" {
		d.challenge(w, r)
		return
	}
	if to.group.stream != nil {
		d.stream(w, r, path, to)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		refuseLength(w)
		return
	}
	if err != nil {
		return // The client has gone before it sent its body.
	}
	d.routes.note(r.Method, to.template)
	ctx, cancel := context.WithTimeout(r.Context(), d.patience)
	defer cancel()
	event := d.event(r, path, to, body)
	answer, err := to.group.invoke(ctx, event)
	if d.wrote != nil && r.Method != http.MethodGet {
		d.wrote()
	}
	if err == nil {
		err = write(w, answer)
	}
	if err != nil {
		d.fail(w, r, event, err)
	}
}

// challenge refuses a request without a token before its group, as the gateway does where an assistant must find the header by its name.
func (d *door) challenge(w http.ResponseWriter, r *http.Request) {
	address := "http://" + r.Host
	if d.stage != "" {
		address += "/" + d.stage
	}
	w.Header().Set(api.HeaderChallenge, api.ChallengeAt(address))
	server.Refuse(w, d.newID(), auth.WithoutToken())
}

// stream passes a request to the function of its group while its body comes.
func (d *door) stream(w http.ResponseWriter, r *http.Request, path string, to route) {
	d.routes.note(r.Method, to.template)
	event := d.event(r, path, to, nil)
	if err := api.Stream(w, r, to.group.stream, event); err != nil {
		d.fail(w, r, event, err)
	}
}

// fail answers a request that its group did not answer.
func (d *door) fail(w http.ResponseWriter, r *http.Request, event events.APIGatewayProxyRequest, err error) {
	id := event.RequestContext.RequestID
	if refused := (*apierr.Error)(nil); errors.As(err, &refused) {
		server.Refuse(w, id, refused)
		return
	}
	if r.Context().Err() == nil { // Else the client has gone.
		d.log.Error("no answer from the group", "request_id", id, "method", r.Method, "route", event.Resource, "error", err)
		server.Refuse(w, id, failed(err))
	}
}

// failed returns the gateway's answer for a function without an answer: 502 after a failure or
// the death of the function, 504 after the gateway's time limit.
func failed(err error) *apierr.Error {
	e, status := apierr.Internal(), http.StatusBadGateway
	if errors.Is(err, context.DeadlineExceeded) {
		e, status = apierr.Unavailable(), http.StatusGatewayTimeout
	}
	e.Status = status
	return e
}

// event returns the request as an event. The body is base64 because the API declares every media type as
// binary.
func (d *door) event(r *http.Request, path string, to route, body []byte) events.APIGatewayProxyRequest {
	event := server.Event(r, server.Request{
		ID: d.newID(), At: d.now(), Stage: cmp.Or(d.stage, noStage), Path: path, Template: to.template, Parameters: to.parameters,
		Scheme: "http", Client: server.Host(r.RemoteAddr),
	})
	event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), len(body) > 0
	return event
}

// write sends a group's answer. After an error, no byte was sent.
func write(w http.ResponseWriter, answer events.APIGatewayProxyResponse) error {
	if len(answer.Body) > maxAnswer {
		return fmt.Errorf("stack: an answer of %d bytes does not leave a Lambda", len(answer.Body))
	}
	body := []byte(answer.Body)
	if answer.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(answer.Body); err != nil {
			return fmt.Errorf("stack: decode the answer's body: %w", err)
		}
	}
	header := w.Header()
	for name, values := range answer.MultiValueHeaders {
		header[renamed(name)] = values
	}
	if len(body) > 0 {
		header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = w.Write(body) // A client that has gone needs no answer.
	return nil
}

// renamed returns the name under which the gateway sends a header of a function's answer.
func renamed(name string) string {
	name = http.CanonicalHeaderKey(name)
	if name == headerChallenge {
		return headerRenamed
	}
	return name
}

// refuseLength answers a body over maxBody as the servers before the API do: with a text, and
// without an id or any header of the API. No gateway response applies.
func refuseLength(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusRequestEntityTooLarge)
	_, _ = fmt.Fprintf(w, "HTTP content length exceeded %d bytes.", maxBody) // A client that has gone needs no answer.
}
