package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"lectern/shared/feed"
	"lectern/shared/table"
)

// Find returns the change record of an id from the feed; nil if there is none.
func Find(ctx context.Context, t *table.Table, org int64, id string) (*Record, error) {
	at, ok := feed.Time(id)
	if !ok {
		return nil, nil
	}
	item, err := t.Get(ctx, feed.Key(Root(org), id, at))
	if errors.Is(err, table.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return Decode(item)
}

// Decode reads a change record from its item.
func Decode(item table.Item) (*Record, error) {
	r := &Record{}
	if err := json.Unmarshal(item.Data, r); err != nil {
		return nil, fmt.Errorf("change: decode %s: %w", item.SK, err)
	}
	return r, nil
}

// Forget removes the values from the change records of a person in the partition pk. The names of
// the fields stay.
func Forget(ctx context.Context, t *table.Table, pk string) error {
	for item, err := range t.Between(ctx, pk, "H#", "H#~") {
		if err != nil {
			return err
		}
		r, err := Decode(item)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(r.Values, Value.told) {
			continue
		}
		r.Values = Named(r.Values)
		emptied := table.Item{Key: item.Key, Version: item.Version + 1, Data: encode(r)}
		if err := t.Transact(ctx, table.Put(emptied)); err != nil {
			return err
		}
	}
	return nil
}
