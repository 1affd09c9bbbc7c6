// Package purge removes for good the records that were deleted more than 30 days ago:
// sessions, contacts and accounts without any role, settings, and small records (decision
// 19). It also removes uploads that have ended, with their bytes (decision 39). One transaction
// removes a record. The transaction is conditional on the versions that were read, so that an
// earlier restore wins. Sums of shards and settings versions stay exact.
//
// Read purge.go, then sessions.go, transcripts.go, uploads.go, parties.go, settings.go, records.go.
package purge

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/account"
	"lectern/shared/blob"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/resource"
	"lectern/shared/settings/item"
	"lectern/shared/table"
	"lectern/shared/wire"
)

const (
	// quiet is longer than a request takes. Roles are purged from an event only if no
	// session was written for this time: a request may copy a session that the request read
	// before.
	quiet = 2 * time.Minute
	// atOnce is the number of records that are purged in parallel.
	atOnce = 8
	// least is the minimum time for purging after the search for records, so that a call
	// makes progress however long the search took.
	least = 5 * time.Second
	// Purged is the last word of the action in a purge's change record.
	Purged = "purged"

	lastKey = "~"
)

// ErrTime reports that Store.Until has come and work is left.
var ErrTime = errors.New("purge: no time is left")

// Counts are the numbers of purged records. Shrunk is the number of deleted settings that
// lost content, left in the settings by an earlier release.
type Counts struct {
	Sessions int64 `json:"sessions"`
	Contacts int64 `json:"contacts"`
	Accounts int64 `json:"accounts"`
	Settings int64 `json:"settings"`
	Records  int64 `json:"records"`
	Shrunk   int64 `json:"shrunk_settings"`
	// Uploads counts the uploads that ended or were of purged sessions.
	Uploads int64 `json:"uploads"`
}

// Store purges one region's table.
type Store struct {
	Table *table.Table
	// Blobs has the bytes of uploads.
	Blobs *blob.Store
	// Now gives the time for the age of a deletion.
	Now func() time.Time
	// Until is the time after which no further removal begins, except in the first seconds
	// after a search (least).
	Until time.Time
	// Counts receives the numbers of the purge.
	Counts *Counts
}

// run is the purge of one event, or of an organization's settings if event is 0.
type run struct {
	Store
	org, event int64
	// now is the time of the run. Deletions earlier than before are purged.
	now, before time.Time
}

func (s Store) run(org, event int64) *run {
	now := s.Now()
	return &run{Store: s, org: org, event: event, now: now, before: now.Add(-resource.Keep)}
}

// Settings purges the settings of an event, or of an organization if event is 0.
func (s Store) Settings(ctx context.Context, org, event int64) error {
	return s.run(org, event).settings(ctx, item.Place{Org: org, Event: event})
}

// Records purges the small records of an event, or of an organization where event is 0.
func (s Store) Records(ctx context.Context, org, event int64) error {
	return s.run(org, event).records(ctx)
}

// Sessions purges the sessions of an event.
func (s Store) Sessions(ctx context.Context, org, event int64) error {
	return s.run(org, event).sessions(ctx)
}

// Uploads removes the uploads of an event that ended, or whose session was purged, with their bytes.
func (s Store) Uploads(ctx context.Context, org, event int64) error {
	return s.run(org, event).uploads(ctx)
}

// Contacts purges the contacts of an event, each from all of its events together.
func (s Store) Contacts(ctx context.Context, org, event int64) error {
	return s.run(org, event).parties(ctx, contact.Kind, &s.Counts.Contacts)
}

// Accounts purges the accounts of an event, each from all of its events together.
func (s Store) Accounts(ctx context.Context, org, event int64) error {
	return s.run(org, event).parties(ctx, account.Kind, &s.Counts.Accounts)
}

// old reports whether a deletion is too old for a restore.
func (r *run) old(deleted *wire.Time) bool { return deleted != nil && deleted.Before(r.before) }

// each purges records in parallel and counts the purged records. A record that was written
// meanwhile stays.
func (r *run) each(ctx context.Context, ids []string, count *int64, purge func(context.Context, string) (bool, error)) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	until := r.until()
	var late error
	for _, id := range ids {
		if late = begin(ctx, until); late != nil {
			break // The removals that were begun are finished.
		}
		g.Go(table.Safely(func() error {
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
	return cmp.Or(g.Wait(), late)
}

// until returns the time after which no further removal begins of the records just found.
func (r *run) until() time.Time {
	if soon := time.Now().Add(least); soon.After(r.Until) {
		return soon
	}
	return r.Until
}

// begin returns an error if no further removal may begin.
func begin(ctx context.Context, until time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if time.Now().After(until) {
		return ErrTime
	}
	return nil
}

// record returns the last change record of a record, with the version after the given
// version. The change record is published as nothing: clients were told of the deletion.
func (r *run) record(ctx context.Context, kind, id string, version int64) change.Record {
	return change.New(ctx, change.Record{
		At: wire.At(r.Now()), Org: r.org, Event: r.event, Action: kind + "." + Purged, Type: kind, RecordID: id, Version: version + 1,
	})
}
