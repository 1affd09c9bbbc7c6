package party

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/page"
	"lectern/shared/search"
	"lectern/shared/table"
)

// Filter is what a search of parties filters by.
type Filter struct {
	Text string `json:"search,omitempty" maxLength:"255" doc:"Text in name, e-mail address or company, whatever the case; of sponsors and exhibitors in name or friendly id."`
	search.Times
}

// Query is one search.
type Query struct {
	// Role is the role that the party must hold on the caller's event.
	Role string
	Filter
	// Among gives the ids of those who may be found. It is asked while the rows are
	// read, so that what it reads costs no time of its own; nil leaves out nobody.
	Among func(context.Context) (map[string]bool, error)
	Sort  []search.Key
	Page  page.Query
}

// Search gives one page of the parties that hold a role on the caller's event, and
// how many there are.
func (st *Store) Search(ctx context.Context, c *auth.Caller, q Query) (parties []Party, total int, err error) {
	v, among, err := st.open(ctx, c, q)
	if err != nil {
		return nil, 0, err
	}
	records, places := st.Kind.records(c.Org.ID), st.Kind.associations(c.Org.ID, c.Event.ID)
	words := strings.ToLower(q.Text)
	for range maxTries {
		var pairs []*pair
		pairs, total = catalogue.Select(st.Memory.joins.of(places, v), func(p *pair) bool {
			return p.place.holds(q.Role) && (q.Among == nil || among[p.ID]) && q.Keeps(p.Created, p.updated()) && st.Kind.mentions(p.Row, words)
		}, search.Order(q.Sort, pairTime, func(a, b *pair) int { return cmp.Compare(a.ID, b.ID) }), q.Page.Offset(), q.Page.PageSize)
		parties, now, err := st.page(ctx, records, places, v, pairs)
		if err != nil {
			return nil, 0, err
		}
		torn := slices.ContainsFunc(parties, func(p Party) bool { return p.torn(c) })
		switch {
		case now != v:
			v = now
		case torn:
			if v, err = st.again(ctx, c); err != nil {
				return nil, 0, err
			}
		default:
			return parties, total, nil
		}
	}
	return nil, 0, catalogue.Unsettled(places)
}

// open reads what a search on an event goes by.
func (st *Store) open(ctx context.Context, c *auth.Caller, q Query) (v views, among map[string]bool, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		v, err = st.views(ctx, c)
		return err
	}))
	if q.Among != nil {
		g.Go(table.Safely(func() (err error) {
			among, err = q.Among(ctx)
			return err
		}))
	}
	err = g.Wait()
	return v, among, err
}

// again gives the views anew, a moment later: those before met a write of a record
// and its association in the middle.
func (st *Store) again(ctx context.Context, c *auth.Caller) (views, error) {
	if err := table.Pause(ctx, maxPause); err != nil {
		return views{}, err
	}
	return st.views(ctx, c)
}

// page gives the parties of pairs, and the views as they say.
func (st *Store) page(ctx context.Context, records, places catalogue.Source, v views, pairs []*pair) (parties []Party, now views, err error) {
	rows, here := make([]*Row, len(pairs)), make([]*Place, len(pairs))
	for i, p := range pairs {
		rows[i], here[i] = p.Row, p.place
	}
	bodies, newRecords, err := st.Memory.Records.Page(ctx, records, v.records, rows)
	if err != nil {
		return nil, v, err
	}
	associations, newPlaces, err := st.Memory.Associations.Page(ctx, places, v.places, here)
	if err != nil {
		return nil, v, err
	}
	parties = make([]Party, len(pairs))
	for i := range pairs {
		parties[i] = Party{bodies[i], associations[i]}
	}
	return parties, views{newRecords, newPlaces}, nil
}

// mentions is whether the words, in lower case, are in what a search looks at.
func (k *Kind) mentions(r *Row, words string) bool {
	return words == "" || strings.Contains(r.Words, words) ||
		k.Numbered && strings.Contains(strings.ToLower(k.FriendlyID(&Body{Number: r.Number})), words)
}

func pairTime(name string) func(*pair) (int64, bool) {
	if name == "updatedAt" {
		return func(p *pair) (int64, bool) { return p.updated(), true }
	}
	return func(p *pair) (int64, bool) { return p.Created, true }
}

// SearchOrganization gives one page of the organization's parties, on whatever
// events they are, and how many there are. A caller that is limited to events
// sees those that hold the role on one of them.
func (st *Store) SearchOrganization(ctx context.Context, c *auth.Caller, q Query) (parties []Party, total int, err error) {
	among, err := st.visible(ctx, c, q.Role)
	if err != nil {
		return nil, 0, err
	}
	words := strings.ToLower(q.Text)
	bodies, total, err := st.Memory.Records.Search(ctx, st.Kind.records(c.Org.ID), func(r *Row) bool {
		return (among == nil || among[r.ID]) && q.Keeps(r.Created, r.Updated) && st.Kind.mentions(r, words)
	}, search.Order(q.Sort, rowTime, func(a, b *Row) int { return cmp.Compare(a.ID, b.ID) }), q.Page.Offset(), q.Page.PageSize)
	parties = make([]Party, len(bodies))
	for i, b := range bodies {
		parties[i].Body = b
	}
	return parties, total, err
}

func rowTime(name string) func(*Row) (int64, bool) {
	if name == "updatedAt" {
		return func(r *Row) (int64, bool) { return r.Updated, true }
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
			views[i], err = st.Memory.Associations.View(ctx, st.Kind.associations(c.Org.ID, event))
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
		a, err := decodeAssociation(item)
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
