// Package maintain keeps the table of a region in order: it purges what was deleted 30 days
// ago, and writes what releases before have not written (decision 19). It goes through the
// organizations step by step. Each step may be done again, and beside the service.
//
// Read maintain.go, then progress.go.
package maintain

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"lectern/shared/account"
	"lectern/shared/catalogue"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/programme"
	"lectern/shared/purge"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// Cursor is where to go on. The zero Cursor is the beginning.
type Cursor struct {
	// Adopt is up to which id organizations were looked for that the region's list lacks;
	// Adopted is set when all are found.
	Adopt   int64 `json:"adopt,omitempty"`
	Adopted bool  `json:"adopted,omitempty"`
	// OrgID is the organization that is in work, or 0, and Step its next step.
	OrgID int64 `json:"org_id,omitempty"`
	Step  int   `json:"step,omitempty" minimum:"0"`
	// Event and After are how far a step has come.
	Event int64  `json:"event,omitempty"`
	After string `json:"after,omitempty"`
	// FillAgain writes the items of people and hours, and the numbers of rows, anew, as is
	// due after an older release has run again.
	FillAgain bool `json:"fill_again,omitempty"`
}

// Input is where to begin. Without a cursor the region's own progress goes on, and begins
// anew once a day.
type Input struct {
	Cursor *Cursor `json:"cursor,omitempty"`
}

// Report is what was done.
type Report struct {
	// Listed are organizations that the region's list lacked, Organizations those that
	// are done, Hours items of hours that lacked, Failed the steps that failed.
	Listed        int `json:"listed"`
	Organizations int `json:"organizations"`
	Hours         int `json:"hours"`
	Failed        int `json:"failed"`
	// Purged counts what was removed.
	Purged purge.Counts `json:"purged"`
	// Cursor is where to go on; null when everything is done.
	Cursor *Cursor `json:"cursor"`
}

// Store maintains one region.
type Store struct {
	Tenancy tenancy.Store
	// Time is about how long a call takes.
	Time time.Duration
}

// run is one call.
type run struct {
	tenancy.Store
	Cursor
	report *Report
	until  time.Time
	// events are the ids of the events of the organization eventsOf.
	events   []int64
	eventsOf int64
	// following yields the organizations after the one in work; nil before it is asked.
	following func() (id int64, err error, more bool)
}

func (s Store) run(c Cursor, until time.Time) *run {
	return &run{Store: s.Tenancy, Cursor: c, report: &Report{}, until: until}
}

// steps does step after step until the time is over or everything is done, and calls done
// after each one.
func (r *run) steps(ctx context.Context, done func() error) error {
	next, stop := iter.Pull2(r.AllOrganizations(ctx, r.OrgID))
	defer stop()
	r.following = next
	for {
		more, err := r.next(ctx)
		if err != nil || !more {
			return err
		}
		if time.Now().After(r.until) {
			r.report.Cursor = &r.Cursor
			return nil
		}
		if err := done(); err != nil {
			return err
		}
	}
}

// next does one step. It returns false when there is none.
func (r *run) next(ctx context.Context) (more bool, err error) {
	if !r.Adopted {
		next, added, err := r.Store.Adopt(ctx, r.Cursor.Adopt)
		r.report.Listed += added
		r.Cursor.Adopt, r.Adopted = next, next == 0
		return true, err
	}
	if r.Step == 0 {
		return r.enter(ctx)
	}
	steps, err := r.ofOrganization(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.fail(ctx, err)
		}
		r.Step = 0
		return true, ctx.Err()
	}
	if r.Step > len(steps) {
		r.report.Organizations++
		r.Step = 0
		return true, nil
	}
	purged := r.report.Purged
	done, err := steps[r.Step-1](ctx)
	switch {
	case errors.Is(err, purge.ErrTime) && r.report.Purged != purged:
		return true, nil
	case ctx.Err() != nil:
		return false, err
	case err != nil:
		r.leave(ctx, err)
	case done:
		r.Step, r.Event, r.After = r.Step+1, 0, ""
	}
	return true, nil
}

// leave leaves out the step in work until the next time.
func (r *run) leave(ctx context.Context, err error) {
	r.fail(ctx, err)
	r.Step, r.Event, r.After = r.Step+1, 0, ""
}

// fail notes a step that failed, which is left out until the next time: one organization
// must not keep the others waiting.
func (r *run) fail(ctx context.Context, err error) {
	r.report.Failed++
	if r.Table.Log != nil {
		r.Table.Log.ErrorContext(ctx, "a step of maintain failed", "metric", "maintain_failed", "org_id", r.OrgID, "step", r.Step, "error", err)
	}
}

