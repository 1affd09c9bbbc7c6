package purge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"lectern/shared/catalogue"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/party"
	"lectern/shared/table"
)

// parties purges contacts or accounts that are deleted from the event and from all others.
func (r *run) parties(ctx context.Context, kind *party.Kind, count *int64) error {
	var ids []string
	for row, err := range r.Table.Between(ctx, kind.Rows(r.org, r.event).Rows, "0", lastKey) {
		if err != nil {
			return err
		}
		association, err := party.DecodeAssociationRow(row)
		if err != nil {
			return err
		}
		if association.Roles == "" && association.Updated < r.before.UnixMilli() {
			ids = append(ids, association.ID)
		}
	}
	ids, err := r.inactive(ctx, kind, ids)
	if err != nil {
		return err
	}
	return r.each(ctx, ids, count, func(ctx context.Context, id string) (bool, error) { return r.party(ctx, kind, id) })
}

// inactiveAtOnce is the number of records that inactive reads at a time.
const inactiveAtOnce = 1_000

// inactive returns the ids of the parties that have no role on any event, and were not written
// for long enough. It includes a party without a record, since the purge of the party was
// interrupted.
func (r *run) inactive(ctx context.Context, kind *party.Kind, ids []string) (inactive []string, err error) {
	for chunk := range slices.Chunk(ids, inactiveAtOnce) {
		keys := make([]table.Key, len(chunk))
		for i, id := range chunk {
			keys[i] = kind.Body(r.org, id)
		}
		bodies, err := r.Table.GetMany(ctx, keys)
		if err != nil {
			return nil, err
		}
		for i, id := range chunk {
			stored, found := bodies[keys[i]]
			if !found {
				inactive = append(inactive, id)
				continue
			}
			b, err := party.Decode(stored)
			if err != nil {
				return nil, err
			}
			if len(b.Active) == 0 && b.WrittenAt.Before(r.before) {
				inactive = append(inactive, id)
			}
		}
	}
	return inactive, nil
}

// party purges one party. It removes the record first, so that nothing can be restored, and
// the other items afterwards. The associations go last, since their rows lead the next call
// back to an interrupted purge.
func (r *run) party(ctx context.Context, kind *party.Kind, id string) (done bool, err error) {
	key := kind.Body(r.org, id)
	got, err := r.Table.GetMany(ctx, []table.Key{key})
	if err != nil {
		return false, err
	}
	// Read the associations after the record: a later new role changes the record too.
	associations, deleted, err := r.associations(ctx, kind, id)
	if err != nil || !deleted {
		return false, err
	}
	if body, found := got[key]; found {
		if done, err = r.body(ctx, kind, id, body); !done {
			return false, err
		}
	}
	var changes []table.Write
	// The copy of a change may be damaged; its key is enough.
	for change, err := range r.Table.Lenient().Between(ctx, key.PK, "H#", "H#"+lastKey) {
		if err != nil {
			return done, err
		}
		changes = append(changes, table.Delete(change.Key))
	}
	if err := r.drop(ctx, changes); err != nil {
		return done, err
	}
	for _, a := range associations {
		gone := catalogue.Remove(kind.Rows(r.org, a.Event), id, kind.OnEvent(r.org, a.Event, id), a.Version)
		if err := r.Table.Transact(ctx, gone...); err != nil {
			return done, err
		}
	}
	return done, nil
}

// associations reads a party's associations, and reports whether all roles on the
// associations were deleted long enough ago.
func (r *run) associations(ctx context.Context, kind *party.Kind, id string) (all []*party.Association, deleted bool, err error) {
	for stored, err := range r.Table.Between(ctx, kind.PK(r.org, id), "E#", "E#"+lastKey) {
		if err != nil {
			return nil, false, err
		}
		a, err := party.DecodeAssociation(stored)
		if err != nil {
			return nil, false, err
		}
		for _, role := range a.Roles {
			if !r.old(role.DeletedAt) {
				return nil, false, nil
			}
		}
		all = append(all, a)
	}
	return all, true, nil
}

// body removes the record of a party with its row, and with a contact's hold on the
// address.
func (r *run) body(ctx context.Context, kind *party.Kind, id string, body table.Item) (done bool, err error) {
	b, err := party.Decode(body)
	if err != nil || len(b.Active) > 0 {
		return false, err
	}
	gone := catalogue.Remove(kind.Rows(r.org, 0), id, body.Key, b.Version)
	if kind == contact.Kind {
		held, err := r.held(ctx, contact.ByEmail(r.org, b.Value("email")), id)
		if err != nil {
			return false, err
		}
		gone = append(gone, held...)
	}
	record := r.record(ctx, kind.Name, id, b.Version)
	if err := change.Commit(ctx, r.Table, append(slices.Clone(gone), record.Write())...); err != nil {
		return false, err
	}
	return true, nil
}

// held returns the write that frees an address, if the contact of the id holds the address.
func (r *run) held(ctx context.Context, key table.Key, id string) ([]table.Write, error) {
	item, err := r.Table.Get(ctx, key)
	if errors.Is(err, table.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var holder struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(item.Data, &holder); err != nil {
		return nil, fmt.Errorf("decode the holder of an address: %w", err)
	}
	if holder.ID != id {
		return nil, nil
	}
	return []table.Write{table.Remove(key, item.Version)}, nil
}
