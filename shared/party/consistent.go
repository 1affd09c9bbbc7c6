package party

import (
	"context"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/table"
)

// Recent is a write of an association: the event, the new version of the association, the
// new version of the record, and the time in Unix milliseconds.
type Recent struct {
	Event   int64 `json:"event"`
	Version int64 `json:"version"`
	With    int64 `json:"with"`
	At      int64 `json:"at"`
}

const (
	// maxRecent is how many of the last writes of associations a record remembers: more than
	// happen during the read of a record and its association.
	maxRecent = 4
	// readTime is longer than the reads of a request can lie apart, clocks that differ
	// included. A record that has forgotten younger writes does not prove that an
	// association comes from the same write.
	readTime = 2 * time.Minute
	// maxTogether is how many parties are read at the same moment in a call: DynamoDB allows
	// 4 MB, enough for 26 items of maxRecordBytes.
	maxTogether = 12
)

// torn reports whether the record and its association come from different writes. A batch
// does not read two items at the same moment: it may return only a part of a transaction.
func (p Party) torn(c *auth.Caller) bool {
	if p.Body == nil || c.Event == nil {
		return false
	}
	version := int64(0)
	if p.Association != nil {
		version = p.Association.Version
		if p.Association.With > p.Version {
			return true
		}
	}
	return slices.ContainsFunc(p.Recent, func(r Recent) bool { return r.Event == c.Event.ID && r.Version > version })
}

// mayBeTorn reports whether the association may come from another write than the record,
// although the two do not disagree. The record remembers its last four association writes.
// When all four are younger than two minutes, an older write may be missing.
func (st *Store) mayBeTorn(p Party) bool {
	if p.Body == nil || p.Association == nil || len(p.Recent) < maxRecent {
		return false
	}
	oldest := p.Recent[len(p.Recent)-1]
	return p.Association.With < oldest.With && st.Now().UnixMilli()-oldest.At < readTime.Milliseconds()
}

// together reads the parties of ids into found, each as of a single moment.
func (st *Store) together(ctx context.Context, c *auth.Caller, ids []string, found map[string]Party) error {
	for chunk := range slices.Chunk(ids, maxTogether) {
		got, err := st.Table.TransactGet(ctx, st.allKeys(c, chunk))
		if err != nil {
			return err
		}
		for _, id := range chunk {
			p, err := st.found(c, got, id)
			if err != nil {
				return err
			}
			if p.Body != nil {
				found[id] = p
			}
		}
	}
	return nil
}

// views are the rows for a search on an event.
type views struct {
	// records has only the rows in memory if the search does not need the others.
	records      *catalogue.View[Row]
	associations *catalogue.View[AssociationRow]
}

// rows returns the known rows of a party.
func (v views) rows(id string) (record *Row, association *AssociationRow) {
	association, _ = v.associations.Get(id)
	record, _ = v.records.Get(id)
	return record, association
}

// since returns how often a party was written after the views were read, below 0 for
// a party older than the views.
func (v views) since(p Party) (writes int64) {
	if p.Body == nil || p.Association == nil {
		return -1
	}
	record, association := v.rows(p.ID)
	if association != nil {
		writes = p.Association.Version - association.Version
	}
	if record != nil && writes == 0 {
		writes = p.Version - record.Version
	}
	return writes
}

// with returns the views with the rows of changed parties.
func (v views) with(k *Kind, parties []Party) views {
	associations, records := make([]*AssociationRow, len(parties)), make([]*Row, len(parties))
	for i, p := range parties {
		association, record := associationRow(p.Association), k.rowOf(p.Body)
		associations[i], records[i] = &association, &record
	}
	return views{records: v.records.With(records), associations: v.associations.With(associations)}
}

// Sources returns the sources of the organization's records and of the associations with the
// caller's event, for catalogue.ShareVersions.
func (st *Store) Sources(c *auth.Caller) []catalogue.Source {
	return []catalogue.Source{st.Kind.Rows(c.Org.ID, 0), st.Kind.Rows(c.Org.ID, c.Event.ID)}
}

