package matcher_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/events/matcher"
	"lectern/localstack/test/tabletest"
	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/resource"
	"lectern/shared/webhook"
)

// directory has the endpoints of two organizations by organization and kind: one endpoint for each.
type directory map[int64]map[string]*webhook.Endpoint

func newDirectory() directory {
	d := directory{}
	for _, org := range []int64{7, 8} {
		d[org] = map[string]*webhook.Endpoint{}
		for _, kind := range []string{"contact.created", "contact.updated"} {
			d[org][kind] = &webhook.Endpoint{
				Header: resource.Header{ID: uuid.NewString()}, Events: []string{kind}, Payload: webhook.PayloadThin,
			}
		}
	}
	return d
}

func (d directory) Of(_ context.Context, org int64, messages ...bus.Message) (found []*webhook.Endpoint, err error) {
	for kind, e := range d[org] {
		if slices.ContainsFunc(messages, func(m bus.Message) bool { return m.Kind == kind }) {
			found = append(found, e)
		}
	}
	return found, nil
}

func (directory) Takes(e *webhook.Endpoint, m bus.Message) bool {
	return slices.Contains(e.Events, m.Kind)
}

func (d directory) IDs(_ context.Context, org int64) (ids []string, err error) {
	for _, e := range d[org] {
		ids = append(ids, e.ID)
	}
	return ids, nil
}

// TestOrganizationsAreHeldApart in an invocation, and so are kinds: each message goes to the endpoint of its
// organization that takes its kind, and to no other. Messages that come the first time are matched
// together, and messages that come again one by one. The breaker of an endpoint is open, and withholds
// the attempts to no other endpoint.
func TestOrganizationsAreHeldApart(t *testing.T) {
	now := func() time.Time { return noon }
	for _, receives := range []string{"1", "2"} {
		w, d, items := &world{}, newDirectory(), tabletest.Start(t)
		failing := d[8]["contact.updated"].ID
		_, err := delivery.Store{Table: items, Now: now}.Learn(t.Context(), 8, failing, slices.Repeat([]delivery.Result{{Failed: true}}, 10))
		require.NoError(t, err)
		m := matcher.New(matcher.Config{
			Table: items, Now: now, Log: slog.New(slog.DiscardHandler), Receivers: d, Renderer: w, Deliveries: w,
		})
		var want []delivery.Task
		var messages []events.SQSMessage
		for sequence := range int64(3) {
			for org, endpoints := range d {
				for kind, e := range endpoints {
					message := changed(org, sequence+1, kind)
					messages = append(messages, received(t, message, receives))
					task := delivery.Task{Org: org, Endpoint: e.ID, ID: delivery.ID(message, e.ID), Attempt: 1}
					if e.ID == failing {
						task.Attempt = 3
					}
					want = append(want, task)
				}
			}
		}
		require.Zero(t, failures(t, m, messages...))
		require.ElementsMatch(t, want, w.sent, receives)
	}
}
