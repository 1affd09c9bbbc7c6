package party

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

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
	// OnlyIDs, if set, limits the search to the ids it returns. It runs in parallel with
	// the reading of rows.
	OnlyIDs func(context.Context) (IDs, error)
	// Confirm, if set, reports whether a party of OnlyIDs, as it is read for the page,
	// may still be found.
	Confirm func(Party) bool
	Sort    []search.Key
	Page    page.Query
}

// IDs is a set of parties. All yields their ids.
type IDs interface {
	Len() int
	Has(p *Place) bool
	All() iter.Seq[string]
}

// updatedAt is the sort key that, other than createdAt, changes.
const updatedAt = "updatedAt"

const (
	// maxTries is how often a page is chosen again whose records are changing.
	maxTries = 12
	// maxPause is the longest pause between two tries: a transaction becomes visible
	// within milliseconds.
	maxPause = 20 * time.Millisecond
)

// ofRecords is whether the search goes by what only the rows of records say.
func (q *Query) ofRecords() bool {
	return q.Text != "" || q.UpdatedAt != (search.Range{}) || slices.ContainsFunc(q.Sort, func(k search.Key) bool { return k.Name == updatedAt })
}

// Search gives one page of the parties that hold a role on the caller's event, and
// how many there are. All of it is as the views say; whoever turns out to have changed
// since is put into them as they are, and the page chosen again.
func (st *Store) Search(ctx context.Context, c *auth.Caller, q Query) (parties []Party, total int, err error) {
	v, only, err := st.open(ctx, c, q)
	read := map[string]Party{}
	for range maxTries {
		if err != nil {
			return nil, 0, err
		}
		chosen, total := st.Kind.choose(q, v, only)
		parties, changed, pageErr := st.page(ctx, c, v, chosen, read)
		switch {
		case errors.Is(pageErr, errBehind), pageErr == nil && len(changed) == 0 && !q.confirms(parties):
			clear(read)
			v, only, err = st.again(ctx, c, q)
		case pageErr != nil:
			return nil, 0, pageErr
		case len(changed) > 0:
			v = v.with(st.Kind, changed)
		default:
			return parties, total, nil
		}
	}
	return nil, 0, catalogue.Unsettled(st.Kind.Rows(c.Org.ID, c.Event.ID))
}

func (q *Query) confirms(parties []Party) bool {
	return q.Confirm == nil || !slices.ContainsFunc(parties, func(p Party) bool { return !q.Confirm(p) })
}

// open reads what a search on an event goes by.
func (st *Store) open(ctx context.Context, c *auth.Caller, q Query) (v views, only IDs, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		v, err = st.views(ctx, c, q.ofRecords())
		return err
	}))
	if q.OnlyIDs != nil {
		g.Go(table.Safely(func() (err error) {
			only, err = q.OnlyIDs(ctx)
			return err
		}))
	}
	err = g.Wait()
	return v, only, err
}

// again is open a moment later: what was read before met a write in the middle.
func (st *Store) again(ctx context.Context, c *auth.Caller, q Query) (views, IDs, error) {
	if err := table.Pause(ctx, maxPause); err != nil {
		return views{}, nil, err
	}
	return st.open(catalogue.Again(ctx), c, q)
}

// errBehind is a party that does not show yet what its row does.
var errBehind = errors.New("party: a row is ahead of its party")

// page gives the parties of places, and those of them that have changed since the
// views were read. read has the parties that are known, and gets those that are not.
func (st *Store) page(ctx context.Context, c *auth.Caller, v views, chosen []*Place, read map[string]Party) (parties, changed []Party, err error) {
	var unknown []string
	for _, place := range chosen {
		if _, known := read[place.ID]; !known {
			unknown = append(unknown, place.ID)
		}
	}
	found, err := st.asOf(ctx, c, v, unknown)
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(read, found)
	for _, place := range chosen {
		p, ok := read[place.ID]
		since := v.since(p)
		if !ok || since < 0 {
			return nil, nil, errBehind
		}
		if since > 0 {
			changed = append(changed, p)
		}
		parties = append(parties, p)
	}
	return parties, changed, nil
}
