package participation

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/numbering"
	"lectern/shared/participant"
	"lectern/shared/person"
	"lectern/shared/session"
	"lectern/shared/table"
)

const (
	// maxTries limits the reads of sessions that other requests write meanwhile; then the
	// bodies decide.
	maxTries = 5
	// maxChunk is the largest number of sessions in one read.
	maxChunk = 500
	// maxPause is the longest pause before another read.
	maxPause = 20 * time.Millisecond
	// maxParallel is the largest number of tasks at a time.
	maxParallel = 8
)

// parallel runs tasks and returns the first error. An error cancels the context of the
// other tasks.
func parallel(ctx context.Context, tasks ...func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxParallel)
	for _, task := range tasks {
		g.Go(table.Safely(func() error { return task(ctx) }))
	}
	return g.Wait()
}

// visit is a session on which a contact has a role.
type visit struct {
	event int64
	*session.Body
}

// reader reads the sessions of a contact.
type reader struct {
	store   *Store
	caller  *auth.Caller
	contact string
	// callers has the caller on each event to read, sorted by event.
	callers []*auth.Caller
	// asSpeaker, if set, has the event's roles: only sessions with the contact as a speaker
	// count.
	asSpeaker *participant.Roles
}

// onEvent returns the reader of a contact's sessions on the caller's event.
func (st *Store) onEvent(c *auth.Caller, contact string) reader {
	return reader{store: st, caller: c, contact: contact, callers: []*auth.Caller{c}}
}

// callerOn returns the caller on an event; nil for an event that is not read.
func (r reader) callerOn(event int64) *auth.Caller {
	for _, c := range r.callers {
		if c.Event.ID == event {
			return c
		}
	}
	return nil
}

// items reads the items of the sessions that may count, sorted by event.
func (r reader) items(ctx context.Context) (items []person.Item, err error) {
	org, t := r.caller.Org, r.store.Sessions.Table
	switch {
	case len(r.callers) == 0:
	case !org.PersonItems:
		items, err = r.byRows(ctx)
	case r.caller.Event != nil:
		items, err = person.OnEvent(ctx, t, org.ID, r.caller.Event.ID, r.contact)
	default:
		items, err = person.Anywhere(ctx, t, org.ID, r.contact)
	}
	return slices.DeleteFunc(items, r.drops), err
}

// drops reports whether the session of an item cannot count.
func (r reader) drops(i person.Item) bool {
	return r.callerOn(i.Event) == nil || len(i.Roles) > 0 && !r.counts(i.Roles)
}

// counts reports whether a session counts on which the contact has the roles of ids.
func (r reader) counts(ids []string) bool {
	if r.asSpeaker == nil {
		return true
	}
	for _, id := range ids {
		if role, known := r.asSpeaker.Standing(id); known && role.IsSpeaker() {
			return true
		}
	}
	return false
}

// byRows returns the items of the contact from the rows of all events to read.
func (r reader) byRows(ctx context.Context) (all []person.Item, err error) {
	events := make([]eventItems, len(r.callers))
	tasks := make([]func(context.Context) error, len(events))
	for i, c := range r.callers {
		events[i] = eventItems{reader: r, on: c}
		tasks[i] = events[i].read
	}
	err = parallel(ctx, tasks...)
	for _, event := range events {
		all = append(all, event.found...)
	}
	return all, err
}

// eventItems are the items of a contact on one event.
type eventItems struct {
	reader
	on    *auth.Caller
	found []person.Item
}

func (e *eventItems) read(ctx context.Context) (err error) {
	e.found, err = e.store.Sessions.ItemsByRows(ctx, e.on, e.contact)
	return err
}

// visits reads the sessions of items that count. It returns the deleted sessions apart, and
// whether the bodies agree with their items.
func (r reader) visits(ctx context.Context, items []person.Item) (live, deleted []visit, agree bool, err error) {
	bodies, agree, err := r.store.Sessions.Named(ctx, r.caller.Org.ID, r.contact, items)
	for i, b := range bodies {
		switch {
		case b == nil, r.asSpeaker != nil && !r.counts(b.Roles()[r.contact]):
		case b.DeletedAt != nil:
			deleted = append(deleted, visit{items[i].Event, b})
		default:
			live = append(live, visit{items[i].Event, b})
		}
	}
	return live, deleted, agree, err
}

