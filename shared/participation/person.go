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
// contact who moves from one session to another is not missed on both.
func follow[T any](ctx context.Context, w walk, show func([]visit) ([]T, error)) (shown []T, err error) {
	var before []person.Item
	for try := range maxTries {
		if try > 1 {
			if err := table.Pause(ctx, maxPause); err != nil {
				return nil, err
			}
		}
		items, err := w.items(ctx)
		if err != nil || try > 0 && slices.EqualFunc(before, items, person.Item.Equal) {
			return shown, err
		}
		var current bool
		if shown, current, err = once(ctx, w, items, show); err != nil || current {
			return shown, err
		}
		before, ctx = items, catalogue.Again(ctx)
	}
	return shown, nil
}

// once is follow by one read of the bodies.
func once[T any](ctx context.Context, w walk, items []person.Item, show func([]visit) ([]T, error)) (shown []T, current bool, err error) {
	size, current := min(w.skip+w.most, maxChunk), true
	for len(items) > 0 && len(shown) < w.most {
		chunk := items[:min(size, len(items))]
		items, size = items[len(chunk):], min(2*size, maxChunk)
		visits, agree, failed := w.visits(ctx, chunk)
		if failed != nil {
			return nil, false, failed
		}
		current = current && agree
		passed := min(w.skip, len(visits))
		w.skip -= passed
		visits = visits[passed:]
		more, failed := show(visits[:min(len(visits), w.most-len(shown))])
		if failed != nil {
			return nil, false, failed
		}
		shown = append(shown, more...)
	}
	return shown, current, nil
}

// visits reads the sessions of items that count, and whether they agree with their items.
func (w walk) visits(ctx context.Context, items []person.Item) (visits []visit, agree bool, err error) {
	bodies, agree, err := w.st.Sessions.Named(ctx, w.caller.Org.ID, w.contact, items)
	for i, b := range bodies {
		if v := (visit{items[i].Event, b}); b != nil && (w.keeps == nil || w.keeps(v)) {
			visits = append(visits, v)
		}
	}
	return visits, agree, err
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
