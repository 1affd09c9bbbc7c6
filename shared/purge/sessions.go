package purge

import (
	"context"
	"slices"

	"lectern/shared/catalogue"
	"lectern/shared/change"
	"lectern/shared/person"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/transcript"
)

// deleted has the sessions that may be purged, and the parents of the subsessions.
type deleted struct {
	parents, parts []string
	parentOf       map[string]string
	// staying has the parents with a subsession that stays.
	staying map[string]bool
	// rows has the ids of all sessions.
	rows map[string]bool
}

// sessions purges the event's sessions, subsessions before their parents.
func (r *run) sessions(ctx context.Context) error {
	// The indexes are read before the rows: then a new session is among the rows.
	place := transcript.At(r.org, r.event)
	indexes, err := r.Table.Versions(ctx, place.Indexes(), "0", lastKey)
	if err != nil {
		return err
	}
	d := &deleted{parentOf: map[string]string{}, staying: map[string]bool{}, rows: map[string]bool{}}
	for item, err := range r.Table.Between(ctx, session.Of(r.org, r.event).Rows().Rows, "0", lastKey) {
		if err == nil {
			err = r.note(d, item)
		}
		if err != nil {
			return err
		}
	}
	var removed int64
	if err := r.each(ctx, orphans(indexes, d.rows), &removed, r.orphan); err != nil {
		return err
	}
	if err := r.each(ctx, d.parts, &r.Counts.Sessions, r.sessionWithTexts); err != nil {
		return err
	}
	parts, err := r.Table.GetMany(ctx, r.bodies(d.parts))
	if err != nil {
		return err
	}
	for _, id := range d.parts {
		if _, found := parts[session.Of(r.org, r.event).Body(id)]; found {
			d.staying[d.parentOf[id]] = true
		}
	}
	parents := slices.DeleteFunc(d.parents, func(id string) bool { return d.staying[id] })
	return r.each(ctx, parents, &r.Counts.Sessions, r.sessionWithTexts)
}

// note adds a row to the sessions that may be purged, or to the parents that must stay.
func (r *run) note(d *deleted, item table.Item) error {
	row, _, err := session.DecodeRow(item)
	if err != nil {
		return err
	}
	d.rows[row.ID] = true
	gone := row.Deleted != 0 && row.Deleted < r.before.UnixMilli()
	switch {
	case gone && row.Parent != "":
		d.parts = append(d.parts, row.ID)
		d.parentOf[row.ID] = row.Parent
	case gone:
		d.parents = append(d.parents, row.ID)
	case row.Parent != "":
		d.staying[row.Parent] = true
	}
	return nil
}

func (r *run) bodies(ids []string) []table.Key {
	keys := make([]table.Key, len(ids))
	for i, id := range ids {
		keys[i] = session.Of(r.org, r.event).Body(id)
	}
	return keys
}

// session purges one session with the items of the people on the session. Items beyond the
// room of the transaction become announcements before the transaction. No reader relies on
// an announcement, and the announcements are deleted after the transaction.
func (r *run) session(ctx context.Context, id string) (done bool, err error) {
	key := session.Of(r.org, r.event).Body(id)
	got, err := r.Table.GetMany(ctx, []table.Key{key})
	if err != nil || got[key].Version == 0 {
		return false, err
	}
	b, err := session.Decode(got[key])
	if err != nil || !r.old(b.DeletedAt) || len(b.Subsessions)+len(b.Sources) > 0 || b.Target != nil {
		return false, err
	}
	of := person.Session{Org: r.org, Event: r.event, ID: id, Version: b.Version, Created: b.CreatedAt.UnixMilli()}
	ahead, together, err := of.Changes(b.Roles(), person.Roles{})
	if err != nil {
		return false, err
	}
	var after []table.Write
	for chunk := range slices.Chunk(ahead, table.MaxWrites-1) {
		if err := r.Table.Transact(ctx, append(slices.Clone(chunk), table.Version(key, b.Version))...); err != nil {
			return false, err
		}
		for _, w := range chunk {
			after = append(after, table.Delete(w.Key()))
		}
	}
	gone := catalogue.Remove(session.Of(r.org, r.event).Rows(), id, key, b.Version)
	record := r.record(ctx, "session", id, b.Version)
	if err := change.Commit(ctx, r.Table, append(slices.Concat(gone, together), record.Write())...); err != nil {
		return false, err
	}
	return true, r.drop(ctx, after)
}

// drop does writes of items that no reader relies on, as many at a time as a transaction
// holds.
func (r *run) drop(ctx context.Context, writes []table.Write) error {
	for chunk := range slices.Chunk(writes, table.MaxWrites) {
		if err := r.Table.Transact(ctx, chunk...); err != nil {
			return err
		}
	}
	return nil
}