// same reports whether deleted sessions are unchanged since their read: then all of them
// were deleted at the time of the last read.
func (r reader) same(ctx context.Context, deleted []visit) (bool, error) {
	items := make([]person.Item, len(deleted))
	for i, v := range deleted {
		items[i] = person.Item{Event: v.event, Session: v.ID}
	}
	now, _, err := r.store.Sessions.Named(ctx, r.caller.Org.ID, r.contact, items)
	for i, b := range now {
		if b == nil || b.Version != deleted[i].Version {
			return false, err
		}
	}
	return true, err
}

// renderer renders sessions as Ts, in their order.
type renderer[T any] interface {
	render(ctx context.Context, visits []visit) ([]T, error)
}

// walk reads the sessions of a contact and renders them, chunk by chunk.
type walk[T any] struct {
	reader
	renderer renderer[T]
	// skip is the number of sessions to pass over, most the number of sessions to return.
	skip, most int
}

// run renders the sessions until there are enough, and returns the results. It reads first
// the items and then the bodies. If they disagree, run reads the items again. If the items
// are the same, the contact was given no role meanwhile, and the bodies are right: an item
// was left behind. Otherwise run reads the bodies again too, so that a contact that moves
// from a session to another is not missed on both. Sessions that were read as deleted are
// read again too, since a session may have been restored before another was deleted, and
// then the items, since the contact may have joined a session before.
func (w walk[T]) run(ctx context.Context) (shown []T, err error) {
	var before []person.Item
	for try := range maxTries {
		if try > 1 {
			if err := table.Pause(ctx, maxPause); err != nil {
				return nil, err
			}
		}
		items, err := w.items(ctx)
		if err != nil || before != nil && slices.EqualFunc(before, items, person.Item.Equal) {
			return shown, err
		}
		var deleted []visit
		var current bool
		if shown, deleted, current, err = w.once(ctx, items); err != nil {
			return nil, err
		}
		same, err := w.same(ctx, deleted)
		switch {
		case err != nil, current:
			return shown, err
		case same:
			before, ctx = items, catalogue.RenewVersions(ctx)
		default:
			before, ctx = nil, catalogue.RenewVersions(ctx)
		}
	}
	return shown, nil
}

// once does run with a single read of the bodies. It returns the deleted sessions too, and
// whether there are none and the bodies agree with the items.
func (w walk[T]) once(ctx context.Context, items []person.Item) (shown []T, deleted []visit, current bool, err error) {
	skip, size, current := w.skip, min(w.skip+w.most, maxChunk), true
	for len(items) > 0 && len(shown) < w.most {
		chunk := items[:min(size, len(items))]
		items, size = items[len(chunk):], min(2*size, maxChunk)
		visits, gone, agree, err := w.visits(ctx, chunk)
		if err != nil {
			return nil, nil, false, err
		}
		deleted, current = append(deleted, gone...), current && agree
		passed := min(skip, len(visits))
		skip -= passed
		visits = visits[passed:]
		more, err := w.renderer.render(ctx, visits[:min(len(visits), w.most-len(shown))])
		if err != nil {
			return nil, nil, false, err
		}
		shown = append(shown, more...)
	}
	return shown, deleted, current && len(deleted) == 0, nil
}

// all is more sessions than a contact has.
const all = 1 << 30

// rows returns the rows of the contact's first sessions, with an index of their own.
func (r reader) rows(ctx context.Context, most int) ([]*session.Row, error) {
	to := rowRenderer{session.NewIndex(&numbering.Numbers{})}
	return walk[*session.Row]{reader: r, renderer: to, most: most}.run(ctx)
}

// rowRenderer makes the rows of sessions.
type rowRenderer struct{ index *session.Index }

func (r rowRenderer) render(_ context.Context, visits []visit) ([]*session.Row, error) {
	rows := make([]*session.Row, len(visits))
	for i, v := range visits {
		rows[i] = v.Row(r.index)
	}
	return rows, nil
}
