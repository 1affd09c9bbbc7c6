// Package purge removes for good what was deleted more than 30 days ago: sessions,
// contacts and accounts without any role, and settings (decision 19). Each removal is one
// transaction, conditional on the versions that were read, so that a restore that comes
// first wins. Sums of shards and settings versions stay exact.
//
// Read purge.go, then sessions.go, parties.go, settings.go.
package purge

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/account"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/settings/item"
	"lectern/shared/table"
	"lectern/shared/wire"
)

const (
	// Keep is how long what was deleted can be restored.
	Keep = 30 * 24 * time.Hour
	// quiet is longer than a request takes. Roles are purged from an event only if no
	// session was written for so long: a request may copy a session that it read before.
	quiet = 2 * time.Minute
	// atOnce is how many records are purged in parallel.
	atOnce = 8
	// least is how long records are purged at least after they were found, so that a call
	// gets on however long it looked for them.
	least = 5 * time.Second
	// Purged is the last word of the action in a purge's change record.
	Purged = "purged"

	lastKey = "~"
)

// ErrTime is returned when Store.Until has come and something is left to do.
var ErrTime = errors.New("purge: no time is left")

// Counts are how many records were purged, and Shrunk how many deleted settings lost
// content that an earlier release had left to them.
type Counts struct {
	Sessions int64 `json:"sessions"`
	Contacts int64 `json:"contacts"`
	Accounts int64 `json:"accounts"`
	Settings int64 `json:"settings"`
	Shrunk   int64 `json:"shrunk_settings"`
}

// Store purges one region's table.
type Store struct {
	Table *table.Table
	// Now tells how old a deletion is.
	Now func() time.Time
	// Until is when no further removal is begun, but for those of the first seconds.
	Until time.Time
	// Counts are added to.
	Counts *Counts
}

// run is the purge of one event, or of an organization's settings where event is 0.
type run struct {
	Store
	org, event int64
	// now is the time of all removals, and before the latest deletion that is purged.
	now, before time.Time
}

func (s Store) run(org, event int64) *run {
	now := s.Now()
	return &run{Store: s, org: org, event: event, now: now, before: now.Add(-Keep)}
}

// Settings purges the settings of an event, or of an organization where event is 0.
func (s Store) Settings(ctx context.Context, org, event int64) error {
	return s.run(org, event).settings(ctx, item.Place{Org: org, Event: event})
}

// Sessions purges the sessions of an event.
func (s Store) Sessions(ctx context.Context, org, event int64) error {
	return s.run(org, event).sessions(ctx)
}

// Contacts purges the contacts of an event, each from all of its events together.
func (s Store) Contacts(ctx context.Context, org, event int64) error {
	return s.run(org, event).parties(ctx, contact.Kind, &s.Counts.Contacts)
}

// Accounts purges the accounts of an event, each from all of its events together.
func (s Store) Accounts(ctx context.Context, org, event int64) error {
	return s.run(org, event).parties(ctx, account.Kind, &s.Counts.Accounts)
}

// old reports whether a deletion is so long ago that it cannot be restored.
func (r *run) old(deleted *wire.Time) bool { return deleted != nil && deleted.Before(r.before) }

// each purges records in parallel and counts those that were purged. A record that was
// written meanwhile stays.
func (r *run) each(ctx context.Context, ids []string, count *int64, purge func(context.Context, string) (bool, error)) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	until := r.until()
	for _, id := range ids {
		g.Go(table.Safely(func() error {
			if err := begin(ctx, until); err != nil {
				return err
			}
			done, err := purge(ctx, id)
			if done {
				atomic.AddInt64(count, 1)
			}
			if errors.Is(err, table.ErrStale) {
				err = nil
			}
			return err
		}))
	}
	return g.Wait()
}

// until returns when no further removal is begun of the records that were just found.
func (r *run) until() time.Time {
	if soon := time.Now().Add(least); soon.After(r.Until) {
		return soon
	}
	return r.Until
}

// begin returns an error when nothing more may be begun.
func begin(ctx context.Context, until time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if time.Now().After(until) {
		return ErrTime
	}
	return nil
}

// record returns the last change record of a record of some version. It is published as
// nothing: clients were told of the deletion.
func (r *run) record(ctx context.Context, kind, id string, version int64) change.Record {
	return change.New(ctx, change.Record{
		At: wire.At(r.now), Org: r.org, Event: r.event, Action: kind + "." + Purged, Type: kind, RecordID: id, Version: version + 1,
	})
}
