package party

import (
	"context"
	"slices"

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

// updatedAt is the sort key that, other than createdAt, changes.
const updatedAt = "updatedAt"

// ofRecords is whether the search goes by what only the rows of records say.
func (q *Query) ofRecords() bool {
	return q.Text != "" || q.UpdatedAt != (search.Range{}) || slices.ContainsFunc(q.Sort, func(k search.Key) bool { return k.Name == updatedAt })
}

// Search gives one page of the parties that hold a role on the caller's event, and
// how many there are.
func (st *Store) Search(ctx context.Context, c *auth.Caller, q Query) (parties []Party, total int, err error) {
	v, among, err := st.open(ctx, c, q)
	if err != nil {
		return nil, 0, err
	}
	for range maxTries {
		var chosen []*Place
		chosen, total = st.Kind.choose(q, v, among)
		parties, now, err := st.page(ctx, c, q, v, chosen)
		if err != nil {
			return nil, 0, err
		}
		torn := slices.ContainsFunc(parties, func(p Party) bool { return p.Body == nil || p.torn(c) })
		switch {
		case now != v:
			v = now
		case torn:
			if v, err = st.again(ctx, c, q); err != nil {
				return nil, 0, err
			}
		default:
			return parties, total, nil
		}
	}
	return nil, 0, catalogue.Unsettled(st.Kind.associations(c.Org.ID, c.Event.ID))
}

// open reads what a search on an event goes by.
func (st *Store) open(ctx context.Context, c *auth.Caller, q Query) (v views, among map[string]bool, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		v, err = st.views(ctx, c, q.ofRecords())
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
func (st *Store) again(ctx context.Context, c *auth.Caller, q Query) (views, error) {
	if err := table.Pause(ctx, maxPause); err != nil {
		return views{}, err
	}
	return st.views(ctx, c, q.ofRecords())
}

// page gives the parties of places, and the views as they say. One whose record is not
// visible yet has no Body.
func (st *Store) page(ctx context.Context, c *auth.Caller, q Query, v views, chosen []*Place) (parties []Party, now views, err error) {
	var bodies []*Body
	var here []*Association
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		bodies, now.records, err = st.bodies(ctx, c, q, v, chosen)
		return err
	}))
	g.Go(table.Safely(func() (err error) {
		here, now.places, err = st.Memory.Associations.Page(ctx, st.Kind.associations(c.Org.ID, c.Event.ID), v.places, chosen)
		return err
	}))
	if err := g.Wait(); err != nil {
		return nil, v, err
	}
	parties = make([]Party, len(chosen))
	for i := range chosen {
		parties[i] = Party{bodies[i], here[i]}
	}
	return parties, now, nil
}

// bodies are the records of places, and the view of records as they say, for a search
// that goes by them. Those that are not in it are read from the table.
func (st *Store) bodies(ctx context.Context, c *auth.Caller, q Query, v views, chosen []*Place) (bodies []*Body, now *catalogue.View[Row], err error) {
	src := st.Kind.records(c.Org.ID)
	rows, want := make([]*Row, len(chosen)), make([]catalogue.Want, len(chosen))
	for i, p := range chosen {
		want[i].ID = p.ID
		if row, ok := v.record(p.ID); ok {
			rows[i], want[i].Version = row, row.Version
		}
	}
	if q.ofRecords() {
		return st.Memory.Records.Page(ctx, src, v.records, rows)
	}
	got, err := st.Memory.Records.Bodies(ctx, src, want)
	if err != nil {
		return nil, nil, err
	}
	bodies = make([]*Body, len(got))
	for i, body := range got {
		bodies[i] = body.Value
	}
	return bodies, v.records, nil
}
