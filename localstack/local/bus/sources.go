package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	lambda "github.com/aws/aws-lambda-go/events"

	"lectern/events"
	"lectern/shared/table"
)

const (
	// reserved is the part of a consumer's invocations that is kept for groups without a message in
	// flight: a fifth.
	reserved = 5
	// scheduleTime is the time between two invocations by the clock, a minute on AWS.
	scheduleTime = time.Second
	// idleTime is the longest wait of a consumer.
	idleTime = time.Minute
)

// invocation invokes a worker.
type invocation struct {
	worker events.Worker
	handle Handler
	// working ends when open invocations are abandoned.
	working context.Context //nolint:containedctx // it outlives the source
}

// invoke invokes the worker with an event, within the time of the worker.
func (i invocation) invoke(event any) (answer json.RawMessage, err error) {
	payload, err := json.Marshal(event)
	if err != nil {
		return nil, fmt.Errorf("bus: encode an event: %w", err)
	}
	ctx, cancel := context.WithTimeout(i.working, time.Duration(i.worker.Seconds)*time.Second)
	defer cancel()
	err = table.Safely(func() (err error) {
		answer, err = i.handle(ctx, payload)
		return err
	})()
	return answer, err
}

// each invokes the worker each second until ctx ends.
func (i invocation) each(ctx context.Context, log *slog.Logger) {
	for table.Sleep(ctx, scheduleTime) == nil {
		if _, err := i.invoke(lambda.EventBridgeEvent{Source: "aws.scheduler", Detail: json.RawMessage("{}")}); err != nil {
			log.Error("a worker failed", "worker", i.worker.Name, "error", err)
		}
	}
}

// consumer invokes a worker with the messages of a queue. A batch has messages of a single group, so
// that a group with a slow receiver holds few invocations, and a part of the invocations is kept for
// groups without a message in flight.
type consumer struct {
	invocation
	queues *queues
	queue  *queue
	log    *slog.Logger
	// most limits the invocations, busy counts the open invocations, done gets each end.
	most, busy int
	done       chan struct{}
}

// newConsumer returns the consumer of a queue. most lowers the limit of the invocations; 0 does not.
func (b *Bus) newConsumer(called invocation, most int) *consumer {
	limit := called.worker.Instances
	if most > 0 {
		limit = min(limit, most)
	}
	return &consumer{
		invocation: called, queues: b.queues, queue: b.queues.byName[called.worker.From], log: b.config.Log, most: limit,
		done: make(chan struct{}, limit),
	}
}

// run invokes the worker until ctx ends, and then waits for the open invocations.
func (c *consumer) run(ctx context.Context) {
	for ctx.Err() == nil {
		wait := c.fill()
		timer := time.NewTimer(wait)
		select {
		case <-c.queue.wake:
		case <-c.done:
			c.busy--
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	for ; c.busy > 0; c.busy-- {
		<-c.done
	}
}

// fill begins invocations while there are messages and free invocations, and returns the time until
// the next message that is delayed.
func (c *consumer) fill() time.Duration {
	for c.busy < c.most {
		quiet := c.most-c.busy <= c.most/reserved
		batch, err := c.queues.take(c.queue, want{most: c.worker.Messages, hidden: c.queue.visibility, alone: true, quiet: quiet})
		if err != nil {
			c.log.Error("the queue failed", "queue", c.queue.name, "error", err)
			return scheduleTime
		}
		if len(batch) == 0 {
			break
		}
		c.busy++
		go c.work(batch, c.event(batch))
	}
	if wait, ok := c.queues.due(c.queue); ok {
		return max(min(wait, idleTime), time.Millisecond)
	}
	return idleTime
}

// event returns the event for a batch.
func (c *consumer) event(batch []*message) (event lambda.SQSEvent) {
	for _, m := range batch {
		event.Records = append(event.Records, lambda.SQSMessage{
			MessageId: m.ID, ReceiptHandle: m.receipt(), Body: m.Body, Attributes: m.attributes(), EventSource: "aws:sqs",
			EventSourceARN: "arn:aws:sqs:local:000000000000:" + c.queue.name,
		})
	}
	return event
}

// work invokes the worker with a batch, and deletes the messages that the worker has handled.
func (c *consumer) work(batch []*message, event lambda.SQSEvent) {
	defer func() { c.done <- struct{}{} }()
	failed, err := c.failures(event)
	if err != nil {
		c.log.Error("a worker failed", "worker", c.worker.Name, "error", err)
	}
	var again []*message
	var handled []string
	for i, m := range batch {
		if err != nil || slices.Contains(failed, m.ID) {
			again = append(again, m)
		} else {
			handled = append(handled, event.Records[i].ReceiptHandle)
		}
	}
	if err := c.queues.remove(c.queue, handled...); err != nil {
		c.log.Error("the queue failed", "queue", c.queue.name, "error", err)
	}
	if err := c.queues.failed(c.queue, again); err != nil {
		c.log.Error("the queue failed", "queue", c.queue.name, "error", err)
	}
}

// failures invokes the worker and returns the ids of the messages that failed.
func (c *consumer) failures(event lambda.SQSEvent) (ids []string, err error) {
	text, err := c.invoke(event)
	if err != nil {
		return nil, err
	}
	var answer lambda.SQSEventResponse
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("bus: decode the answer of %s: %w", c.worker.Name, err)
	}
	for _, f := range answer.BatchItemFailures {
		ids = append(ids, f.ItemIdentifier)
	}
	return ids, nil
}
