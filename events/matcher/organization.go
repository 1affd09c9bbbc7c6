package matcher

import (
	"context"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/table"
	"lectern/shared/webhook"
)

// organization has the messages of an organization in an invocation, and the endpoints that take them,
// read once for all messages.
type organization struct {
	id       int64
	messages []bus.Message

	once      sync.Once
	endpoints []*webhook.Endpoint
	failing   map[string]bool
	err       error
}

// organizationsOf returns the organizations of the messages by id. handle reports a message that cannot
// be read.
func organizationsOf(event events.SQSEvent) map[int64]*organization {
	all := map[int64]*organization{}
	for _, record := range event.Records {
		m, err := bus.Published([]byte(record.Body))
		if err != nil {
			continue
		}
		if all[m.Org] == nil {
			all[m.Org] = &organization{id: m.Org}
		}
		all[m.Org].messages = append(all[m.Org].messages, m)
	}
	return all
}

// targets returns the targets of a message.
func (o *organization) targets(ctx context.Context, m *Matcher, message bus.Message) (targets []delivery.Target, err error) {
	o.once.Do(func() { o.err = table.Safely(func() error { return o.read(ctx, m) })() })
	for _, e := range o.endpoints {
		if m.receivers.Takes(e, message) {
			targets = append(targets, delivery.Target{Endpoint: e.ID, Form: e.Payload, Open: o.failing[e.ID]})
		}
	}
	return targets, o.err
}

// read reads the endpoints that take at least one message, and which of them fail.
func (o *organization) read(ctx context.Context, m *Matcher) (err error) {
	if o.endpoints, err = m.receivers.Of(ctx, o.id, o.messages...); err != nil || len(o.endpoints) == 0 {
		return err
	}
	ids := make([]string, len(o.endpoints))
	for i, e := range o.endpoints {
		ids[i] = e.ID
	}
	o.failing, err = m.store.Failing(ctx, o.id, ids)
	return err
}
