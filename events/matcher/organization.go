package matcher

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/table"
	"lectern/shared/webhook"
)

// organization has the messages of an organization in an invocation, and the endpoints that take them,
// read once for all messages.
type organization struct {
	*handler
	id       int64
	messages []arrived

	once      sync.Once
	endpoints []*webhook.Endpoint
	openUntil map[string]time.Time
	// done has the ids of the messages whose deliveries are made.
	done map[string]bool
	err  error
}

// arrived is a published change with its message in the queue.
type arrived struct {
	bus.Message
	bus.Arrival
}

// organizationsOf returns the organizations of the messages by id. handle reports a message that cannot
// be read.
func organizationsOf(h *handler, event events.SQSEvent) map[int64]*organization {
	all := map[int64]*organization{}
	for _, a := range bus.Arrivals(event) {
		m, err := bus.Published(a.Body)
		if err != nil {
			continue
		}
		if all[m.Org] == nil {
			all[m.Org] = &organization{handler: h, id: m.Org, done: map[string]bool{}}
		}
		all[m.Org].messages = append(all[m.Org].messages, arrived{m, a})
	}
	return all
}

// begin reads the endpoints, and makes the deliveries of all messages that come the first time, in one
// transaction. After an error of the transaction or of the sending, handle makes the deliveries of each
// message by itself.
func (o *organization) begin(ctx context.Context) error {
	o.once.Do(func() {
		if o.err = table.Safely(func() error { return o.read(ctx) })(); o.err != nil {
			return
		}
		if err := table.Safely(func() error { return o.together(ctx) })(); err != nil {
			o.log.LogAttrs(ctx, slog.LevelInfo, "messages are matched one by one", slog.Int64("org", o.id), slog.Any("reason", err))
		}
	})
	return o.err
}

// read reads the endpoints that take at least one message, and the states of their breakers.
func (o *organization) read(ctx context.Context) (err error) {
	messages := make([]bus.Message, len(o.messages))
	for i, m := range o.messages {
		messages[i] = m.Message
	}
	if o.endpoints, err = o.receivers.Of(ctx, o.id, messages...); err != nil || len(o.endpoints) == 0 {
		return err
	}
	ids := make([]string, len(o.endpoints))
	for i, e := range o.endpoints {
		ids[i] = e.ID
	}
	o.openUntil, err = o.store.OpenUntil(ctx, o.id, ids)
	return err
}

// targets returns the targets of a message.
func (o *organization) targets(m bus.Message) (targets []delivery.Target) {
	for _, e := range o.endpoints {
		if o.receivers.Takes(e, m) {
			targets = append(targets, delivery.Target{Endpoint: e.ID, Form: e.Payload, OpenUntil: o.openUntil[e.ID]})
		}
	}
	return targets
}

// together makes the deliveries of the messages that come the first time, as many messages in a
// transaction as fit. handle makes those of a message that stays alone.
func (o *organization) together(ctx context.Context) (err error) {
	var all []delivery.Matched
	for _, m := range o.messages {
		if o.first(m.Message, m.Receives) {
			all = append(all, delivery.Matched{Message: m.Message, Arrival: m.ID, Targets: o.targets(m.Message)})
		}
	}
	for _, some := range delivery.Portions(all) {
		if len(some) > 1 {
			err = errors.Join(err, o.addTogether(ctx, some))
		}
	}
	return err
}

// addTogether makes the deliveries of messages in one transaction.
func (o *organization) addTogether(ctx context.Context, some []delivery.Matched) error {
	added, err := o.store.AddTogether(ctx, some, o.renderer)
	if err != nil {
		return err
	}
	if err := delivery.Send(ctx, o.deliveries, added.Tasks); err != nil {
		return err
	}
	matched := 0
	for _, m := range some {
		o.done[m.Arrival] = true
		matched += len(m.Targets)
	}
	o.count(matched, len(added.Tasks), added)
	return nil
}
