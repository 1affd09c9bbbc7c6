package resource

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Collection is the records of a kind that an owner has.
type Collection[R any, P Record[R], D Draft[P]] struct {
	Store
	kind  *Kind[R, P, D]
	owner Owner
}

// Of returns the records of an owner.
func (k *Kind[R, P, D]) Of(s Store, o Owner) Collection[R, P, D] { return Collection[R, P, D]{s, k, o} }

func (c Collection[R, P, D]) key(id string) table.Key { return c.owner.Key(c.kind.Name, id) }

func (c Collection[R, P, D]) deletedKey(id string) table.Key {
	return c.owner.DeletedKey(c.kind.Name, id)
}

func (c Collection[R, P, D]) countKey() table.Key { return c.owner.CountKey(c.kind.Name) }

// Get returns a record: 404 when the record is missing or deleted.
func (c Collection[R, P, D]) Get(ctx context.Context, id string) (P, error) {
	key := c.key(id)
	got, err := c.Table.GetMany(ctx, append(c.kind.parentKeys(c.owner), key))
	if err != nil {
		return nil, err
	}
	if err := c.kind.checkParent(c.owner, Updated, got); err != nil {
		return nil, err
	}
	stored, ok := got[key]
	if !ok {
		return nil, c.kind.notFound()
	}
	return decode[R, P](stored)
}

// last follows all ids in a sort key.
const last = "~"

// List returns the records that are not deleted, in the order of their creation.
func (c Collection[R, P, D]) List(ctx context.Context) ([]P, error) {
	got, err := c.Table.GetMany(ctx, c.kind.parentKeys(c.owner))
	if err != nil {
		return nil, err
	}
	if err := c.kind.checkParent(c.owner, Updated, got); err != nil {
		return nil, err
	}
	all := []P{}
	for stored, err := range c.Table.Between(ctx, c.owner.Partition(), c.key("").SK, c.key(last).SK) {
		if err != nil {
			return nil, err
		}
		r, err := decode[R, P](stored)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b P) int {
		x, y := a.header(), b.header()
		return cmp.Or(x.CreatedAt.Compare(y.CreatedAt.Time), cmp.Compare(x.ID, y.ID))
	})
	return all, nil
}

// replay returns the record that an earlier request under the same Idempotency-Key wrote,
// in the current version, deleted or not; nil for a request that is not a repetition. It
// returns a 404 after the record is purged.
func (c Collection[R, P, D]) replay(ctx context.Context) (P, error) {
	id := write.Ref(ctx)
	if id == "" {
		return nil, nil
	}
	// Together, since a deletion moves the record between the keys.
	got, err := c.Table.Together(ctx, []table.Key{c.key(id), c.deletedKey(id)})
	if err != nil {
		return nil, err
	}
	for _, stored := range got {
		return decode[R, P](stored)
	}
	return nil, c.kind.notFound()
}

// maxBytes bounds the JSON of a record, so that the largest list of a kind without pages is
// below the 5 MB of an answer.
const maxBytes = 24 << 10

// apply writes a draft into a record. It returns the 400 of a draft that breaks a rule, and
// of a record that gets too long.
func (c Collection[R, P, D]) apply(draft D, e Edit[P]) error {
	if err := draft.Apply(e); err != nil {
		return err
	}
	data, err := wire.Encode(e.Record)
	if err == nil && len(data) > maxBytes {
		return apierr.Invalid("", "The %s must not be longer than %d bytes of JSON.", strings.ToLower(c.kind.Title), maxBytes)
	}
	return err
}

// run does an operation and returns the answer.
func run[P any](ctx context.Context, t *table.Table, op write.Op) (answer P, err error) {
	got, err := write.Run(ctx, t, op)
	if err != nil {
		return answer, err
	}
	return got.(P), nil
}

// limit returns the 409 of an owner that has as many records as it may have.
func (c Collection[R, P, D]) limit(most int) error {
	return apierr.LimitReached(c.kind.Many, int64(most),
		fmt.Sprintf("There are %d %s already, which is the limit. Delete some first.", most, c.kind.Many))
}
