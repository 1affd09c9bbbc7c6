package upload

import (
	"cmp"
	"context"
	"slices"

	"lectern/shared/record"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Collection is the records of a kind that a session has.
type Collection[R any, P Record[R]] struct {
	Store
	kind    *Kind[R, P]
	place   Place
	session string
	// stored reports whether a deleted session counts as there.
	stored bool
}

// Stored returns the records also of a deleted session.
func (c Collection[R, P]) Stored() Collection[R, P] {
	c.stored = true
	return c
}

// there returns the 404 of a session that is missing, or is deleted unless the collection is Stored.
func (c Collection[R, P]) there(got write.Items) (err error) {
	if c.stored {
		_, err = c.place.Stored(got, c.session)
		return err
	}
	_, err = c.place.Live(got, c.session)
	return err
}

// New returns a new record of an upload in one request that is open for the Life of the kind. Create
// stores the record.
func (c Collection[R, P]) New(name, contentType string, size int64) P {
	r, id, now := P(new(R)), c.NewID(), wire.At(c.Now())
	ends := wire.At(now.Add(c.kind.Life))
	*r.upload() = Upload{
		ID: id, SessionID: c.session, Object: c.place.Object(c.kind.Folder, c.session, id),
		Name: name, Type: contentType, Size: size, Ends: &ends, CreatedAt: now, UpdatedAt: now, version: 1,
	}
	return r
}

// Session returns the 404 of a session that is missing or deleted.
func (c Collection[R, P]) Session(ctx context.Context) error {
	got, err := c.Table.GetMany(ctx, []table.Key{c.place.Body(c.session)})
	if err == nil {
		err = c.there(got)
	}
	return err
}

// Create stores a record of New; 404 without the session.
func (c Collection[R, P]) Create(ctx context.Context, r P) (P, error) {
	return write.Run[P](ctx, c.Table, &operation[R, P]{Collection: c, id: r.RecordID(), fresh: r})
}

// Replayed returns the record that an earlier request under the Idempotency-Key wrote; nil without
// one.
func (c Collection[R, P]) Replayed(ctx context.Context) (P, error) {
	id := write.Ref(ctx)
	if id == "" {
		return nil, nil
	}
	got, err := c.Table.GetMany(ctx, []table.Key{c.Key(id)})
	if err != nil {
		return nil, err
	}
	return c.Find(got, id)
}

// Get returns a record; 404 without the session or the record.
func (c Collection[R, P]) Get(ctx context.Context, id string) (P, error) {
	got, err := c.Table.GetMany(ctx, []table.Key{c.place.Body(c.session), c.Key(id)})
	if err != nil {
		return nil, err
	}
	if err := c.there(got); err != nil {
		return nil, err
	}
	return c.Find(got, id)
}

// ByObject returns the record of an object; 404 as Get, and for an object of another session.
func (c Collection[R, P]) ByObject(ctx context.Context, object string) (P, error) {
	if id, ok := c.place.IDOf(c.kind.Folder, c.session, object); ok {
		return c.Get(ctx, id)
	}
	if err := c.Session(ctx); err != nil {
		return nil, err
	}
	return nil, c.kind.NotFound()
}

// List returns the records in the order of their creation; 404 without the session.
func (c Collection[R, P]) List(ctx context.Context) ([]P, error) {
	if err := c.Session(ctx); err != nil {
		return nil, err
	}
	var all []P
	pk, from, to := c.Range()
	for item, err := range c.Table.Between(ctx, pk, from, to) {
		if err != nil {
			return nil, err
		}
		r, err := Decode[R, P](item)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b P) int {
		x, y := a.upload(), b.upload()
		return cmp.Or(x.CreatedAt.Compare(y.CreatedAt.Time), cmp.Compare(x.ID, y.ID))
	})
	return all, nil
}

// Edit changes a record. Apply returns the verb of the change, for example completed; empty for a
// record that stays as it is. Apply may run several times, each time on a fresh record.
type Edit[P any] interface {
	Apply(P) (verb string, err error)
}

// Change changes a record and returns the next version; 404 as Get.
func (c Collection[R, P]) Change(ctx context.Context, id string, edit Edit[P]) (P, error) {
	return write.Run[P](ctx, c.Table, &operation[R, P]{Collection: c, id: id, edit: edit})
}

// Key returns the key of a record.
func (c Collection[R, P]) Key(id string) table.Key { return c.place.Key(c.session, c.kind.Name, id) }

// Range returns the partition of the records, and the keys before and after all of them.
func (c Collection[R, P]) Range() (pk, from, to string) {
	return c.place.Partition(), c.Key("").SK, c.Key(lastKey).SK
}

// Find returns a record from the read items; 404 without it.
func (c Collection[R, P]) Find(got write.Items, id string) (P, error) {
	item, ok := got[c.Key(id)]
	if !ok {
		return nil, c.kind.NotFound()
	}
	return Decode[R, P](item)
}

// Decode reads a stored record.
func Decode[R any, P Record[R]](item table.Item) (P, error) {
	r, err := record.Decode[R](item)
	if err != nil {
		return nil, err
	}
	P(r).upload().version = item.Version
	return r, nil
}

// DecodeAny reads the common part of a record of any kind.
func DecodeAny(item table.Item) (*Upload, error) {
	u, err := record.Decode[Upload](item)
	if err == nil {
		u.version = item.Version
	}
	return u, err
}