// enter goes to the next organization.
func (r *run) enter(ctx context.Context) (more bool, err error) {
	id, err, more := r.following()
	if !more || err != nil {
		return false, err
	}
	r.OrgID, r.Step = id, 1
	if !r.FillAgain {
		return true, nil
	}
	err = r.note(ctx, func(o *tenancy.Organization) { o.PersonItems, o.RowsCounted, o.HourItems = false, false, false })
	if err != nil && ctx.Err() == nil { // The list may name an organization that is not there.
		r.fail(ctx, err)
		r.Step = 0
	}
	return true, ctx.Err()
}

// eventIDs are those of the organization in work, read once a call, in the order of their
// creation.
func (r *run) eventIDs(ctx context.Context) ([]int64, error) {
	if r.eventsOf == r.OrgID {
		return r.events, nil
	}
	events, err := programme.Events.IDs(ctx, r.Store, r.OrgID)
	if err != nil {
		return nil, err
	}
	r.events, r.eventsOf = events, r.OrgID
	return events, nil
}

// ofOrganization returns the steps of the organization in work. An event that is added
// comes last, so that a step stays what it is.
func (r *run) ofOrganization(ctx context.Context) ([]func(context.Context) (bool, error), error) {
	events, err := r.eventIDs(ctx)
	if err != nil {
		return nil, err
	}
	steps := []func(context.Context) (bool, error){r.people, r.rows, r.hours, r.purge(purge.Store.Settings, 0)}
	for _, event := range events {
		for _, part := range []purgePart{purge.Store.Sessions, purge.Store.Contacts, purge.Store.Accounts, purge.Store.Settings} {
			steps = append(steps, r.purge(part, event))
		}
	}
	return steps, nil
}

// purgePart purges one kind of record of an event.
type purgePart func(s purge.Store, ctx context.Context, org, event int64) error

// purge returns the step that does one part of the purge of an event, or of the
// organization where event is 0.
func (r *run) purge(part purgePart, event int64) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		s := purge.Store{Table: r.Table, Now: r.Now, Until: r.until, Counts: &r.report.Purged}
		return true, part(s, ctx, r.OrgID, event)
	}
}

// people writes the items of people that sessions lack.
func (r *run) people(ctx context.Context) (done bool, err error) {
	o, err := tenancy.Organizations.Get(ctx, r.Store, table.Org(r.OrgID))
	if err != nil || o.PersonItems && !r.FillAgain {
		return true, err
	}
	next, done, err := session.Backfill(ctx, r.Store, r.OrgID, session.Cursor{Event: r.Event, After: r.After})
	r.Event, r.After = next.Event, next.After
	return done, err
}

// rows counts the rows of the organization, then those of one event after the other.
func (r *run) rows(ctx context.Context) (done bool, err error) {
	o, err := tenancy.Organizations.Get(ctx, r.Store, table.Org(r.OrgID))
	if err != nil || o.RowsCounted && !r.FillAgain {
		return true, err
	}
	events, err := r.eventIDs(ctx)
	if err != nil {
		return false, err
	}
	sources := []catalogue.Source{contact.Kind.Rows(r.OrgID, r.Event), account.Kind.Rows(r.OrgID, r.Event)}
	if r.Event != 0 {
		sources = append(sources, session.Rows(r.OrgID, r.Event))
	}
	for _, src := range sources {
		if err := catalogue.Recount(ctx, r.Table, src); err != nil {
			return false, err
		}
	}
	if next := slices.Index(events, r.Event) + 1; next < len(events) { // 0 is no event.
		r.Event = events[next]
		return false, nil
	}
	return true, r.note(ctx, func(o *tenancy.Organization) { o.RowsCounted = true })
}

// hours writes items of hours that change records lack, day by day.
func (r *run) hours(ctx context.Context) (done bool, err error) {
	o, err := tenancy.Organizations.Get(ctx, r.Store, table.Org(r.OrgID))
	if err != nil || o.HourItems && !r.FillAgain {
		return true, err
	}
	at := o.CreatedAt.Time
	if r.After != "" {
		if at, err = time.Parse(time.RFC3339, r.After); err != nil {
			return false, fmt.Errorf("maintain: the cursor names no time: %w", err)
		}
	}
	filled, err := change.FillHours(ctx, r.Table, r.OrgID, at)
	r.report.Hours += filled
	if err != nil {
		return false, err
	}
	if at = at.Add(24 * time.Hour); at.Before(r.Now().Add(time.Hour)) {
		r.After = at.Format(time.RFC3339)
		return false, nil
	}
	return true, r.note(ctx, func(o *tenancy.Organization) { o.HourItems = true })
}

// note changes what the organization in work says of its items.
func (r *run) note(ctx context.Context, edit func(*tenancy.Organization)) error {
	_, err := tenancy.Organizations.Update(ctx, r.Store, table.Org(r.OrgID), func(o *tenancy.Organization) error {
		edit(o)
		return nil
	})
	return err
}
