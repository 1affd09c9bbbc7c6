package party

import (
	"cmp"
	"context"
	"strings"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/search"
	"lectern/shared/table"
)

// SearchOrganization gives one page of the organization's parties, on whatever
// events they are, and how many there are. A caller that is limited to events
// sees those that hold the role on one of them.
func (st *Store) SearchOrganization(ctx context.Context, c *auth.Caller, q Query) (parties []Party, total int, err error) {
	among, err := st.visible(ctx, c, q.Role)
	if err != nil {
		return nil, 0, err
	}
	words := strings.ToLower(q.Text)
	bodies, total, err := st.Memory.Records.Search(ctx, st.Kind.Rows(c.Org.ID, 0), func(_ *catalogue.View[Row], r *Row) bool {
		return (among == nil || among[r.ID]) && q.Keeps(r.Created, r.Written) && st.Kind.mentions(r, words)
	}, search.Order(q.Sort, rowTime, func(a, b *Row) int { return cmp.Compare(a.ID, b.ID) }), q.Page.Offset(), q.Page.PageSize)
	parties = make([]Party, len(bodies))
	for i, b := range bodies {
		parties[i].Body = b
	}
	return parties, total, err
}

func rowTime(name string) func(*Row) (int64, bool) {
	if name == updatedAt {
		return func(r *Row) (int64, bool) { return r.Written, true }
	}
	return func(r *Row) (int64, bool) { return r.Created, true }
}

// visible are the ids of those that hold the role on one of the events that the
// caller is limited to; nil for a caller that is not.
func (st *Store) visible(ctx context.Context, c *auth.Caller, role string) (map[string]bool, error) {
	events, limited := c.Events()
	if !limited {
		return nil, nil
	}
	views := make([]*catalogue.View[Place], len(events))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(eventsAtOnce)
	for i, event := range events {
		g.Go(table.Safely(func() (err error) {
			views[i], err = st.Memory.Associations.View(ctx, st.Kind.Rows(c.Org.ID, event))
			return err
		}))
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	among := map[string]bool{}
	for _, view := range views {
		for _, place := range view.All() {
			if place.holds(role) {
				among[place.ID] = true
			}
		}
	}
	return among, nil
}

// eventsAtOnce is how many events are read at a time.
const eventsAtOnce = 16

// Events are those on which a party holds a role, as far as the caller sees them.
func (st *Store) Events(ctx context.Context, c *auth.Caller, id, role string) (events []int64, err error) {
	for item, err := range st.Table.Between(ctx, st.Kind.PK(c.Org.ID, id), "E#", "E#~") {
		if err != nil {
			return nil, err
		}
		a, err := DecodeAssociation(item)
		if err != nil {
			return nil, err
		}
		if (Party{Here: a}).Holds(role) && c.SeesEvent(a.Event) {
			events = append(events, a.Event)
		}
	}
	return events, nil
}

// Sees is whether the caller may know of a party on the organization's level: it
// holds the role on one of the events that the caller is limited to, if it is.
func (st *Store) Sees(ctx context.Context, c *auth.Caller, id, role string) (bool, error) {
	if _, limited := c.Events(); !limited {
		return true, nil
	}
	events, err := st.Events(ctx, c, id, role)
	return len(events) > 0, err
}

// OfOrganization reads a party on the organization's level; 404 where there is none
// of that id, or none that the caller may know of.
func (st *Store) OfOrganization(ctx context.Context, c *auth.Caller, id, role string) (Party, error) {
	p, err := st.Find(ctx, c, id)
	if err != nil {
		return p, err
	}
	seen := p.Body != nil
	if seen {
		seen, err = st.Sees(ctx, c, id, role)
	}
	if err == nil && !seen {
		err = NotFound(role)
	}
	return p, err
}
