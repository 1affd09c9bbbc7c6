package party

import (
	"context"
	"maps"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/table"
)

// views are the rows that a search on an event reads.
type views struct {
	// records are only those known where the search goes without the others.
	records *catalogue.View[Row]
	places  *catalogue.View[Place]
}

// rows returns the known rows of a party.
func (v views) rows(id string) (record *Row, place *Place) {
	place, _ = v.places.Get(id)
	record, _ = v.records.Get(id)
	return record, place
}

// since returns how often a party was written after the views were read, below 0 for
// a party older than the views.
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

// with returns the views with the rows of these parties.
func (v views) with(k *Kind, parties []Party) views {
	places, records := make([]*Place, len(parties)), make([]*Row, len(parties))
	for i, p := range parties {
		place, record := placeOf(p.Here), k.rowOf(p.Body)
		places[i], records[i] = &place, &record
	}
	return views{records: v.records.With(records), places: v.places.With(places)}
}

// Sources are the rows of the organization's records and of their associations with the
// caller's event, for catalogue.Together.
func (st *Store) Sources(c *auth.Caller) []catalogue.Source {
	return []catalogue.Source{st.Kind.Rows(c.Org.ID, 0), st.Kind.Rows(c.Org.ID, c.Event.ID)}
}

// views returns the rows of the organization's records and of their associations with
// the caller's event, as they stand. Unless all is set, those of records are the known
// ones: of others the table is read.
func (st *Store) views(ctx context.Context, c *auth.Caller, all bool) (views, error) {
	records := st.Memory.Records.Known
	if all {
		records = st.Memory.Records.View
	}
	return st.rowsOf(ctx, c, records, st.Memory.Associations.View)
}

// source reads the rows of a source.
type source[R any] func(context.Context, catalogue.Source) (*catalogue.View[R], error)

func (st *Store) rowsOf(ctx context.Context, c *auth.Caller, records source[Row], places source[Place]) (v views, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		v.records, err = records(ctx, st.Kind.Rows(c.Org.ID, 0))
		return err
	}))
	g.Go(table.Safely(func() (err error) {
		v.places, err = places(ctx, st.Kind.Rows(c.Org.ID, c.Event.ID))
		return err
	}))
	err = g.Wait()
	return v, err
}

// Load reads or validates all rows that a search on the caller's event may need.
func (st *Store) Load(ctx context.Context, c *auth.Caller) error {
	_, err := st.views(ctx, c, true)
	return err
}

// Refresh returns the Reader of a request, which may be prepared beside its other reads.
// It reads parties from memory where their rows are known, and others from the table:
// those of a large organization that are not in memory yet, and those whose rows do not
// add up. What is loaded later is not validated for this request.
func (st *Store) Refresh(ctx context.Context, c *auth.Caller) (Reader, error) {
	if st.Memory == nil {
		return st.Read, nil
	}
	v, err := st.rowsOf(ctx, c, st.Memory.Records.Known, st.Memory.Associations.Known)
	return func(ctx context.Context, c *auth.Caller, wanted []string) (map[string]Party, error) {
		return st.asOf(ctx, c, v, wanted)
	}, err
}

// asOf returns the parties of ids that were ever associated with the caller's event, by
// id. A party whose two rows are in the views comes from memory, in exactly the versions
// of its rows. Any other party, or one that has changed since, comes from the table.
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

// exactly returns the parties of these versions of record and association, and leaves
// out parties that have changed since or may be torn.
func (st *Store) exactly(ctx context.Context, c *auth.Caller, records, places []catalogue.Want) (map[string]Party, error) {
	var bodies []catalogue.Body[*Body]
	var here []catalogue.Body[*Association]
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		bodies, err = st.Memory.Records.Bodies(ctx, st.Kind.Rows(c.Org.ID, 0), records)
		return err
	}))
	g.Go(table.Safely(func() (err error) {
		here, err = st.Memory.Associations.Bodies(ctx, st.Kind.Rows(c.Org.ID, c.Event.ID), places)
		return err
	}))
	if err := g.Wait(); err != nil {
		return nil, err
	}
	found := make(map[string]Party, len(records))
	for i := range records {
		p := Party{bodies[i].Value, here[i].Value}
		if bodies[i].Version == records[i].Version && here[i].Version == places[i].Version && !p.torn(c) && !st.MayBeTorn(p) {
			found[records[i].ID] = p
		}
	}
	return found, nil
}
