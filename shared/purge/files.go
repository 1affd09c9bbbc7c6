package purge

import (
	"context"

	"lectern/shared/session"
	"lectern/shared/sessionfile"
	"lectern/shared/table"
)

// Files removes bytes that no file of an event has any more: of deleted and replaced files, of uploads
// that were not completed, and of purged sessions.
func (s Store) Files(ctx context.Context, org, event int64) error {
	return s.run(org, event).files(ctx)
}

func (r *run) files(ctx context.Context) error {
	place := sessionfile.At(r.org, r.event)
	var due []string
	of := map[string]sessionfile.Due{}
	for item, err := range r.Table.Between(ctx, place.DuePartition(), "0", sessionfile.DueBound(r.now)) {
		if err != nil {
			return err
		}
		if of[item.SK], err = sessionfile.DecodeDue(item); err != nil {
			return err
		}
		due = append(due, item.SK)
	}
	sweep := sessionfile.Sweep{Table: r.Table, Place: place, Remove: r.RemoveBytes}
	return r.each(ctx, due, &r.Counts.Files, func(ctx context.Context, sk string) (bool, error) {
		return sweep.Look(ctx, of[sk], table.Key{PK: place.DuePartition(), SK: sk})
	})
}

// leaveBytes has the next sweep remove the bytes of a session that is about to be purged. If the purge is
// interrupted before, the sweep finds the files and leaves the bytes.
func (r *run) leaveBytes(ctx context.Context, b *session.Body) error {
	place := sessionfile.At(r.org, r.event)
	var writes []table.Write
	for _, f := range b.Content {
		writes = append(writes, sessionfile.Due{Session: b.ID, Bytes: f.Bytes, File: f.ID}.Write(place, r.now))
	}
	return r.drop(ctx, writes)
}
