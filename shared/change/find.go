package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// Until names the change records in a partition up to that of the id Last.
type Until struct {
	Org      int64
	PK, Last string
}

// Forget removes the values from change records of a person. The names of the fields stay. An early release
// put the values into the feed, and a reference to them into the partition: its records have no nonce.
func Forget(ctx context.Context, t *table.Table, u Until) error {
	for item, err := range t.Between(ctx, u.PK, "H#", PersonalKey(u.PK, u.Last).SK) {
		if err != nil {
			return err
		}
		r, err := Decode(item)
		if err != nil {
			return err
		}
		if err := forget(ctx, t, item, r); err != nil {
			return err
		}
		if r.Nonce != "" {
			continue
		}
		if err := forgetEarly(ctx, t, u.Org, strings.TrimPrefix(item.SK, PersonalKey("", "").SK)); err != nil {
			return err
		}
	}
	return nil
}

// forgetEarly removes the values from the record of an id in the feed.
func forgetEarly(ctx context.Context, t *table.Table, org int64, id string) error {
	at, ok := feed.Time(id)
	if !ok {
		return nil
	}
	item, err := t.Get(ctx, feed.Key(Root(org), id, at))
	if errors.Is(err, table.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	r, err := Decode(item)
	if err != nil {
		return err
	}
	return forget(ctx, t, item, r)
}

// forget removes the values from the record of an item.
func forget(ctx context.Context, t *table.Table, item table.Item, r *Record) error {
	if !slices.ContainsFunc(r.Values, Value.told) {
		return nil
	}
	r.Values = Named(r.Values)
	item.Version, item.Data = item.Version+1, encode(r)
	return t.Transact(ctx, table.Put(item))
}
