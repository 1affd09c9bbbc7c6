package resource

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/page"
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
	if hidden, found := bytes.CutPrefix(from.Data, []byte(prefix)); found {
		err = json.NewDecoder(bytes.NewReader(hidden)).Decode(&h.meta) // The decoder ends with the Meta.
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

// last follows all ids in a sort key.
const last = "~"

// List returns the records that are not deleted, in the order of their creation or of the kind.
func (c Collection[R, P, D]) List(ctx context.Context) ([]P, error) { return c.Some(ctx, nil) }

// Some returns the records of List for which keep returns true.
func (c Collection[R, P, D]) Some(ctx context.Context, keep func(P) bool) ([]P, error) {
	all, err := c.load(ctx, keep)
	if err != nil {
		return nil, err
	}
	return all, c.complete(ctx, all...)
}

// Page returns a page of the records for which keep returns true; of all with nil. A page of a tree has the records directly
// below the one that the owner names, or those at the top.
func (c Collection[R, P, D]) Page(ctx context.Context, q page.Query, keep func(P) bool) (*page.Of[P], error) {
	if c.kind.Bytes > 0 {
		return c.pageOfLong(ctx, q, keep)
	}
	all, err := c.load(ctx, keep)
	if err != nil {
		return nil, err
	}
	if c.kind.Above != nil {
		if all, err = c.directly(all); err != nil {
			return nil, err
		}
	}
	part := page.Slice(q, all)
	return part, c.complete(ctx, part.Results...)
}

// pageOfLong is Page for long records: only the headers of all records are in memory, and the records of the page are read
// again.
func (c Collection[R, P, D]) pageOfLong(ctx context.Context, q page.Query, keep func(P) bool) (*page.Of[P], error) {
	headers := []P{}
	_, err := c.load(ctx, func(r P) bool {
		if keep == nil || keep(r) {
			short := P(new(R))
			short.header().ID, short.header().CreatedAt = r.RecordID(), r.header().CreatedAt
			headers = append(headers, short)
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(headers, c.kind.Compare)
	part := page.Slice(q, headers)
	keys := make([]table.Key, len(part.Results))
	for i, short := range part.Results {
		keys[i] = c.key(short.RecordID())
	}
	if part.Results, err = c.stored(ctx, keys); err != nil {
		return nil, err
	}
	if keep != nil {
		part.Results = slices.DeleteFunc(part.Results, func(r P) bool { return !keep(r) }) // Others may have changed it meanwhile.
	}
	return part, c.complete(ctx, part.Results...)
}

// stored returns the stored records of keys, without those that others have deleted meanwhile.
func (c Collection[R, P, D]) stored(ctx context.Context, keys []table.Key) ([]P, error) {
	got, err := c.Table.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	all := []P{}
	for _, key := range keys {
		if _, found := got[key]; found {
			r, err := decode[R, P](got[key])
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// load returns the records for which keep returns true, in the order of a list. It returns the 404 of a missing parent.
func (c Collection[R, P, D]) load(ctx context.Context, keep func(P) bool) ([]P, error) {
	got, err := c.Table.GetMany(ctx, c.parentKeys())
	if err != nil {
		return nil, err
	}
	if err := c.checkParent(record.Updated, got); err != nil {
		return nil, err
	}
	return c.read(ctx, keep)
}

// read does load without checking the parent.
func (c Collection[R, P, D]) read(ctx context.Context, keep func(P) bool) ([]P, error) {
	all := []P{}
	for stored, err := range c.Table.Between(ctx, c.owner.Partition(), c.key("").SK, c.key(last).SK) {
		if err != nil {
			return nil, err
		}
		r, err := decode[R, P](stored)
		r, err = c.finished(ctx, r, err)
		if apierr.IsNotFound(err) {
			continue // Others have deleted the record while Finish was at work.
		}
		if err != nil {
			return nil, err
		}
		if keep == nil || keep(r) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, c.kind.Compare)
	if c.kind.BuiltIn != nil {
		all = append(c.kind.BuiltIn(c.owner), all...)
	}
	return all, nil
}

// Compare compares the places of two records in a list.
func (k *Kind[R, P, D]) Compare(a, b P) int {
	order := 0
	if k.Order != nil {
		order = cmp.Compare(*k.Order(a), *k.Order(b))
	}
	x, y := a.header(), b.header()
	return cmp.Or(order, x.CreatedAt.Compare(y.CreatedAt.Time), cmp.Compare(x.ID, y.ID))
}
