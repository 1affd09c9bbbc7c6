package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"lectern/shared/wire"
)

// maxEntries is the number of entries that a call of EventBridge or SQS takes.
const maxEntries = 10

// eventBridge is a bus of EventBridge.
type eventBridge struct {
	client *eventbridge.Client
	name   string
}

// Publish puts messages on the bus, in calls of ten. A refused entry or call does not hold up the
// other entries.
func (b *eventBridge) Publish(ctx context.Context, messages []Message) (refused []int, err error) {
	var failed []error
	first := 0
	for batch := range slices.Chunk(messages, maxEntries) {
		some, err := b.put(ctx, batch)
		for _, i := range some {
			refused = append(refused, first+i)
		}
		if err != nil {
			failed = append(failed, err)
		}
		first += len(batch)
	}
	return refused, errors.Join(failed...)
}

// put puts up to ten messages on the bus. After a failed call, every message counts as refused.
func (b *eventBridge) put(ctx context.Context, batch []Message) (refused []int, err error) {
	entries := make([]types.PutEventsRequestEntry, len(batch))
	for i, m := range batch {
		detail, err := wire.Encode(m)
		if err != nil {
			return every(len(batch)), fmt.Errorf("bus: encode a message: %w", err)
		}
		entries[i] = types.PutEventsRequestEntry{
			EventBusName: &b.name, Source: aws.String(Source), DetailType: &m.Kind, Detail: aws.String(string(detail)), Time: &m.At.Time,
		}
	}
	answer, err := b.client.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: entries})
	if err != nil {
		return every(len(batch)), fmt.Errorf("bus: put events: %w", err)
	}
	for i, e := range answer.Entries {
		if e.ErrorCode != nil {
			refused = append(refused, i)
			err = fmt.Errorf("bus: an event is refused: %s: %s", *e.ErrorCode, aws.ToString(e.ErrorMessage))
		}
	}
	return refused, err
}

// every returns the indexes below n.
func every(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
