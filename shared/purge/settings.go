package purge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lectern/shared/change"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/participant"
	"lectern/shared/session"
	"lectern/shared/settings/item"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// shrinkAfter is the time for which a deleted setting may keep content: for a day, an
// Idempotency-Key may replay the creation of the setting.
const shrinkAfter = 24 * time.Hour

// settings purges the old deleted settings of an event or organization. It shrinks younger
// deleted settings to the content that a deleted setting keeps.
func (r *run) settings(ctx context.Context, at item.Place) error {
	var old, young []table.Item
	for stored, err := range r.Table.Between(ctx, at.Partition(), "A", lastKey) {
		if err != nil {
			return err
		}
		tombstone := item.Tombstone{}
		if err := json.Unmarshal(stored.Data, &tombstone); err != nil {
			return fmt.Errorf("decode %s: %w", stored.SK, err)
		}
		switch deleted := tombstone.DeletedAt; {
		case r.old(deleted):
			old = append(old, stored)
		case deleted != nil && deleted.Before(r.now.Add(-shrinkAfter)):
			young = append(young, stored)
		}
	}
	old, err := r.unneeded(ctx, old)
	if err != nil {
		return err
	}
	if err := r.every(ctx, at, old, &r.Counts.Settings, r.setting); err != nil {
		return err
	}
	return r.every(ctx, at, young, &r.Counts.Shrunk, r.shrink)
}

// every changes settings one after the other and counts the changed settings. Removals
// cannot run in parallel, because each removal changes the item of the owner.
func (r *run) every(
	ctx context.Context, at item.Place, all []table.Item, count *int64, change func(context.Context, item.Place, table.Item) (bool, error),
) error {
	until := r.until()
	for _, stored := range all {
		if err := begin(ctx, until); err != nil {
			return err
		}
		done, err := change(ctx, at, stored)
		if err != nil && !errors.Is(err, table.ErrStale) {
			return err
		}
		if done {
			*count++
		}
	}
	return nil
}

// unneeded returns the settings without the roles that sessions name or may name soon: a
// person in a deleted role is shown in the core role.
func (r *run) unneeded(ctx context.Context, old []table.Item) ([]table.Item, error) {
	isRole := func(stored table.Item) bool { return item.KindOf(stored.Key) == participant.Kind }
	if r.event == 0 || !slices.ContainsFunc(old, isRole) {
		return old, nil
	}
	named, changing := map[string]bool{}, false
	for stored, err := range r.Table.Between(ctx, session.Of(r.org, r.event).Rows().Rows, "0", lastKey) {
		if err != nil {
			return nil, err
		}
		row, roles, err := session.DecodeRow(stored)
		if err != nil {
			return nil, err
		}
		for _, role := range roles {
			named[role] = true
		}
		changing = changing || row.Updated > r.now.Add(-quiet).UnixMilli()
	}
	return slices.DeleteFunc(old, func(stored table.Item) bool {
		_, id, _ := strings.Cut(stored.SK, "#")
		return isRole(stored) && (changing || named[id])
	}), nil
}

// setting removes a deleted setting, and the setting's share of the owner's settings
// version.
func (r *run) setting(ctx context.Context, at item.Place, stored table.Item) (done bool, err error) {
	kind, id, _ := strings.Cut(stored.SK, "#")
	record := r.record(ctx, kind, id, stored.Version)
	err = change.Commit(ctx, r.Table, table.Remove(stored.Key, stored.Version),
		table.BumpSettings(at.Owner(), -item.Counted(stored)), record.Write())
	return err == nil, err
}

// shrink reduces a deleted setting to the content that a deletion stores today. The version
// stays, since readers see no difference in the setting.
func (r *run) shrink(ctx context.Context, _ item.Place, stored table.Item) (done bool, err error) {
	data, err := remains(stored)
	if err != nil || len(data) >= len(stored.Data) {
		return false, err
	}
	is := table.Item{Key: stored.Key, Version: stored.Version, Data: data}
	err = r.Table.Transact(ctx, table.Replace(is, stored.Version))
	return err == nil, err
}

// remains returns the content to keep of a deleted setting. For an unknown kind, it returns
// the whole content.
func remains(stored table.Item) ([]byte, error) {
	switch kind := item.KindOf(stored.Key); {
	case kind == field.Kind:
		return remainsOf[field.Definition](stored)
	case kind == participant.Kind:
		return remainsOf[participant.Role](stored)
	case metadata.Kind(kind).Title() != "":
		return remainsOf[metadata.Entry](stored)
	}
	return stored.Data, nil
}

func remainsOf[R any, P item.Record[R]](stored table.Item) ([]byte, error) {
	r, err := item.Decode[R, P](stored)
	if err != nil {
		return nil, err
	}
	data, err := wire.Encode(r.Remains())
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", stored.SK, err)
	}
	return data, nil
}
