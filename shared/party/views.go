package party

import (
	"context"
	"maps"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/table"
)

// views are the rows that a search on an event goes by.
type views struct {
	// records is nil where the search does without.
	records *catalogue.View[Row]
	places  *catalogue.View[Place]
}

// record is the row of a record, as far as it is known.
func (v views) record(id string) (*Row, bool) {
	if v.records == nil {
		return nil, false
	}
	return v.records.Get(id)
}

// maxSmall is how many parties an organization has at most of which all rows are
// read for one page of them: that costs as much as the bodies of ten pages. Rows of
// larger ones are read by the searches that go by them.
const maxSmall = 20_000

// small is whether the organization has at most maxSmall parties.
func (st *Store) small(ctx context.Context, c *auth.Caller) (bool, error) {
	given, err := st.Table.Count(ctx, st.Kind.numbers(c.Org.ID))
	return given <= maxSmall, err
}

// views are the rows of the organization's records and of their associations with
// the caller's event, as they stand. Unless all is set, those of records are left out
// that are not in memory and too many.
func (st *Store) views(ctx context.Context, c *auth.Caller, all bool) (v views, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		src := st.Kind.records(c.Org.ID)
		if !all && !st.Memory.Records.Loaded(src) {
			if all, err = st.small(ctx, c); err != nil || !all {
				return err
			}
		}
		v.records, err = st.Memory.Records.View(ctx, src)
		return err
	}))
	g.Go(table.Safely(func() (err error) {
		v.places, err = st.Memory.Associations.View(ctx, st.Kind.associations(c.Org.ID, c.Event.ID))
		return err
	}))
	err = g.Wait()
	return v, err
}

// Load reads all rows into memory that a search on the caller's event may need, or
// validates them.
func (st *Store) Load(ctx context.Context, c *auth.Caller) error {
	_, err := st.views(ctx, c, true)
	return err
}

// Refresh gives the Reader of a request, beside its other reads: of memory, which is
// validated for it, where all rows are loaded or few, and otherwise of the table. What
// is loaded later is not validated for this request.
func (st *Store) Refresh(ctx context.Context, c *auth.Caller) (Reader, error) {
	if st.Memory == nil {
		return st.Read, nil
	}
	if !st.loaded(c) {
		if small, err := st.small(ctx, c); err != nil || !small {
			return st.Read, err
		}
	}
	return st.remembered, st.Load(ctx, c)
}

func (st *Store) loaded(c *auth.Caller) bool {
	return st.Memory.Records.Loaded(st.Kind.records(c.Org.ID)) &&
		st.Memory.Associations.Loaded(st.Kind.associations(c.Org.ID, c.Event.ID))
}

// remembered is the Reader of memory, as current as the views that were validated
// last. Whom it finds in the middle of a write it reads from the table.
func (st *Store) remembered(ctx context.Context, c *auth.Caller, wanted []string) (map[string]Party, error) {
	var bodies []*Body
	var here []*Association
	g, within := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		bodies, err = st.Memory.Records.Related(within, st.Kind.records(c.Org.ID), wanted)
		return err
	}))
	g.Go(table.Safely(func() (err error) {
		here, err = st.Memory.Associations.Related(within, st.Kind.associations(c.Org.ID, c.Event.ID), wanted)
		return err
	}))
	if err := g.Wait(); err != nil {
		return nil, err
	}
	present := make(map[string]Party, len(here))
	for _, a := range here {
		present[a.ID] = Party{Here: a}
	}
	var torn []string
	for _, b := range bodies {
		if here := present[b.ID].Here; here == nil {
			continue
		} else if p := (Party{b, here}); p.torn(c) {
			torn = append(torn, b.ID)
		} else {
			present[b.ID] = p
		}
	}
	again, err := st.Read(ctx, c, torn)
	maps.Copy(present, again)
	maps.DeleteFunc(present, func(_ string, p Party) bool { return p.Body == nil })
	return present, err
}