// views returns the rows of the organization's records and of their associations with
// the caller's event, as they stand. Unless all is set, those of records are the known
// ones: of others the table is read.
func (st *Store) views(ctx context.Context, c *auth.Caller, all bool) (views, error) {
	records := st.Memory.Records.PartialView
	if all {
		records = st.Memory.Records.View
	}
	return st.rowsOf(ctx, c, records, st.Memory.Associations.View)
}

// source reads the rows of a source.
type source[R any] func(context.Context, catalogue.Source) (*catalogue.View[R], error)

func (st *Store) rowsOf(ctx context.Context, c *auth.Caller, records source[Row],
	associations source[AssociationRow]) (v views, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(into(ctx, &v.records, records, st.Kind.Rows(c.Org.ID, 0)))
	g.Go(into(ctx, &v.associations, associations, st.Kind.Rows(c.Org.ID, c.Event.ID)))
	err = g.Wait()
	return v, err
}

// into returns a function that reads a source into to, for an errgroup.
func into[T any](ctx context.Context, to *T, read func(context.Context, catalogue.Source) (T, error), src catalogue.Source) func() error {
	return table.Safely(func() (err error) {
		*to, err = read(ctx, src)
		return err
	})
}

// Load reads or validates all rows that a search on the caller's event may need.
func (st *Store) Load(ctx context.Context, c *auth.Caller) error {
	_, err := st.views(ctx, c, true)
	return err
}

// Refresh returns the Reader of a request. A request may call Refresh in parallel with other
// reads. The Reader takes parties from memory if their rows are known and add up, and reads
// the others from the table. Rows loaded later are not validated for this request.
func (st *Store) Refresh(ctx context.Context, c *auth.Caller) (Reader, error) {
	if st.Memory == nil {
		return st.Read, nil
	}
	v, err := st.rowsOf(ctx, c, st.Memory.Records.PartialView, st.Memory.Associations.PartialView)
	return func(ctx context.Context, c *auth.Caller, wanted []string) (map[string]Party, error) {
		return st.asOf(ctx, c, v, wanted)
	}, err
}

// asOf returns the parties of ids that were ever associated with the caller's event, by id.
// A party with both rows in the views comes from memory, in exactly the versions of the
// rows. Any other party, or a party that has changed since, comes from the table.
func (st *Store) asOf(ctx context.Context, c *auth.Caller, v views, wanted []string) (map[string]Party, error) {
	var records, associations []catalogue.Want
	var others []string
	for _, id := range wanted {
		record, association := v.rows(id)
		if record == nil || association == nil {
			others = append(others, id)
			continue
		}
		records = append(records, catalogue.Want{ID: id, Version: record.Version})
		associations = append(associations, catalogue.Want{ID: id, Version: association.Version})
	}
	found, err := st.exactly(ctx, c, records, associations)
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

// exactly returns the parties in these versions of record and association. It leaves out
// parties that have changed since or may be torn.
func (st *Store) exactly(ctx context.Context, c *auth.Caller, records, associations []catalogue.Want) (map[string]Party, error) {
	var bodies []catalogue.Body[*Body]
	var withRoles []catalogue.Body[*Association]
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		bodies, err = st.Memory.Records.Bodies(ctx, st.Kind.Rows(c.Org.ID, 0), records)
		return err
	}))
	g.Go(table.Safely(func() (err error) {
		withRoles, err = st.Memory.Associations.Bodies(ctx, st.Kind.Rows(c.Org.ID, c.Event.ID), associations)
		return err
	}))
	if err := g.Wait(); err != nil {
		return nil, err
	}
	found := make(map[string]Party, len(records))
	for i := range records {
		p := Party{bodies[i].Value, withRoles[i].Value}
		if bodies[i].Version == records[i].Version && withRoles[i].Version == associations[i].Version && !p.torn(c) && !st.mayBeTorn(p) {
			found[records[i].ID] = p
		}
	}
	return found, nil
}
