package datarequest

import (
	"context"
	"errors"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/bus"
	"lectern/shared/change"
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

// Message returns a message of the creation of a request, to publish it again: the one that was published may be lost,
// and so may the change record. It names the request in the place of the change.
func (r *Request) Message() bus.Message {
	return bus.Message{
		Change: r.ID, At: r.CreatedAt, Org: r.OrgID, Kind: KindCreated, Type: Kind, RecordID: r.ID, Version: 1, Source: change.SourceService,
	}
}
