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
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/account"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/party"
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
	// Until is when no further removal is begun.
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
	// named are the roles that sessions have; changing reports whether they may gain one.
	named    map[string]bool
	changing bool
}

func (s Store) run(org, event int64) *run {
	now := s.Now()
	return &run{Store: s, org: org, event: event, now: now, before: now.Add(-Keep), named: map[string]bool{}}
}

// Organization purges the settings of an organization.
func (s Store) Organization(ctx context.Context, org int64) error {
	return s.run(org, 0).settings(ctx, item.Place{Org: org})
}

// Event purges an event. Contacts and accounts go from all of their events together.
func (s Store) Event(ctx context.Context, org, event int64) error {
	r := s.run(org, event)
	if err := r.sessions(ctx); err != nil {
		return fmt.Errorf("purge: sessions: %w", err)
	}
	for kind, count := range map[*party.Kind]*int64{contact.Kind: &s.Counts.Contacts, account.Kind: &s.Counts.Accounts} {
		if err := r.parties(ctx, kind, count); err != nil {
			return fmt.Errorf("purge: %ss: %w", kind.Name, err)
		}
	}
	if err := r.settings(ctx, item.Place{Org: org, Event: event}); err != nil {
		return fmt.Errorf("purge: settings: %w", err)
	}
	return nil
}

// old reports whether a deletion is so long ago that it cannot be restored.
func (r *run) old(deleted *wire.Time) bool { return deleted != nil && deleted.Before(r.before) }

// each purges records in parallel and counts those that were purged. A record that was
// written meanwhile stays.
func (r *run) each(ctx context.Context, ids []string, count *int64, purge func(context.Context, string) (bool, error)) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, id := range ids {
		g.Go(table.Safely(func() error {
			if err := r.begin(ctx); err != nil {
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

// begin is an error when nothing more may be begun.
func (r *run) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if time.Now().After(r.Until) {
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
