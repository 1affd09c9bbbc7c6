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

// rows are those of a party, as far as they are known.
func (v views) rows(id string) (record *Row, place *Place) {
	place, _ = v.places.Get(id)
	if v.records != nil {
		record, _ = v.records.Get(id)
	}
	return record, place
}

// since is how often a party was written after the views were read, below 0 where
// they are ahead of it.
func (v views) since(p Party) (writes int64) {
	if p.Body == nil || p.Here == nil {
		return -1
	}
	record, place := v.rows(p.ID)
	if place != nil {
		writes = p.Here.Version - place.Version
	}
	if record != nil && writes == 0 {
		writes = p.Version - record.Version
	}
	return writes
}

// with is the views with the rows of parties as these are.
func (v views) with(k *Kind, parties []Party) views {
	places, records := make([]*Place, len(parties)), make([]*Row, len(parties))
	for i, p := range parties {
		place, record := placeOf(p.Here), k.rowOf(p.Body)
		places[i], records[i] = &place, &record
	}
	v.places = v.places.With(places)
	if v.records != nil {
		v.records = v.records.With(records)
	}
	return v
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
	v, err := st.views(ctx, c, true)
	return func(ctx context.Context, c *auth.Caller, wanted []string) (map[string]Party, error) {
		return st.asOf(ctx, c, v, wanted)
	}, err
}

func (st *Store) loaded(c *auth.Caller) bool {
	return st.Memory.Records.Loaded(st.Kind.records(c.Org.ID)) &&
		st.Memory.Associations.Loaded(st.Kind.associations(c.Org.ID, c.Event.ID))
}

// asOf gives those of ids that were ever associated with the caller's event, by id:
// as the views say where both rows are in them, and as they stand where not, or where
// they have changed since. A record of one moment never meets an association of
// another.
func (st *Store) asOf(ctx context.Context, c *auth.Caller, v views, wanted []string) (map[string]Party, error) {
	var records, places []catalogue.Want
	var others []string
	for _, id := range wanted {
		record, place := v.rows(id)
		if record == nil || place == nil {
			others = append(others, id)
			continue
		}
		records, places = append(records, catalogue.Want{ID: id, Version: record.Version}), append(places, catalogue.Want{ID: id, Version: place.Version})
	}
	found, err := st.exactly(ctx, c, records, places)
	if err != nil {
		return nil, err
	}
	for _, want := range records {
		if _, ok := found[want.ID]; !ok {
			others = append(others, want.ID)
		}
	}
	read, err := st.Read(ctx, c, others)
	maps.Copy(found, read)
	return found, err
}

// exactly gives the parties of these versions of record and association, but for
// those that have changed since.
func (st *Store) exactly(ctx context.Context, c *auth.Caller, records, places []catalogue.Want) (map[string]Party, error) {
	var bodies []catalogue.Body[*Body]
	var here []catalogue.Body[*Association]
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		bodies, err = st.Memory.Records.Bodies(ctx, st.Kind.records(c.Org.ID), records)
		return err
	}))
	g.Go(table.Safely(func() (err error) {
		here, err = st.Memory.Associations.Bodies(ctx, st.Kind.associations(c.Org.ID, c.Event.ID), places)
		return err
	}))
	if err := g.Wait(); err != nil {
		return nil, err
	}
	found := make(map[string]Party, len(records))
	for i := range records {
		p := Party{bodies[i].Value, here[i].Value}
		if bodies[i].Version == records[i].Version && here[i].Version == places[i].Version && !p.torn(c) && !st.Doubts(p) {
			found[records[i].ID] = p
		}
	}
	return found, nil
}
