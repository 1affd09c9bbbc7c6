package transcript

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lectern/shared/table"
	"lectern/shared/wire"
)

// The limits of a segment. A full segment is divided, or followed by a new one. Two neighbours
// that are together no larger than half a full segment are joined.
const (
	maxRecords      = 200
	maxSegmentBytes = 200 << 10
)

// Index lists the segments of a session, in the order of their positions.
type Index struct {
	Segments []Segment `json:"segments"`
	// Next is the number of the next new segment. Numbers are not used again.
	Next int `json:"next"`
	// Imported has the numbers of texts that were stored of each source (Import). A text that is
	// deleted later still counts.
	Imported map[string]int `json:"imported,omitempty"`
	// Reserved is the room for the texts of each source that are not stored yet.
	Reserved map[string]Room `json:"reserved,omitempty"`
	// UpdatedAt is the time of the last write.
	UpdatedAt wire.Time `json:"updated_at"`
	// Session is the session's id, and Version the item's version; 0 for a session without an
	// index.
	Session string `json:"-"`
	Version int64  `json:"-"`
}

// Room is a number of texts, and their length in JSON.
type Room struct {
	Texts int `json:"texts"`
	Bytes int `json:"bytes"`
}

// Segment describes a segment.
type Segment struct {
	Number int `json:"n"`
	// Version is the version of the item. A reader that finds another version reads the index
	// again.
	Version int64 `json:"v"`
	// From is the position of the first transcription.
	From position `json:"from"`
	// Bytes is the length of the transcriptions in JSON.
	Bytes int `json:"bytes"`
	// Counts are the numbers of transcriptions by class.
	Counts map[string]int `json:"counts"`
}

// DecodeIndex reads the index of a session. It returns an empty index for a missing item.
func DecodeIndex(session string, item table.Item) (*Index, error) {
	x := &Index{}
	if item.Version > 0 {
		if err := json.Unmarshal(item.Data, x); err != nil {
			return nil, fmt.Errorf("transcript: decode the index of %s: %w", session, err)
		}
	}
	x.Session, x.Version = session, item.Version
	return x, nil
}

// class returns the class of a transcription: type, language in lower case, and a mark of a
// partial text. Every filter of a list selects whole classes.
func (t *Transcription) class() string {
	lang, partial := "", ""
	if t.LanguageCode != nil {
		lang = strings.ToLower(*t.LanguageCode)
	}
	if t.IsPartial {
		partial = "p"
	}
	return string(t.Type) + "," + lang + "," + partial
}

// Filter selects transcriptions by class. The zero Filter selects all that are not partial.
type Filter struct {
	// Types lists the types; empty for all.
	Types []Type
	// Language is the language code, whatever its case; empty for all.
	Language string
	// Partial also selects partial texts.
	Partial bool
}

// Of returns the filter of one type; of all types for an empty type.
func (f Filter) Of(t Type) Filter {
	if t != "" {
		f.Types = []Type{t}
	}
	return f
}

func (f Filter) selects(class string) bool {
	parts := strings.Split(class, ",")
	return (len(f.Types) == 0 || slices.Contains(f.Types, Type(parts[0]))) &&
		(f.Language == "" || strings.EqualFold(f.Language, parts[1])) && (f.Partial || parts[2] == "")
}

// CountOf returns the number of the segment's transcriptions that the filter selects.
func (s Segment) CountOf(f Filter) (n int) {
	for class, count := range s.Counts {
		if f.selects(class) {
			n += count
		}
	}
	return n
}

// total returns the number of the segment's transcriptions.
func (s Segment) total() (n int) {
	for _, count := range s.Counts {
		n += count
	}
	return n
}

// Count returns the number of the session's transcriptions that the filter selects.
func (x *Index) Count(f Filter) (n int) {
	for _, s := range x.Segments {
		n += s.CountOf(f)
	}
	return n
}

// Select returns the segments with transcriptions that the filter selects.
func (x *Index) Select(f Filter) (segments []Segment) {
	for _, s := range x.Segments {
		if s.CountOf(f) > 0 {
			segments = append(segments, s)
		}
	}
	return segments
}

// Bytes returns the length of the session's transcriptions in JSON.
func (x *Index) Bytes() (bytes int) {
	for _, s := range x.Segments {
		bytes += s.Bytes
	}
	return bytes
}

// Describes reports whether the segment says what its transcriptions are, in their order.
func (s Segment) Describes(all []*Transcription) bool {
	counts, bytes := map[string]int{}, 0
	for _, t := range all {
		counts[t.class()]++
		bytes += t.bytes()
	}
	return len(all) > 0 && slices.IsSortedFunc(all, byPosition) && s.From.compare(all[0].position()) == 0 &&
		s.Bytes == bytes && maps.Equal(s.Counts, counts)
}

// Ordered reports whether the segments are in order, with numbers that were given.
func (x *Index) Ordered() bool {
	last := position{}
	for i, s := range x.Segments {
		if s.Number >= x.Next || i > 0 && last.compare(s.From) >= 0 {
			return false
		}
		last = s.From
	}
	return true
}

// SameStart reports whether two transcriptions start at the same time, or both at none.
func SameStart(a, b *float64) bool { return position{Start: a}.compare(position{Start: b}) == 0 }

// languages returns the languages of the session's transcriptions.
func (x *Index) languages() map[string]bool {
	all := map[string]bool{}
	for _, s := range x.Segments {
		for class := range s.Counts {
			all[languageOf(class)] = true
		}
	}
	return all
}

// languageOf returns the language code in a class.
func languageOf(class string) string { return strings.Split(class, ",")[1] }

// find returns the index of the segment that has or would take the position; -1 without
// segments.
func (x *Index) find(at position) int {
	i, found := slices.BinarySearchFunc(x.Segments, at, func(s Segment, at position) int { return s.From.compare(at) })
	if !found {
		i = max(i-1, 0)
	}
	return min(i, len(x.Segments)-1)
}
