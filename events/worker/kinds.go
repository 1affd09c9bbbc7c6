package worker

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/aws/aws-lambda-go/events"
)

// OfQueue is the Invoke of a worker with a queue.
type OfQueue = Invoke[events.SQSEvent, events.SQSEventResponse]

// Kinds are the workers that share a queue, each by the kind of change whose messages it takes. The worker of the
// empty kind takes all other messages.
type Kinds map[string]OfQueue

// Invoke gives each message to its worker, and returns the messages that failed.
func (k Kinds) Invoke(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	answer := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for _, m := range event.Records {
		done, err := k.of(m)(ctx, events.SQSEvent{Records: []events.SQSMessage{m}})
		if err != nil {
			return answer, err
		}
		answer.BatchItemFailures = slices.Concat(answer.BatchItemFailures, done.BatchItemFailures)
	}
	return answer, nil
}

// of returns the worker of a message.
func (k Kinds) of(m events.SQSMessage) OfQueue {
	var sent struct{ Detail struct{ Kind string } }
	if err := json.Unmarshal([]byte(m.Body), &sent); err == nil && k[sent.Detail.Kind] != nil {
		return k[sent.Detail.Kind]
	}
	return k[""]
}
