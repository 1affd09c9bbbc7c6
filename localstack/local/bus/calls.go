package bus

import (
	"crypto/md5" //nolint:gosec // the checksum of SQS
	"encoding/hex"
	"net/http"
	"strconv"
	"time"
)

// Limits of SQS.
const (
	maxEntries = 10
	maxBytes   = 1 << 20
	maxDelay   = 900
)

// posted is a message in a call of SQS.
type posted struct {
	ID           string `json:"Id"`
	MessageBody  string
	DelaySeconds int
	Group        string `json:"MessageGroupId"`
}

// sendCall is the input of SendMessage.
type sendCall struct {
	posted
	URL string `json:"QueueUrl"`
}

// sent is the answer for a message.
type sent struct {
	ID        string `json:"Id,omitempty"`
	MD5       string `json:"MD5OfMessageBody"`
	MessageID string `json:"MessageId"`
}

// refused is the answer for an entry of a batch that was refused.
type refused struct {
	ID          string `json:"Id"`
	Code        string
	Message     string
	SenderFault bool
}

// batch is the answer for a batch.
type batch[T any] struct {
	Successful []T
	Failed     []refused
}

func (b *Bus) send(in sendCall) (any, error) {
	q, err := b.queueOf(in.URL)
	if err != nil {
		return nil, err
	}
	if wrong := in.wrong(); wrong != "" {
		return nil, invalid("InvalidParameterValue", wrong)
	}
	made := in.message(b.config.Now())
	return sent{MD5: sum(made.Body), MessageID: made.ID}, b.queues.send(q, made)
}

// batchCall is the input of a call with entries.
type batchCall[T any] struct {
	URL     string `json:"QueueUrl"`
	Entries []T
}

// check refuses a batch without entries or with too many.
func (c batchCall[T]) check() error {
	switch n := len(c.Entries); {
	case n == 0:
		return invalid("EmptyBatchRequest", "a batch has at least one entry")
	case n > maxEntries:
		return invalid("TooManyEntriesInBatchRequest", "a batch has at most ten entries")
	}
	return nil
}

func (b *Bus) sendBatch(in batchCall[posted]) (any, error) {
	q, err := b.queueOf(in.URL)
	if err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	bytes, answer := 0, batch[sent]{}
	var all []*message
	for _, p := range in.Entries {
		bytes += len(p.MessageBody)
		if wrong := p.wrong(); wrong != "" {
			answer.Failed = append(answer.Failed, refused{p.ID, "InvalidParameterValue", wrong, true})
			continue
		}
		made := p.message(b.config.Now())
		all = append(all, made)
		answer.Successful = append(answer.Successful, sent{p.ID, sum(made.Body), made.ID})
	}
	if bytes > maxBytes {
		return nil, invalid("BatchRequestTooLong", "the messages of a call have at most 1 MB")
	}
	return answer, b.queues.send(q, all...)
}

// wrong returns the mistake in a message; nothing for a valid message.
func (p posted) wrong() string {
	switch {
	case p.MessageBody == "":
		return "a message needs a body"
	case len(p.MessageBody) > maxBytes:
		return "a message has at most 1 MB"
	case p.DelaySeconds < 0 || p.DelaySeconds > maxDelay:
		return "the delay is from 0 to 900 seconds"
	}
	return ""
}

// message returns a new message.
func (p posted) message(now time.Time) *message {
	return newMessage(p.MessageBody, p.Group, now, time.Duration(p.DelaySeconds)*time.Second)
}

// receiveCall is the input of ReceiveMessage. The call does not wait for messages.
type receiveCall struct {
	URL        string `json:"QueueUrl"`
	Most       *int   `json:"MaxNumberOfMessages"`
	Visibility *int   `json:"VisibilityTimeout"`
}

// received is a message in an answer of ReceiveMessage.
type received struct {
	MessageID     string `json:"MessageId"`
	ReceiptHandle string
	MD5OfBody     string
	Body          string
	Attributes    map[string]string
}

