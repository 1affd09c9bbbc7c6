// Package maintain keeps the table of a region in order. It purges records that were
// deleted more than 30 days ago, removes the deliveries of deleted webhook endpoints, deletes
// data requests that ended long ago and sends those again that wait, and
// writes the items and numbers that earlier releases did not write (decision 19). It goes
// through the organizations step by step. Each step may be repeated, and may run while the
// service is in use.
//
// Read maintain.go, then requests.go, progress.go.
package maintain

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"lectern/shared/account"
	"lectern/shared/blob"
	"lectern/shared/bus"
	"lectern/shared/catalogue"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/delivery"
	"lectern/shared/programme"
	"lectern/shared/purge"
	"lectern/shared/resource"
	"lectern/shared/session"
	"lectern/shared/session/store"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/webhook"
)

// Cursor is the point from which a call continues. The zero Cursor is the beginning.
type Cursor struct {
	// Adopt is the highest id that was checked for organizations missing from the region's
	// list. Adopted is set when all ids are checked.
	Adopt   int64 `json:"adopt,omitempty"`
	Adopted bool  `json:"adopted,omitempty"`
	// OrgID is the organization in work, or 0. Step is the next step of the organization.
	OrgID int64 `json:"org_id,omitempty"`
	Step  int   `json:"step,omitempty" minimum:"0"`
	// Event and After are the progress within a step.
	Event int64  `json:"event,omitempty"`
	After string `json:"after,omitempty"`
	// Uncounted reports whether rows of the organization in work could not be counted.
	Uncounted bool `json:"uncounted,omitempty"`
	// FillAgain repeats the writing of the items of people and hours, and the counting of
	// rows. This is due after an older release has run again.
	FillAgain bool `json:"fill_again,omitempty"`
}

// Input is the point from which a call begins. Without a cursor, the call continues the
// region's own progress, which begins anew 20 hours after its last beginning.
type Input struct {
	Cursor *Cursor `json:"cursor,omitempty"`
}

// Report is the result of a call.
type Report struct {
	// Listed counts the organizations that were missing from the region's list,
	// Organizations the finished organizations, Hours the missing items of hours, Failed
	// the failed steps.
	Listed        int `json:"listed"`
	Organizations int `json:"organizations"`
	Hours         int `json:"hours"`
	Failed        int `json:"failed"`
	// Requests counts the deleted data requests, and Resent the open ones that were sent again.
	Requests int `json:"requests"`
	Resent   int `json:"resent"`
	// Purged counts the removed records.
	Purged purge.Counts `json:"purged"`
	// Cursor is the point from which to continue; null when everything is done.
	Cursor *Cursor `json:"cursor"`
}

// Store maintains one region.
type Store struct {
	Tenancy tenancy.Store
	// Blobs has the bytes of uploads.
	Blobs *blob.Store
	// Time is the approximate duration of a call.
	Time time.Duration
	// Publish puts messages on the bus.
	Publish func(ctx context.Context, messages []bus.Message) error
}

// run is one call.
type run struct {
	tenancy.Store
	Cursor
	report  *Report
	until   time.Time
	publish func(ctx context.Context, messages []bus.Message) error
	blobs   *blob.Store
	// events are the ids of the events of the organization eventsOf.
	events   []int64
	eventsOf int64
	// following yields the organizations after the organization in work. steps sets it.
	following func() (id int64, err error, more bool)
}

func (s Store) run(c Cursor, until time.Time) *run {
	return &run{Store: s.Tenancy, Cursor: c, report: &Report{}, until: until, publish: s.Publish, blobs: s.Blobs}
}

// steps does step after step until the time is over or everything is done. It calls done
// after each step except the last of the call.
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

// next does one step. It returns false when no step is left.
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
		r.advance()
	}
	return true, nil
}

// advance moves on to the next step of the organization in work.
func (r *run) advance() { r.Step, r.Event, r.After = r.Step+1, 0, "" }

// leave skips the step in work until the next time. Before the first organization, that is
// the search for organizations missing from the list.
func (r *run) leave(ctx context.Context, err error) {
	r.fail(ctx, err)
	switch {
	case !r.Adopted:
		r.Adopted = true
	case r.Step > 0:
		r.advance()
	}
}

// fail counts and logs a failed step. The step is skipped until the next time, so that one
// organization does not keep the others waiting.
func (r *run) fail(ctx context.Context, err error) {
	r.report.Failed++
	if r.Table.Log != nil {
		r.Table.Log.ErrorContext(ctx, "a step of maintain failed", "metric", "maintain_failed",
			"org_id", r.OrgID, "step", r.Step, "error", err)
	}
}

