package delivery

import (
	"context"
	"errors"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/feed"
	"lectern/shared/table"
)

// Codes of the conflicts of deliveries.
const (
	CodeBodyGone = "BODY_GONE"
	CodeEnded    = "DELIVERY_ENDED"
)

// find reads a delivery; 404 without one.
func (s Store) find(ctx context.Context, org int64, endpoint, id string) (*Work, error) {
	w, err := s.open(ctx, org, endpoint, id)
	if err == nil && w == nil {
		err = apierr.NotFound("Delivery")
	}
	return w, err
}

// Redeliver makes a delivery due now, whatever its status: one attempt with the same webhook-id
// and body. It returns a 404 for an unknown delivery and a 409 for one whose body is gone.
func (s Store) Redeliver(ctx context.Context, org int64, endpoint, id string) (*Delivery, error) {
	w, err := s.find(ctx, org, endpoint, id)
	if err != nil {
		return nil, err
	}
	body, err := s.ReadBody(ctx, w)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return nil, apierr.Conflict(CodeBodyGone, "The body of the delivery is no longer kept.")
	}
	task := Task{Org: org, Endpoint: endpoint, ID: id, Attempt: w.Hidden.Extra + 1, Mode: Redelivery}
	due, err := s.due(ctx, s.Now(), task)
	if err != nil {
		return nil, err
	}
	return &w.Delivery, s.Table.Transact(ctx, due)
}

// Cancel ends a delivery that is pending. It returns a 404 for an unknown delivery and a 409 for
// one that has ended.
func (s Store) Cancel(ctx context.Context, org int64, endpoint, id string) (*Delivery, error) {
	for _, err := range tries.Each(ctx) {
		if err != nil {
			return nil, err
		}
		w, err := s.find(ctx, org, endpoint, id)
		if err != nil {
			return nil, err
		}
		if w.Status != Pending {
			return nil, apierr.Conflict(CodeEnded, "The delivery has ended.").With("status", w.Status)
		}
		after := ended(*w)
		if err = s.store(ctx, w, &after); !errors.Is(err, table.ErrStale) {
			return &after.Delivery, err
		}
	}
	return nil, apierr.Unavailable()
}

// maxForgotten is the number of deliveries that one call of Forget removes.
const maxForgotten = 2000

// Forget removes all that is kept of an endpoint that is deleted; called by maintenance. A call
// removes 2,000 deliveries at most, and the next call goes on. Bodies belong to their records and
// stay until they expire.
func (s Store) Forget(ctx context.Context, org int64, endpoint string) error {
	if err := s.Table.Transact(ctx, table.Delete(stateKey(org, endpoint))); err != nil {
		return err
	}
	left := maxForgotten
	// A delivery that was added late expires after its day, as in Filter.span.
	now := s.Now()
	first := now.Add(-Keep - 24*time.Hour)
	for day := first; left > 0 && day.Before(now.Add(24*time.Hour)); day = day.Add(24 * time.Hour) {
		removed, err := s.forgetDay(ctx, dayKey(org, endpoint, day), feed.Bound(first), left)
		if err != nil {
			return err
		}
		left -= removed
	}
	return nil
}

// forgetDay removes at most limit deliveries of a day, from a bound of ids on. A read may return no
// items and report more: the table leaves out expired items.
func (s Store) forgetDay(ctx context.Context, pk, from string, limit int) (removed int, err error) {
	for more := true; more && removed < limit; {
		var items []table.Item
		var last string
		items, more, last, err = s.Table.Some(ctx, pk, from, "~", min(limit-removed, table.MaxWrites))
		if err != nil {
			return removed, err
		}
		writes := make([]table.Write, len(items))
		for i, item := range items {
			writes[i] = table.Delete(item.Key)
		}
		if err := s.Table.Transact(ctx, writes...); err != nil {
			return removed, err
		}
		removed += len(items)
		from = last + " " // No id continues with a space.
	}
	return removed, nil
}
