package webhooks

import (
	"context"
	"slices"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/delivery"
	"lectern/shared/page"
	"lectern/shared/webhook"
	"lectern/shared/wire"
)

const (
	aboutDeliveries = "Lists the deliveries of an endpoint in the last 30 days, the latest first, each with its attempts. " +
		"While the endpoint is failing, the first two attempts of a delivery may be listed at once as not sent: " +
		"`at` of the second is then 4 to 6 seconds ahead. " +
		"It has the deliveries of kinds that the token may read and of events that it sees, and so have `redeliver`, `cancel` and `replay`. " +
		"`totalResults` counts the deliveries up to the end of the page, and one more if there are more."
	aboutRedeliver = "Makes a delivery due at once, whatever its status: one attempt with the same `webhook-id` and body. " +
		"A delivery whose body is gone is a 409."
	aboutReplay = "Makes the deliveries due again whose change was between `since` and `until`, at most 3 days apart: all of them, " +
		"or those with a status. Each keeps its `webhook-id` and body. The answer says what was asked for; the deliveries follow. " +
		"For example:\n\n```json\n" +
		`{"since": "2027-05-11T00:00:00Z", "until": "2027-05-12T00:00:00Z", "status": "failed"}` + "\n```"
	aboutCancel = "Ends a pending delivery: no attempt follows. A delivery that has ended is a 409."
)

// mostReplayed is the longest range of a replay.
const mostReplayed = 3 * 24 * time.Hour

type deliveriesInput struct {
	In
	page.ListQuery
	Status string           `query:"status" enum:"pending,delivered,failed,cancelled" doc:"The status of the deliveries."`
	Kind   webhook.KindName `query:"kind" doc:"The kind of the deliveries."`
	Since  string           `query:"since" format:"date-time" example:"2027-05-11T09:30:00Z" doc:"The earliest created_at."`
	Until  string           `query:"until" format:"date-time" example:"2027-05-12T00:00:00Z" doc:"All deliveries have an earlier created_at."`
}

// deliveryInput names a delivery.
type deliveryInput struct {
	In
	DeliveryID string `path:"deliveryId" format:"uuid" doc:"The delivery's id, its webhook-id."`
}

type replayInput struct {
	In
	Body Range
}

// Range selects the deliveries of a replay.
type Range struct {
	Since  wire.Time `json:"since" doc:"The earliest created_at."`
	Until  wire.Time `json:"until" doc:"All deliveries have an earlier created_at; at most 3 days after since."`
	Status string    `json:"status,omitempty" enum:"pending,delivered,failed,cancelled" doc:"The status of the deliveries; all without it."`
}

// seen returns the store of the deliveries that the caller may see: of kinds that the caller may read,
// and of events that the caller sees. An endpoint may have had other kinds, events and owners before.
func (s *service) seen(ctx context.Context) delivery.Store {
	caller, store := auth.From(ctx), s.store
	events, limited := caller.Events()
	kinds := slices.DeleteFunc(slices.Clone(webhook.Kinds), func(kind string) bool { return caller.May(webhook.ScopesOf(kind)) != nil })
	store.Sight = &delivery.Sight{Kinds: kinds, Limited: limited, Events: events}
	return store
}

func (s *service) deliveries(ctx context.Context, in *deliveriesInput) (*page.Of[delivery.Delivery], error) {
	if err := s.endpoints.Check(ctx, in.ID); err != nil {
		return nil, err
	}
	q := in.Query()
	filter := delivery.Filter{Status: in.Status, Kind: string(in.Kind), Since: timeOf(in.Since), Until: timeOf(in.Until)}
	some, more, err := s.seen(ctx).List(ctx, auth.From(ctx).Org.ID, in.ID, filter, delivery.Page{Skip: q.Offset(), Limit: q.PageSize})
	if err != nil {
		return nil, err
	}
	total := len(some)
	if total > 0 {
		total += q.Offset()
	}
	if more {
		total++
	}
	return page.New(q, total, some), nil
}

// timeOf returns the time of a checked parameter; the zero time for an absent parameter.
func timeOf(text string) time.Time {
	t, err := wire.ParseTime(text)
	if err != nil {
		return time.Time{}
	}
	return t.Time
}

func (s *service) redeliver(ctx context.Context, in *deliveryInput) (*delivery.Delivery, error) {
	if err := s.endpoints.Check(ctx, in.ID); err != nil {
		return nil, err
	}
	return s.seen(ctx).Redeliver(ctx, auth.From(ctx).Org.ID, in.ID, in.DeliveryID)
}

func (s *service) cancel(ctx context.Context, in *deliveryInput) (*delivery.Delivery, error) {
	if err := s.endpoints.Check(ctx, in.ID); err != nil {
		return nil, err
	}
	return s.seen(ctx).Cancel(ctx, auth.From(ctx).Org.ID, in.ID, in.DeliveryID)
}

func (s *service) replay(ctx context.Context, in *replayInput) (*Range, error) {
	r := in.Body
	if !r.Since.Before(r.Until.Time) {
		return nil, apierr.Invalid("until", "until must be later than since.")
	}
	if r.Until.Sub(r.Since.Time) > mostReplayed {
		return nil, apierr.Invalid("until", "until must be at most 3 days later than since.")
	}
	if err := s.endpoints.Check(ctx, in.ID); err != nil {
		return nil, err
	}
	filter := delivery.Filter{Status: r.Status, Since: r.Since.Time, Until: r.Until.Time}
	if err := s.seen(ctx).Replay(ctx, auth.From(ctx).Org.ID, in.ID, filter); err != nil {
		return nil, err
	}
	return &r, nil
}
