package delivery

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/bus"
	"lectern/shared/feed"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Codes of the conflicts of deliveries.
const (
	CodeBodyGone = "BODY_GONE"
	CodeEnded    = "DELIVERY_ENDED"
)

// find reads a delivery; 404 without one that the caller may see.
func (s Store) find(ctx context.Context, org int64, endpoint, id string) (*Work, error) {
	w, err := s.open(ctx, org, endpoint, id)
	if err == nil && (w == nil || !s.Sight.sees(&w.Delivery)) {
		return nil, apierr.NotFound("Delivery")
	}
	return w, err
}

// Redeliver makes a delivery due now, whatever its status: one attempt with the same webhook-id and body,
// which begins after the call. It returns a 404 for an unknown delivery and a 409 for one whose body is gone.
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
	now := s.Now()
	task := Task{Org: org, Endpoint: endpoint, ID: id, Attempt: w.Hidden.Extra + 1, Mode: Redelivery}
	task.Asked = max(now.UnixNano(), w.Hidden.Began+1) // The clock of a deliverer may be ahead.
	due, err := s.due(ctx, now, task)
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
	now := s.Now()
	first := now.Add(-Keep)
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
		from = feed.After(last)
	}
	return removed, nil
}

// Kept is a stored body of a published change of a record.
type Kept struct {
	Change, Kind string
	Sequence     int64
	Form         string

	item table.Item
}

// Bodies returns the stored bodies of a record of a type, such as session.
func (s Store) Bodies(ctx context.Context, org int64, recordType, id string) iter.Seq2[Kept, error] {
	return func(yield func(Kept, error) bool) {
		of := bodyKey(bus.Message{Org: org, Type: recordType, RecordID: id}, "")
		for item, err := range s.Table.Between(ctx, of.PK, "0", "~") {
			var kept Kept
			if err == nil {
				kept, err = keptOf(item)
			}
			if !yield(kept, err) {
				return
			}
		}
	}
}

// At returns the time of the change.
func (k Kept) At() wire.Time {
	at, _ := feed.Time(k.Change) // A change that is stored has such an id.
	return wire.At(at)
}

// Message returns the part of the published change that names deliveries.
func (k Kept) Message(org int64) bus.Message {
	return bus.Message{Org: org, Change: k.Change, At: k.At(), Kind: k.Kind, Sequence: k.Sequence}
}

// keptParts are the parts of the sort key of a body.
const keptParts = 4

// keptOf returns the body of an item.
func keptOf(item table.Item) (Kept, error) {
	parts := strings.Split(item.SK, "#")
	if len(parts) != keptParts {
		return Kept{}, fmt.Errorf("delivery: %s is the key of no body", item.SK)
	}
	sequence, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil {
		return Kept{}, fmt.Errorf("delivery: %s is the key of no body: %w", item.SK, err)
	}
	return Kept{Change: parts[0], Kind: parts[1], Sequence: sequence, Form: parts[3], item: item}, nil
}

// Overwrite replaces a stored body by another text; by nothing if the text is nil. It is for an
// erasure alone: otherwise a body stays as it was rendered first.
func (s Store) Overwrite(ctx context.Context, k Kept, text []byte) error {
	write := table.Delete(k.item.Key)
	if text != nil {
		write = table.Put(table.Item{Key: k.item.Key, Version: k.item.Version + 1, Data: text, Expires: k.item.Expires})
	}
	return s.Table.Transact(ctx, write)
}

// ForgetAnswers removes what receivers have answered to the attempts of the deliveries of a change to
// endpoints: an answer may repeat the body.
func (s Store) ForgetAnswers(ctx context.Context, m bus.Message, endpoints []string) error {
	keys := make([]table.Key, len(endpoints))
	for i, endpoint := range endpoints {
		keys[i] = key(m.Org, endpoint, ID(m, endpoint))
	}
	got, err := s.Table.GetMany(ctx, keys)
	if err != nil {
		return err
	}
	for _, item := range got {
		if err := s.forgetAnswers(ctx, item); err != nil {
			return err
		}
	}
	return nil
}

// forgetAnswers removes the answers from a stored delivery.
func (s Store) forgetAnswers(ctx context.Context, stored table.Item) error {
	for try, err := range tries.Each(ctx) {
		if err != nil {
			return err
		}
		if try > 0 {
			stored, err = s.Table.Get(ctx, stored.Key)
		}
		if err != nil {
			return err
		}
		w, err := decodeWork(stored)
		if err != nil || !w.forgetAnswers() {
			return err
		}
		item, err := w.item(w.version + 1)
		if err != nil {
			return err
		}
		if err = s.Table.Transact(ctx, table.Replace(item, w.version)); !errors.Is(err, table.ErrStale) {
			return err
		}
	}
	return table.ErrBusy
}

// forgetAnswers removes the answers from the attempts. It reports whether there were any.
func (w *Work) forgetAnswers() (some bool) {
	for i, a := range w.Attempts {
		if a.Response != nil && *a.Response != "" {
			some = true
			w.Attempts[i].Response = new(string)
		}
	}
	return some
}
