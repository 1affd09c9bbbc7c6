package party

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/page"
	"lectern/shared/search"
	"lectern/shared/table"
)

// Filter has the filters of a search of parties.
type Filter struct {
	Text string `json:"search,omitempty" maxLength:"255" doc:"Text in name, e-mail address or company, whatever the case; of sponsors and exhibitors in name or friendly id."`
	search.Times
}

// Query is a search.
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
	Has(p *AssociationRow) bool
	All() iter.Seq[string]
}

// updatedAt is the sort key that changes with updates.
const updatedAt = "updatedAt"

const (
	// maxTries is how often a page of changing records is chosen again.
	maxTries = 12
	// maxPause is the longest pause between two tries: a transaction becomes visible
	// within milliseconds.
	maxPause = 20 * time.Millisecond
)

// ofRecords reports whether the search needs the rows of records.
func (q *Query) ofRecords() bool {
	return q.Text != "" || q.UpdatedAt != (search.Range{}) || slices.ContainsFunc(q.Sort, byUpdate)
}

func byUpdate(k search.Key) bool { return k.Name == updatedAt }

// Search returns a page of the parties that hold a role on the caller's event, and the
// number of all matches. All of the page agrees with the rows: if a party has changed since
// the rows were read, Search updates the row and chooses the page again.
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

// open reads the rows for a search on an event.
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

// again calls open after a pause: the earlier read saw a part of a transaction.
func (st *Store) again(ctx context.Context, c *auth.Caller, q Query) (views, IDs, error) {
	if err := table.Pause(ctx, maxPause); err != nil {
		return views{}, nil, err
	}
	return st.open(catalogue.RenewVersions(ctx), c, q)
}

// errBehind is the error for a party older than its row.
var errBehind = errors.New("party: a row is ahead of its party")

