package purge

import (
	"context"
	"strings"

	"lectern/shared/blob"
	"lectern/shared/change"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/upload"
)

// over is an upload that may be removed, with its item.
type over struct {
	*upload.Upload
	item table.Item
}

// uploads removes the uploads of the event that have ended, and those of purged sessions, with their
// bytes.
func (r *run) uploads(ctx context.Context) error {
	// The uploads are read before the rows: then a new session is among the rows.
	var all []over
	for item, err := range r.Table.Between(ctx, upload.At(r.org, r.event).Partition(), "0", lastKey) {
		if err != nil {
			return err
		}
		u, err := upload.DecodeAny(item)
		if err != nil {
			return err
		}
		all = append(all, over{u, table.Item{Key: item.Key, Version: item.Version}})
	}
	if len(all) == 0 {
		return nil
	}
	rows, err := r.Table.Versions(ctx, session.Of(r.org, r.event).Rows().Rows, "0", lastKey)
	if err != nil {
		return err
	}
	sessions := map[string]bool{}
	for key := range rows {
		_, id, _ := strings.Cut(key, "#") // The shard comes before the id.
		sessions[id] = true
	}
	ids, by := []string{}, map[string]over{}
	for _, u := range all {
		if !sessions[u.SessionID] || r.ended(u) {
			ids, by[u.ID] = append(ids, u.ID), u
		}
	}
	return r.each(ctx, ids, &r.Counts.Uploads, func(ctx context.Context, id string) (bool, error) { return r.upload(ctx, by[id]) })
}

// ended reports whether the upload has ended, and requests that began before are done.
func (r *run) ended(u over) bool { return u.Ends != nil && u.Ends.Before(r.now.Add(-upload.Grace)) }

// upload removes the bytes of an upload, and then its record, which leads the next call back to an
// interrupted removal. Nothing opens an ended upload again. Before its end, an upload is removed only after
// the session's body: a row alone may be missing by some damage.
func (r *run) upload(ctx context.Context, u over) (done bool, err error) {
	if !r.ended(u) {
		if gone, err := r.gone(ctx, u.SessionID); !gone || err != nil {
			return false, err
		}
	}
	if u.Multipart != "" {
		if err := r.Blobs.Abort(ctx, blob.Multipart{Key: u.Object, ID: u.Multipart}); err != nil {
			return false, err
		}
	}
	if err := r.Blobs.Delete(ctx, u.Object); err != nil {
		return false, err
	}
	record := r.record(ctx, upload.KindOf(u.item.Key), u.ID, u.item.Version)
	err = change.Commit(ctx, r.Table, table.Remove(u.item.Key, u.item.Version), record.Write())
	return err == nil, err
}