func (b *Bus) receive(in receiveCall) (any, error) {
	q, err := b.queueOf(in.URL)
	if err != nil {
		return nil, err
	}
	w := want{most: 1, hidden: q.visibility}
	if in.Most != nil {
		w.most = min(*in.Most, maxEntries)
	}
	if in.Visibility != nil {
		w.hidden = time.Duration(*in.Visibility) * time.Second
	}
	taken, err := b.queues.take(q, w)
	answer := struct{ Messages []received }{}
	for _, m := range taken {
		answer.Messages = append(answer.Messages, received{m.ID, m.receipt(), sum(m.Body), m.Body, m.attributes()})
	}
	return answer, err
}

// attributes returns the system attributes of a message.
func (m message) attributes() map[string]string {
	all := map[string]string{
		"ApproximateReceiveCount": strconv.Itoa(m.Receives), "SentTimestamp": strconv.FormatInt(m.Sent.UnixMilli(), 10),
	}
	if m.Group != "" {
		all["MessageGroupId"] = m.Group
	}
	return all
}

// removal is a message to delete.
type removal struct {
	ID            string `json:"Id"`
	ReceiptHandle string
}

// removeCall is the input of DeleteMessage.
type removeCall struct {
	removal
	URL string `json:"QueueUrl"`
}

func (b *Bus) remove(in removeCall) (any, error) {
	q, err := b.queueOf(in.URL)
	if err != nil {
		return nil, err
	}
	return struct{}{}, b.queues.remove(q, in.ReceiptHandle)
}

func (b *Bus) removeBatch(in batchCall[removal]) (any, error) {
	q, err := b.queueOf(in.URL)
	if err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	answer, receipts := batch[removal]{}, []string{}
	for _, r := range in.Entries {
		receipts = append(receipts, r.ReceiptHandle)
		answer.Successful = append(answer.Successful, removal{ID: r.ID})
	}
	return answer, b.queues.remove(q, receipts...)
}

func (b *Bus) queueURL(in struct{ QueueName string }) (any, error) {
	q, err := b.queueNamed(in.QueueName)
	if err != nil {
		return nil, err
	}
	return map[string]string{"QueueUrl": b.config.urlOf(b.URL, q.name)}, nil
}

func (b *Bus) attributes(in struct {
	URL string `json:"QueueUrl"`
}) (any, error) {
	q, err := b.queueOf(in.URL)
	if err != nil {
		return nil, err
	}
	ready, hidden, delayed := b.queues.count(q)
	return map[string]any{"Attributes": map[string]string{
		"ApproximateNumberOfMessages":           strconv.Itoa(ready),
		"ApproximateNumberOfMessagesNotVisible": strconv.Itoa(hidden),
		"ApproximateNumberOfMessagesDelayed":    strconv.Itoa(delayed),
	}}, nil
}

// count returns the numbers of messages that can be handed out, are in flight, and are delayed.
func (s *queues) count(q *queue) (ready, hidden, delayed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for _, m := range q.all {
		switch {
		case m.place < 0 || !m.Due.After(now):
			ready++
		case m.inFlight:
			hidden++
		default:
			delayed++
		}
	}
	return ready, hidden, delayed
}

func (b *Bus) secretValue(in struct {
	ID string `json:"SecretId"`
}) (any, error) {
	if name := Secret(b.config.Region); in.ID != name {
		return nil, fault{"ResourceNotFoundException", "the region has only the secret " + name, http.StatusBadRequest}
	}
	return map[string]string{"ARN": in.ID, "Name": in.ID, "SecretString": b.key}, nil
}

// sum returns the checksum that the client compares.
func sum(body string) string {
	hash := md5.Sum([]byte(body)) //nolint:gosec // the checksum of SQS
	return hex.EncodeToString(hash[:])
}
