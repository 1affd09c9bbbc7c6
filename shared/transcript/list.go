package transcript

import (
	"context"

	"lectern/shared/auth"
	"lectern/shared/page"
	"lectern/shared/session"
	"lectern/shared/table"
)

// Query selects a page of transcriptions.
type Query struct {
	Filter
	page.Query
	// Session selects one session of the event; empty for all.
	Session string
}

// OfSession returns a page of the transcriptions of a session; 404 without the session.
func (st *Store) OfSession(ctx context.Context, c *auth.Caller, q Query) (*page.List[*Transcription], error) {
	r := st.Reader(c)
	return Whole(ctx, func() (*page.List[*Transcription], error) {
		_, index, err := st.Session(ctx, c, q.Session)
		if err != nil {
			return nil, err
		}
		return r.page(ctx, []*Index{index}, q)
	})
}

// List returns a page of the transcriptions of the event's sessions: in the order of the
// sessions' creation, then of start and id.
func (st *Store) List(ctx context.Context, c *auth.Caller, q Query) (*page.List[*Transcription], error) {
	r := st.Reader(c)
	return Whole(ctx, func() (*page.List[*Transcription], error) {
		sessions, err := st.OfAll(ctx, c)
		if err != nil {
			return nil, err
		}
		all := make([]*Index, len(sessions))
		for i, s := range sessions {
			all[i] = s.Index
		}
		return r.page(ctx, all, q)
	})
}

// Session returns a session with the index of its transcriptions; 404 without the session.
func (st *Store) Session(ctx context.Context, c *auth.Caller, id string) (*session.Body, *Index, error) {
	p := place(c)
	got, err := st.Table.GetMany(ctx, []table.Key{p.Body(id), p.Index(id)})
	if err != nil {
		return nil, nil, err
	}
	body, err := p.Live(got, id)
	if err != nil {
		return nil, nil, err
	}
	index, err := DecodeIndex(id, got[p.Index(id)])
	return body, index, err
}

// Indexed is the row of a session with the index of its transcriptions.
type Indexed struct {
	*Index
	Row *session.Row
}

// OfAll returns the event's sessions with transcriptions, in the order of their creation, without
// deleted sessions.
func (st *Store) OfAll(ctx context.Context, c *auth.Caller) (all []Indexed, err error) {
	items := map[string]table.Item{}
	for item, err := range st.Table.Between(ctx, place(c).Indexes(), "0", lastKey) {
		if err != nil {
			return nil, err
		}
		items[item.SK] = item
	}
	if len(items) == 0 {
		return nil, nil
	}
	view, err := st.Sessions.View(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, row := range view.All() {
		item, ok := items[row.ID]
		if !ok || row.Deleted != 0 {
			continue
		}
		index, err := DecodeIndex(row.ID, item)
		if err != nil {
			return nil, err
		}
		all = append(all, Indexed{index, row})
	}
	return all, nil
}

// page returns a page of the transcriptions of sessions. The counts of the indexes name the
// segments of the page, so no other segment is read.
func (r *Reader) page(ctx context.Context, all []*Index, q Query) (*page.List[*Transcription], error) {
	var segments []wanted
	first, total := q.Offset(), 0
	for _, index := range all {
		if q.Session != "" && index.Session != q.Session {
			continue
		}
		for _, s := range index.Segments {
			count := s.CountOf(q.Filter)
			if count > 0 && total+count > q.Offset() && total < q.Offset()+q.PageSize {
				if len(segments) == 0 {
					first = q.Offset() - total
				}
				segments = append(segments, wanted{index.Session, s})
			}
			total += count
		}
	}
	found, err := r.segments(ctx, segments)
	if err != nil {
		return nil, err
	}
	var results []*Transcription
	for _, segment := range found {
		results = append(results, selected(segment, q.Filter)...)
	}
	first = min(first, len(results))
	return page.NewList(q.Query, total, results[first:min(first+q.PageSize, len(results))]), nil
}