// enter moves on to the next organization.
func (r *run) enter(ctx context.Context) (more bool, err error) {
	id, err, more := r.following()
	if !more || err != nil {
		return false, err
	}
	r.OrgID, r.Step = id, 1
	if !r.FillAgain {
		return true, nil
	}
	err = r.update(ctx, clearMarks)
	if err != nil && ctx.Err() == nil { // The list may name an organization that does not exist.
		r.fail(ctx, err)
		r.Step = 0
	}
	return true, ctx.Err()
}

// eventIDs returns the events of the organization in work, in order of creation. A call
// reads the events of an organization once.
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

// ofOrganization returns the steps of the organization in work. The steps of an added event
// come last, so that the earlier steps keep their numbers.
func (r *run) ofOrganization(ctx context.Context) ([]func(context.Context) (bool, error), error) {
	events, err := r.eventIDs(ctx)
	if err != nil {
		return nil, err
	}
	steps := []func(context.Context) (bool, error){
		r.people, r.rows, r.hours, r.deliveries, r.purge(purge.Store.Settings, 0), r.purge(purge.Store.Records, 0), r.requests,
	}
	for _, event := range events {
		for _, part := range purgeParts {
			steps = append(steps, r.purge(part, event))
		}
	}
	return steps, nil
}

// purgePart purges one kind of record of an event.
type purgePart func(s purge.Store, ctx context.Context, org, event int64) error

// purgeParts are the parts of the purge of an event, in their order.
var purgeParts = []purgePart{
	purge.Store.Sessions, purge.Store.Contacts, purge.Store.Accounts, purge.Store.Settings, purge.Store.Records,
	purge.Store.Uploads,
}

// purge returns the step that does one part of the purge of an event, or of the
// organization if event is 0.
func (r *run) purge(part purgePart, event int64) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		s := purge.Store{Table: r.Table, Blobs: r.blobs, Now: r.Now, Until: r.until, Counts: &r.report.Purged}
		return true, part(s, ctx, r.OrgID, event)
	}
}

// people writes the missing items of the people on sessions.
func (r *run) people(ctx context.Context) (done bool, err error) {
	o, err := tenancy.Organizations.Get(ctx, r.Store, table.Org(r.OrgID))
	if err != nil || o.PersonItems && !r.FillAgain {
		return true, err
	}
	next, done, err := store.Backfill(ctx, r.Store, r.OrgID, store.Cursor{Event: r.Event, After: r.After})
	r.Event, r.After = next.Event, next.After
	return done, err
}

// rows counts the rows of the organization, then the rows of one event after the other.
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
		sources = append(sources, session.Of(r.OrgID, r.Event).Rows())
	}
	for _, src := range sources {
		err := catalogue.Recount(ctx, r.Table, src)
		if ctx.Err() != nil {
			return false, err
		}
		if err != nil { // A torn shard does not keep the others from being counted.
			r.fail(ctx, err)
			r.Uncounted = true
		}
	}
	if next := slices.Index(events, r.Event) + 1; next < len(events) { // Event 0 has the index -1: the first event is next.
		r.Event = events[next]
		return false, nil
	}
	if r.Uncounted {
		r.Uncounted = false
		return true, nil
	}
	return true, r.update(ctx, markRows)
}

// deliveries removes what is kept of the deleted webhook endpoints, one endpoint after the other.
// Deliveries expire after 30 days anyway; a deleted endpoint needs none that long.
func (r *run) deliveries(ctx context.Context) (done bool, err error) {
	first := resource.Owner{Org: r.OrgID}.DeletedKey(webhook.Kind, r.After)
	last := resource.Owner{Org: r.OrgID}.DeletedKey(webhook.Kind, "~")
	found, _, _, err := r.Table.Some(ctx, first.PK, first.SK, last.SK, 1)
	if err != nil || len(found) == 0 {
		return true, err
	}
	_, id, _ := resource.KindOf(found[0].Key)
	r.After = id + " " // No id continues with a space.
	return false, delivery.Store{Table: r.Table, Now: r.Now}.Forget(ctx, r.OrgID, id)
}

// hours writes the missing items of the hours of change records, day by day.
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
	return true, r.update(ctx, markHours)
}

// update changes the marks of finished steps on the organization in work.
func (r *run) update(ctx context.Context, edit func(*tenancy.Organization) error) error {
	_, err := tenancy.Organizations.Update(ctx, r.Store, table.Org(r.OrgID), edit)
	return err
}

func clearMarks(o *tenancy.Organization) error {
	o.PersonItems, o.RowsCounted, o.HourItems = false, false, false
	return nil
}

func markRows(o *tenancy.Organization) error {
	o.RowsCounted = true
	return nil
}

func markHours(o *tenancy.Organization) error {
	o.HourItems = true
	return nil
}
