package resource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lectern/shared/record"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Meta is the part of a stored record that is not shown.
type Meta struct {
	// Sequence is the number of the record's last published change.
	Sequence int64 `json:"sequence,omitempty"`
	// Unique is the value that the record holds, Parent the id of the owning record.
	Unique string `json:"unique,omitempty"`
	Parent string `json:"parent,omitempty"`
	// Sums are what the record adds to others.
	Sums []Sum `json:"sums,omitempty"`
	// Hidden is the JSON that the kind keeps and never shows, see Header.Hide.
	Hidden json.RawMessage `json:"hidden,omitempty"`
}

func (m Meta) isZero() bool {
	return m.Sequence == 0 && m.Unique == "" && m.Parent == "" && m.Sums == nil && m.Hidden == nil
}

// Stored is the part of a stored record that all kinds have.
type Stored struct {
	ID        string     `json:"id"`
	UpdatedAt wire.Time  `json:"updated_at"`
	DeletedAt *wire.Time `json:"deleted_at"`
	Meta      Meta       `json:"_"`
}

// KindOf returns the kind and the id in the sort key of a record or a number, and reports
// whether the record is deleted.
func KindOf(key table.Key) (kind, id string, gone bool) {
	letter, rest, _ := strings.Cut(key.SK, "#")
	kind, id, _ = strings.Cut(rest, "#")
	return kind, id, letter+"#" == deleted
}

// Range returns the first and the last sort key of an owner's deleted records.
func Range() (from, to string) { return deleted, deleted + last }

// prefix begins the JSON of a record with a Meta.
const prefix = `{"_":`

// encode returns the item of a record. The JSON begins with the Meta, if the record has
// any.
func encode[R any, P Record[R]](key table.Key, r P) (table.Item, error) {
	h := r.header()
	item, err := record.Encode(key, h.version, r)
	if err == nil && !h.meta.isZero() {
		var hidden []byte
		hidden, err = wire.Encode(h.meta)
		item.Data = slices.Concat([]byte(prefix), hidden, []byte(","), bytes.TrimPrefix(item.Data, []byte("{")))
	}
	return item, err
}

func decode[R any, P Record[R]](from table.Item) (P, error) {
	r, err := record.Decode[R](from)
	if err != nil {
		return nil, err
	}
	h := P(r).header()
	h.version = from.Version
	if bytes.HasPrefix(from.Data, []byte(prefix)) {
		var all *Stored
		if all, err = record.Decode[Stored](from); err == nil {
			h.meta = all.Meta
		}
	}
	return r, err
}

// Holder returns the id of the record that a unique value is held for; empty without such a record.
func (s Store) Holder(ctx context.Context, hold table.Key) (string, error) {
	stored, err := s.Table.Get(ctx, hold)
	if errors.Is(err, table.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	held, err := record.Decode[Stored](stored)
	if err != nil {
		return "", err
	}
	return held.ID, nil
}

// countOf returns the number in a stored count, 0 for a missing count.
func countOf(got write.Items, key table.Key) (number int, stored table.Item, err error) {
	stored, ok := got[key]
	if !ok {
		return 0, stored, nil
	}
	if number, err = strconv.Atoi(string(stored.Data)); err != nil {
		return 0, stored, fmt.Errorf("resource: decode %s: %w", key.SK, err)
	}
	return number, stored, nil
}
