package bus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"lectern/shared/table"
)

// MaxDelay is the longest delay of a message in a queue (SQS).
const MaxDelay = 15 * time.Minute

// Post is a message to be sent to a queue.
type Post struct {
	// Body is JSON.
	Body []byte
	// Group is the message group, for fair delivery; empty for none.
	Group string
	// Delay is the time before the message is received, in whole seconds up to MaxDelay.
	Delay time.Duration
}

// Unpublished returns the message of the queue changes-dead for a change record that is not published: its key.
func Unpublished(key table.Key) Post {
	return Post{Body: fmt.Appendf(nil, `{"pk":%q,"sk":%q}`, key.PK, key.SK)} // The key of a change is plain ASCII.
}

// Queue takes messages. Send sends all or returns an error; a repetition may send some twice.
type Queue interface {
	Send(ctx context.Context, posts ...Post) error
}

// Bus takes published changes.
type Bus interface {
	// Publish puts messages on the bus. It returns the indexes of those that were refused, and an
	// error that says why.
	Publish(ctx context.Context, messages []Message) (refused []int, err error)
}

// ErrPermanent marks an error that a repetition cannot mend. The message still goes the way of all
// failures: to the dead-letter queue.
var ErrPermanent = errors.New("bus: the message cannot be handled")

// Arrival is a message that a worker has received.
type Arrival struct {
	// ID is that of the message in the queue.
	ID   string
	Body []byte
	// Receives is how often the message was received, at least once. It is more after an
	// invocation that failed or ended.
	Receives int
}

// arrival returns a message of an event.
func arrival(m events.SQSMessage) Arrival {
	receives, _ := strconv.Atoi(m.Attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
	return Arrival{ID: m.MessageId, Body: []byte(m.Body), Receives: max(receives, 1)}
}

// Arrivals returns the messages of an event.
func Arrivals(event events.SQSEvent) []Arrival {
	all := make([]Arrival, len(event.Records))
	for i, m := range event.Records {
		all[i] = arrival(m)
	}
	return all
}

// Handle handles each message of an event in parallel and returns the ids of those that failed,
// so that only these are received again. failed gets each error; it is called by one goroutine at
// a time.
func Handle(ctx context.Context, event events.SQSEvent, handle func(context.Context, Arrival) error, failed func(id string, err error),
) events.SQSEventResponse {
	answer := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, m := range event.Records {
		all.Go(func() {
			err := table.Safely(func() error { return handle(ctx, arrival(m)) })()
			if err == nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answer.BatchItemFailures = append(answer.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
			failed(m.MessageId, fmt.Errorf("bus: handle message %s: %w", m.MessageId, err))
		})
	}
	all.Wait()
	return answer
}
