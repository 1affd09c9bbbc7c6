package transcript

import (
	"context"
	"errors"
	"slices"

	"lectern/shared/table"
	"lectern/shared/wire"
)

// sheet changes the segments of a session in memory. It reads a segment when the segment is
// needed first, and returns table.ErrStale for a segment of another version than the index says.
type sheet struct {
	table *table.Table
	place Place
	index *Index
	// read has the transcriptions of the segments that were read, by number.
	read map[int][]*Transcription
	// was has the stored versions of the changed segments, 0 for a new one.
	was map[int]int64
}

func newSheet(t *table.Table, p Place, x *Index) *sheet {
	return &sheet{table: t, place: p, index: x, read: map[int][]*Transcription{}, was: map[int]int64{}}
}

// at returns the transcriptions of the segment at i of the index.
func (s *sheet) at(ctx context.Context, i int) ([]*Transcription, error) {
	segment := s.index.Segments[i]
	if all, ok := s.read[segment.Number]; ok {
		return all, nil
	}
	item, err := s.table.Get(ctx, s.place.Segment(s.index.Session, segment.Number))
	if errors.Is(err, table.ErrNotFound) || err == nil && item.Version != segment.Version {
		return nil, table.ErrStale
	}
	if err != nil {
		return nil, err
	}
	all, err := DecodeSegment(s.index.Session, item)
	s.read[segment.Number] = all
	return all, err
}

// get returns the transcription at a position; nil if there is none.
func (s *sheet) get(ctx context.Context, at position) (*Transcription, error) {
	i := s.index.find(at)
	if i < 0 {
		return nil, nil
	}
	all, err := s.at(ctx, i)
	if err != nil {
		return nil, err
	}
	if n, found := search(all, at); found {
		return all[n], nil
	}
	return nil, nil
}

// search returns the place of a position among transcriptions.
func search(all []*Transcription, at position) (n int, found bool) {
	return slices.BinarySearchFunc(all, at, func(t *Transcription, at position) int { return t.position().compare(at) })
}

// insert adds a transcription to the segment of its position. A full segment is divided; after
// the end of a full segment follows a new one, so that speech in its order fills the segments.
func (s *sheet) insert(ctx context.Context, t *Transcription) error {
	i := s.index.find(t.position())
	if i < 0 {
		s.add(0, []*Transcription{t})
		return nil
	}
	all, err := s.at(ctx, i)
	if err != nil {
		return err
	}
	n, _ := search(all, t.position())
	if len(all) < maxRecords && s.index.Segments[i].Bytes+t.bytes() <= maxSegmentBytes {
		s.set(i, slices.Insert(slices.Clone(all), n, t))
		return nil
	}
	if n == len(all) {
		s.add(i+1, []*Transcription{t})
		return nil
	}
	if half := len(all) / 2; n <= half {
		s.add(i+1, all[half:])
		s.set(i, slices.Insert(slices.Clone(all[:half]), n, t))
	} else {
		s.add(i+1, slices.Insert(slices.Clone(all[half:]), n-half, t))
		s.set(i, all[:half])
	}
	return nil
}

// update replaces a transcription by one of the same position. A transcription that its segment
// has no room for is inserted anew.
func (s *sheet) update(ctx context.Context, t *Transcription) error {
	i := s.index.find(t.position())
	all, err := s.at(ctx, i)
	if err != nil {
		return err
	}
	n, _ := search(all, t.position())
	all = slices.Clone(all)
	grown := s.index.Segments[i].Bytes - all[n].bytes() + t.bytes()
	if grown > maxSegmentBytes && len(all) > 1 {
		if err := s.remove(ctx, t.position()); err != nil {
			return err
		}
		return s.insert(ctx, t)
	}
	all[n] = t
	s.set(i, all)
	return nil
}

// remove takes a transcription out of its segment, and joins the segment with a neighbour if
// both are small.
func (s *sheet) remove(ctx context.Context, at position) error {
	i := s.index.find(at)
	all, err := s.at(ctx, i)
	if err != nil {
		return err
	}
	n, _ := search(all, at)
	if s.set(i, slices.Delete(slices.Clone(all), n, n+1)); len(all) == 1 {
		return nil
	}
	for _, left := range []int{i, i - 1} {
		if joined, err := s.join(ctx, left); joined || err != nil {
			return err
		}
	}
	return nil
}

// join joins the segment at i with the next one, and reports whether both were small enough.
func (s *sheet) join(ctx context.Context, i int) (bool, error) {
	if i < 0 || i+1 >= len(s.index.Segments) {
		return false, nil
	}
	a, b := s.index.Segments[i], s.index.Segments[i+1]
	if a.total()+b.total() > maxRecords/2 || a.Bytes+b.Bytes > maxSegmentBytes/2 {
		return false, nil
	}
	first, err := s.at(ctx, i)
	if err != nil {
		return false, err
	}
	second, err := s.at(ctx, i+1)
	if err != nil {
		return false, err
	}
	s.set(i+1, nil)
	s.set(i, slices.Concat(first, second))
	return true, nil
}

// add puts a new segment at i of the index.
func (s *sheet) add(i int, all []*Transcription) {
	s.index.Segments = slices.Insert(s.index.Segments, i, Segment{Number: s.index.Next})
	s.index.Next++
	s.set(i, all)
}

// set replaces the transcriptions of the segment at i. A segment without any leaves the index.
func (s *sheet) set(i int, all []*Transcription) {
	segment := &s.index.Segments[i]
	if _, changed := s.was[segment.Number]; !changed {
		s.was[segment.Number] = segment.Version
		segment.Version++
	}
	s.read[segment.Number] = all
	if len(all) == 0 {
		s.index.Segments = slices.Delete(s.index.Segments, i, i+1)
		return
	}
	segment.From, segment.Bytes, segment.Counts = all[0].position(), 0, map[string]int{}
	for _, t := range all {
		segment.Bytes += t.bytes()
		segment.Counts[t.class()]++
	}
}

// writes returns the writes of the changed segments and of the index, for a write at a time.
func (s *sheet) writes(at wire.Time) (writes []table.Write, err error) {
	for number, was := range s.was {
		key, all := s.place.Segment(s.index.Session, number), s.read[number]
		if len(all) == 0 {
			if was > 0 {
				writes = append(writes, table.Remove(key, was))
			}
			continue
		}
		data, err := encodeSegment(all)
		if err != nil {
			return nil, err
		}
		writes = append(writes, versioned(table.Item{Key: key, Data: data}, was))
	}
	if at.After(s.index.UpdatedAt.Time) {
		s.index.UpdatedAt = at
	}
	data, err := wire.Encode(s.index)
	if err != nil {
		return nil, err
	}
	return append(writes, versioned(table.Item{Key: s.place.Index(s.index.Session), Data: data}, s.index.Version)), nil
}

// versioned returns the write of the next version of an item.
func versioned(item table.Item, was int64) table.Write {
	item.Version = was + 1
	if was == 0 {
		return table.Insert(item)
	}
	return table.Replace(item, was)
}
