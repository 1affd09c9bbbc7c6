package participation

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/person"
	"lectern/shared/session"
	"lectern/shared/table"
)

const (
	// maxTries is how often a contact's sessions are read that are written meanwhile, and
	// then taken as their bodies say.
	maxTries = 5
	// maxChunk is how many sessions are read at once at most.
	maxChunk = 500
	// maxPause is the longest pause before they are read again.
	maxPause = 20 * time.Millisecond
	// maxEvents is how many events are read at a time.
	maxEvents = 8
)

// visit is a session on which a contact has a role.
type visit struct {
	event int64
	*session.Body
}

// walk goes through the sessions of a contact.
type walk struct {
	st      *Store
	caller  *auth.Caller
	contact string
	// items reads which sessions these may be, in order.
	items func(context.Context) ([]person.Item, error)
	// keeps reports whether a session counts; nil counts all.
	keeps func(visit) bool
	// skip is how many sessions are passed over, and most how many are asked for.
	skip, most int
}

// all is more sessions than a contact has.
const all = 1 << 30

// follow returns what show makes of the sessions, chunk by chunk, until there are enough.
// Items and bodies are read one after the other. Where they disagree the items are read
// again. If these are the same, the contact was given no role meanwhile, and the bodies
// are right: an item was left behind. Otherwise the bodies are read again too, so that a
// contact who moves from one session to another is not missed on both. So are sessions that
// were read as deleted: they are read again, since one may have been restored before another
// was deleted, and then the items, since the contact may have joined a session before.
func follow[T any](ctx context.Context, w walk, show func([]visit) ([]T, error)) (shown []T, err error) {
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
		if shown, deleted, current, err = once(ctx, w, items, show); err != nil {
			return nil, err
		}
		same, err := w.same(ctx, deleted)
		switch {
		case err != nil, current:
			return shown, err
		case same:
			before, ctx = items, catalogue.Again(ctx)
		default:
			before, ctx = nil, catalogue.Again(ctx)
		}
	}
	return shown, nil
}

// once is follow by one read of the bodies. It returns the deleted sessions too, and whether
// there are none and the bodies agree with the items.
func once[T any](
	ctx context.Context, w walk, items []person.Item, show func([]visit) ([]T, error),
) (shown []T, deleted []visit, current bool, err error) {
	size, current := min(w.skip+w.most, maxChunk), true
	for len(items) > 0 && len(shown) < w.most {
		chunk := items[:min(size, len(items))]
		items, size = items[len(chunk):], min(2*size, maxChunk)
		visits, gone, agree, err := w.visits(ctx, chunk)
		if err != nil {
			return nil, nil, false, err
		}
		deleted, current = append(deleted, gone...), current && agree
		passed := min(w.skip, len(visits))
		w.skip -= passed
		visits = visits[passed:]
		more, err := show(visits[:min(len(visits), w.most-len(shown))])
		if err != nil {
			return nil, nil, false, err
		}
		shown = append(shown, more...)
	}
	return shown, deleted, current && len(deleted) == 0, nil
}

// visits reads the sessions of items that count, those of them that are deleted, and
// whether they agree with their items.
func (w walk) visits(ctx context.Context, items []person.Item) (live, deleted []visit, agree bool, err error) {
	bodies, agree, err := w.st.Sessions.Named(ctx, w.caller.Org.ID, w.contact, items)
	for i, b := range bodies {
		switch v := (visit{items[i].Event, b}); {
		case b == nil, w.keeps != nil && !w.keeps(v):
		case b.DeletedAt != nil:
			deleted = append(deleted, v)
		default:
			live = append(live, v)
		}
	}
	return live, deleted, agree, err
}

// same reports whether deleted sessions are as they were read: all of them were deleted
// when the last of the others was read.
func (w walk) same(ctx context.Context, deleted []visit) (bool, error) {
	items := make([]person.Item, len(deleted))
	for i, v := range deleted {
		items[i] = person.Item{Event: v.event, Session: v.ID}
	}
	now, _, err := w.st.Sessions.Named(ctx, w.caller.Org.ID, w.contact, items)
	for i, b := range now {
		if b == nil || b.Version != deleted[i].Version {
			return false, err
		}
	}
	return true, err
}

// onEvent reads the items of a contact on the caller's event.
func (st *Store) onEvent(c *auth.Caller, id string) func(context.Context) ([]person.Item, error) {
	return func(ctx context.Context) ([]person.Item, error) {
		if !c.Org.PersonItems {
			return st.Sessions.ItemsByRows(ctx, c, id)
		}
		return person.OnEvent(ctx, st.Sessions.Table, c.Org.ID, c.Event.ID, id)
	}
}

// onEvents reads the items of a contact on the events of callers, which are in the order
// of their ids.
func (st *Store) onEvents(callers []*auth.Caller, id string) func(context.Context) ([]person.Item, error) {
	return func(ctx context.Context) ([]person.Item, error) {
		if len(callers) == 0 {
			return nil, nil
		}
		if !callers[0].Org.PersonItems {
			return st.byRows(ctx, callers, id)
		}
		items, err := person.Anywhere(ctx, st.Sessions.Table, callers[0].Org.ID, id)
		return slices.DeleteFunc(items, func(i person.Item) bool { return callerOf(callers, i.Event) == nil }), err
	}
}

func (st *Store) byRows(ctx context.Context, callers []*auth.Caller, id string) ([]person.Item, error) {
	found := make([][]person.Item, len(callers))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxEvents)
	for i, c := range callers {
		g.Go(table.Safely(func() (err error) {
			found[i], err = st.Sessions.ItemsByRows(ctx, c, id)
			return err
		}))
	}
	err := g.Wait()
	return slices.Concat(found...), err
}

// callerOf returns the caller of an event, nil if there is none.
func callerOf(callers []*auth.Caller, event int64) *auth.Caller {
	at := slices.IndexFunc(callers, func(c *auth.Caller) bool { return c.Event.ID == event })
	if at < 0 {
		return nil
	}
	return callers[at]
}
