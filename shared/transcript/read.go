package transcript

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/table"
)

// errTorn reports that a segment is of another write than the index.
var errTorn = errors.New("transcript: a segment changed while it was read")

// reads are the tries of a reader while writes change the segments.
var reads = table.Retry{Tries: 12, First: 2 * time.Millisecond, Max: 100 * time.Millisecond}

// Reader reads segments of an event, each version once.
type Reader struct {
	table *table.Table
	place Place
	known map[table.Key]read
}

// read is a segment that was read.
type read struct {
	version int64
	all     []*Transcription
}

// Reader returns a Reader of the caller's event, for one request.
func (st *Store) Reader(c *auth.Caller) *Reader {
	return &Reader{st.Table, place(c), map[table.Key]read{}}
}

// wanted is a segment of a session.
type wanted struct {
	session string
	Segment
}

// segments reads segments together, in the versions that their indexes say. It returns errTorn
// if a segment has another version by then.
func (r *Reader) segments(ctx context.Context, all []wanted) ([][]*Transcription, error) {
	var missing []table.Key
	for _, w := range all {
		if key := r.place.Segment(w.session, w.Number); r.known[key].version != w.Version {
			missing = append(missing, key)
		}
	}
	items, err := r.table.GetMany(ctx, missing)
	if err != nil {
		return nil, err
	}
	found := make([][]*Transcription, len(all))
	for i, w := range all {
		key := r.place.Segment(w.session, w.Number)
		if item, ok := items[key]; ok {
			decoded, err := DecodeSegment(w.session, item)
			if err != nil {
				return nil, err
			}
			r.known[key] = read{item.Version, decoded}
		}
		if r.known[key].version != w.Version {
			return nil, errTorn
		}
		found[i] = r.known[key].all
	}
	return found, nil
}

// at returns the transcription at a position of a session, which a pointer names.
func (r *Reader) at(ctx context.Context, index *Index, at position) (*Transcription, error) {
	i := index.find(at)
	if i < 0 {
		return nil, errTorn
	}
	found, err := r.segments(ctx, []wanted{{index.Session, index.Segments[i]}})
	if err != nil {
		return nil, err
	}
	if n, ok := search(found[0], at); ok {
		return found[0][n], nil
	}
	return nil, errTorn
}

// Texts returns the transcriptions of indexes that a filter selects, in their order. It reads no
// segment without any.
func (r *Reader) Texts(ctx context.Context, indexes []*Index, f Filter) ([][]*Transcription, error) {
	var all []wanted
	var of []int
	for i, index := range indexes {
		for _, s := range index.Segments {
			if s.CountOf(f) > 0 {
				all, of = append(all, wanted{index.Session, s}), append(of, i)
			}
		}
	}
	found, err := r.segments(ctx, all)
	if err != nil {
		return nil, err
	}
	texts := make([][]*Transcription, len(indexes))
	for n, segment := range found {
		texts[of[n]] = append(texts[of[n]], selected(segment, f)...)
	}
	return texts, nil
}

// Whole calls read until it meets no write: a read of indexes with their segments, by one Reader.
func Whole[T any](ctx context.Context, read func() (T, error)) (answer T, err error) {
	for _, ended := range reads.Each(ctx) {
		if ended != nil {
			return answer, ended
		}
		if answer, err = read(); !errors.Is(err, errTorn) {
			return answer, err
		}
	}
	return answer, fmt.Errorf("%w: %w", err, apierr.Unavailable())
}

// selected returns the transcriptions of a segment that a filter selects.
func selected(all []*Transcription, f Filter) []*Transcription {
	return slices.DeleteFunc(slices.Clone(all), func(t *Transcription) bool { return !f.selects(t.class()) })
}
