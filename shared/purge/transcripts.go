package purge

import (
	"context"
	"errors"

	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/transcript"
)

// orphans returns the purged sessions of which an interrupted purge left transcriptions. rows has
// the ids of the sessions that were there after the indexes were read.
func orphans(indexes map[string]table.Item, rows map[string]bool) (ids []string) {
	for id := range indexes {
		if !rows[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// sessionWithTexts purges a session, and then its transcriptions.
func (r *run) sessionWithTexts(ctx context.Context, id string) (done bool, err error) {
	if done, err = r.session(ctx, id); !done || err != nil {
		return done, err
	}
	return true, r.transcripts(ctx, id)
}

// orphan removes what an interrupted purge left of a session. A session with a body is none: some damage
// has removed its row alone.
func (r *run) orphan(ctx context.Context, id string) (done bool, err error) {
	if gone, err := r.gone(ctx, id); !gone || err != nil {
		return false, err
	}
	err = r.transcripts(ctx, id)
	return err == nil, err
}

// gone reports whether a session has no body.
func (r *run) gone(ctx context.Context, id string) (bool, error) {
	_, err := r.Table.Get(ctx, session.Of(r.org, r.event).Body(id))
	if errors.Is(err, table.ErrNotFound) {
		return true, nil
	}
	return false, err
}

// transcripts removes the transcriptions of a purged session: the pointers and segments, and the
// index last, since the index leads the next call back to an interrupted purge.
func (r *run) transcripts(ctx context.Context, session string) error {
	place := transcript.At(r.org, r.event)
	item, err := r.Table.Get(ctx, place.Index(session))
	if errors.Is(err, table.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	index, err := transcript.DecodeIndex(session, item)
	if err != nil {
		return err
	}
	for _, s := range index.Segments {
		segment, err := r.Table.Get(ctx, place.Segment(session, s.Number))
		if errors.Is(err, table.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		all, err := transcript.DecodeSegment(session, segment)
		if err != nil {
			return err
		}
		var pointers []table.Write
		for _, t := range all {
			pointers = append(pointers, table.Delete(place.Pointer(t.ID)))
		}
		if err := r.drop(ctx, pointers); err != nil {
			return err
		}
		if err := r.drop(ctx, []table.Write{table.Delete(segment.Key)}); err != nil {
			return err
		}
	}
	return r.drop(ctx, []table.Write{table.Delete(item.Key)})
}
