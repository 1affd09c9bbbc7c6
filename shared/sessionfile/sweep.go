package sessionfile

import (
	"context"
	"slices"

	"lectern/shared/record"
	"lectern/shared/session"
	"lectern/shared/table"
)

// Sweep removes bytes that no file has any more.
type Sweep struct {
	Table *table.Table
	Place Place
	// Remove removes an object from the store of bytes. A missing object is no error.
	Remove func(ctx context.Context, key string) error
}

// Look looks at the bytes of a Due, and then removes the Due. Bytes of a file stay. An upload that has
// not ended by then ends first, so that no request completes the upload of removed bytes. Look
// returns table.ErrStale for a session whose uploads change at the same time.
func (w Sweep) Look(ctx context.Context, due Due, key table.Key) (removed bool, err error) {
	got, err := w.Table.GetMany(ctx, []table.Key{w.Place.Body(due.Session), w.Place.Uploads(due.Session)})
	if err != nil {
		return false, err
	}
	if item, ok := got[w.Place.Body(due.Session)]; ok {
		b, err := session.Decode(item)
		if err != nil {
			return false, err
		}
		if b.FileOf(due.Bytes) != nil {
			return false, w.Table.Transact(ctx, table.Delete(key))
		}
	}
	if err := w.end(ctx, got[w.Place.Uploads(due.Session)], due); err != nil {
		return false, err
	}
	if err := w.Remove(ctx, w.Place.Object(due.Session, due.Bytes)); err != nil {
		return false, err
	}
	return true, w.Table.Transact(ctx, table.Delete(key))
}

// end ends the upload of bytes.
func (w Sweep) end(ctx context.Context, item table.Item, due Due) error {
	uploads, err := DecodeUploads(item)
	if err != nil {
		return err
	}
	is := func(u *Upload) bool { return u.Bytes == due.Bytes }
	if !slices.ContainsFunc(uploads.All, is) {
		return nil
	}
	uploads.All = slices.DeleteFunc(uploads.All, is)
	if len(uploads.All) == 0 {
		return w.Table.Transact(ctx, table.Remove(item.Key, item.Version))
	}
	next, err := record.Encode(item.Key, item.Version+1, uploads)
	if err != nil {
		return err
	}
	return w.Table.Transact(ctx, table.Replace(next, item.Version))
}