// page returns the parties of rows, and the parties among them that have changed since the
// views were read. page takes known parties from read, and adds the others to read.
func (st *Store) page(ctx context.Context, c *auth.Caller, v views, chosen []*AssociationRow,
	read map[string]Party) (parties, changed []Party, err error) {
	var unknown []string
	for _, row := range chosen {
		if _, known := read[row.ID]; !known {
			unknown = append(unknown, row.ID)
		}
	}
	found, err := st.asOf(ctx, c, v, unknown)
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(read, found)
	for _, row := range chosen {
		p, ok := read[row.ID]
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

// selection is a search on views.
type selection struct {
	Query
	views
	kind  *Kind
	only  IDs
	words string
}

// fewPart bounds the ids of OnlyIDs that are looked up alone: below this part of all rows,
// that costs less than a pass through the rows.
const fewPart = 8

// few reports whether the search looks up the ids of OnlyIDs alone.
func (s *selection) few() bool {
	return s.OnlyIDs != nil && s.only.Len() < len(s.associations.All())/fewPart
}

// choose returns the associations of the page, and how many match the search.
func (k *Kind) choose(q Query, v views, only IDs) (page []*AssociationRow, total int) {
	s := &selection{q, v, k, only, strings.ToLower(q.Text)}
	if !q.ofRecords() {
		return catalogue.Select(s.candidates(), s.keeps, search.Order(q.Sort, associationTimes, associationsByID),
			q.Page.Offset(), q.Page.PageSize)
	}
	order := search.Order(q.Sort, pairTime, pairsByID)
	if order == nil {
		order = pairsByCreated
	}
	found, total := catalogue.Select(s.pairs(), every, order, q.Page.Offset(), q.Page.PageSize)
	for _, p := range found {
		page = append(page, p.AssociationRow)
	}
	return page, total
}

// keeps reports whether an association matches the filters that need no record.
func (s *selection) keeps(p *AssociationRow) bool {
	return p.Holds(s.Role) && s.CreatedAt.Contains(p.Created) && (s.OnlyIDs == nil || s.only.Has(p))
}

// keepsPair reports whether an association with its record matches all filters.
func (s *selection) keepsPair(p *pair) bool {
	return s.keeps(p.AssociationRow) && s.UpdatedAt.Contains(p.updated()) && s.kind.mentions(p.record, s.words)
}

// candidates returns the associations to filter, in the default order.
func (s *selection) candidates() []*AssociationRow {
	if !s.few() {
		return s.associations.All()
	}
	var few []*AssociationRow
	for id := range s.only.All() {
		if p, ok := s.associations.Get(id); ok {
			few = append(few, p)
		}
	}
	slices.SortFunc(few, associationsByCreated)
	return few
}

// pairs returns the associations to filter with the rows of their records, in no order.
// Only pairs that match are kept.
func (s *selection) pairs() []*pair {
	var kept matches
	if s.few() {
		for id := range s.only.All() {
			p, exists := s.associations.Get(id)
			if row, ok := s.records.Get(id); ok && exists {
				kept.add(s, p, row)
			}
		}
	} else {
		catalogue.Join(s.associations, s.records, func(p *AssociationRow, row *Row) { kept.add(s, p, row) })
	}
	pairs := make([]*pair, len(kept))
	for i := range kept {
		pairs[i] = &kept[i]
	}
	return pairs
}

func every(*pair) bool { return true }

// matches are pairs that match a search.
type matches []pair

// add adds a pair that matches.
func (m *matches) add(s *selection, p *AssociationRow, row *Row) {
	if both := (pair{p, row}); s.keepsPair(&both) {
		*m = append(*m, both)
	}
}

// pair is an association with the row of its record.
type pair struct {
	*AssociationRow
	record *Row
}

// updated returns the time of the last change that the pair shows.
func (p *pair) updated() int64 { return max(p.Updated, p.record.Updated) }

func (p *pair) updateTime() (int64, bool) { return p.updated(), true }
func (p *pair) createTime() (int64, bool) { return p.Created, true }

func pairTime(name string) func(*pair) (int64, bool) {
	if name == updatedAt {
		return (*pair).updateTime
	}
	return (*pair).createTime
}

func (p *AssociationRow) createTime() (int64, bool) { return p.Created, true }

func associationTimes(string) func(*AssociationRow) (int64, bool) {
	return (*AssociationRow).createTime
}

func associationsByID(a, b *AssociationRow) int { return cmp.Compare(a.ID, b.ID) }
func pairsByID(a, b *pair) int                  { return associationsByID(a.AssociationRow, b.AssociationRow) }
func pairsByCreated(a, b *pair) int             { return associationsByCreated(a.AssociationRow, b.AssociationRow) }

// mentions reports whether a search for the words, in lower case, finds the record.
func (k *Kind) mentions(r *Row, words string) bool {
	return words == "" || strings.Contains(r.Words, words) ||
		k.Numbered && strings.Contains(strings.ToLower(k.FriendlyID(&Body{Number: r.Number})), words)
}

// SearchOrganization returns a page of the organization's parties, on any event, and the
// number of all matches. A caller limited to some events sees the parties that hold the role
// there.
func (st *Store) SearchOrganization(ctx context.Context, c *auth.Caller, q Query) (parties []Party, total int, err error) {
	among, err := st.visible(ctx, c, q.Role)
	if err != nil {
		return nil, 0, err
	}
	words := strings.ToLower(q.Text)
	bodies, total, err := st.Memory.Records.Search(ctx, st.Kind.Rows(c.Org.ID, 0), catalogue.Query[Row]{
		Keep: func(_ *catalogue.View[Row], r *Row) bool {
			return (among == nil || among[r.ID]) && q.Keeps(r.Created, r.Written) && st.Kind.mentions(r, words)
		},
		Order:  search.Order(q.Sort, rowTime, rowsByID),
		Offset: q.Page.Offset(), Limit: q.Page.PageSize,
	})
	parties = make([]Party, len(bodies))
	for i, b := range bodies {
		parties[i].Body = b
	}
	return parties, total, err
}

func rowTime(name string) func(*Row) (int64, bool) {
	if name == updatedAt {
		return (*Row).writeTime
	}
	return (*Row).createTime
}

func (r *Row) writeTime() (int64, bool)  { return r.Written, true }
func (r *Row) createTime() (int64, bool) { return r.Created, true }

func rowsByID(a, b *Row) int { return cmp.Compare(a.ID, b.ID) }

// visible returns the ids of the parties that hold the role on an event of a limited caller;
// nil for a caller without limits.
func (st *Store) visible(ctx context.Context, c *auth.Caller, role string) (map[string]bool, error) {
	events, limited := c.Events()
	if !limited {
		return nil, nil
	}
	views := make([]*catalogue.View[AssociationRow], len(events))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(eventsAtOnce)
	for i, event := range events {
		g.Go(into(ctx, &views[i], st.Memory.Associations.View, st.Kind.Rows(c.Org.ID, event)))
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	among := map[string]bool{}
	for _, view := range views {
		for _, row := range view.All() {
			if row.Holds(role) {
				among[row.ID] = true
			}
		}
	}
	return among, nil
}

// eventsAtOnce is how many events are read at a time.
const eventsAtOnce = 16
