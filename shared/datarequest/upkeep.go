package datarequest

import (
	"context"
	"errors"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/feed"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/table"
)

// Upkeep deletes requests, and finds requests that wait for a worker. It needs no keys.
type Upkeep struct {
	Table *table.Table
	Now   func() time.Time
}

// patience is how long a request may be open since its last change: a queue may have lost its message.
const patience = 24 * time.Hour

func (u Upkeep) store() *Store { return &Store{records: resource.Store{Table: u.Table, Now: u.Now}} }

// Due returns the requests of an organization that are to be deleted, and those that wait for a worker. A
// failed erasure is not deleted, because it is still to be done.
func (u Upkeep) Due(ctx context.Context, org int64) (old, waiting []*Request, err error) {
	all, err := u.store().of(org).List(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range all {
		age := u.Now().Sub(r.UpdatedAt.Time)
		switch {
		case r.Open() && age > patience:
			waiting = append(waiting, r)
		case !r.Open() && age > KeepEnded && (r.Type == Access || r.ended()):
			old = append(old, r)
		}
	}
	return old, waiting, nil
}

// Flood returns the requests of an organization since a time that nobody needs: access requests that are
// not open, and completed erasures that found no contact.
func (u Upkeep) Flood(ctx context.Context, org int64, since time.Time) (some []*Request, err error) {
	all, err := u.store().of(org).List(ctx)
	for _, r := range all {
		done := r.Type == Access && !r.Open() || r.Status == Completed && len(r.Response.ContactRecord) == 0
		if done && !r.CreatedAt.Before(since) {
			some = append(some, r)
		}
	}
	return some, err
}

// Delete deletes a request with its archive. A request that is open again stays, and another call may have
// deleted the request.
func (u Upkeep) Delete(ctx context.Context, r *Request) error {
	s := u.store()
	if err := s.removeArchive(ctx, r, 0); err != nil {
		return err
	}
	_, err := s.write(ctx, r, record.Deleted, removing{})
	if errors.Is(err, errOpen) || apierr.IsNotFound(err) {
		return nil
	}
	return err
}

// Messages returns the messages of the creation of a request, to publish them again; none if its change
// record is gone or cannot be decoded.
func (u Upkeep) Messages(ctx context.Context, r *Request) (all []bus.Message, err error) {
	log := feed.Log{Table: u.Table.Lenient(), Root: change.Root(r.OrgID), Hourly: true, First: 1}
	from, to := feed.Bound(r.CreatedAt.Time), feed.Bound(r.CreatedAt.Add(time.Millisecond))
	for items, err := range log.Chunks(ctx, from, to, table.MaxWrites) {
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if c, err := change.Decode(item); err == nil && c.RecordID == r.ID {
				all = append(all, bus.Messages(*c)...)
			}
		}
	}
	return all, nil
}
