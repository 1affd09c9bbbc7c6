// Package transcripts checks the items of the transcriptions of an event against each other.
package transcripts

import (
	"encoding/json"
	"maps"
	"slices"

	"lectern/localstack/content/verify/raw"
	"lectern/shared/table"
	"lectern/shared/transcript"
)

// Items are the items of an event. Add the items in any order, then call Check.
type Items struct {
	place   transcript.Place
	problem func(format string, args ...any)
	// indexes are by session, segments by key, pointers by transcription.
	indexes  map[string]*transcript.Index
	segments map[table.Key]segment
	pointers map[string]transcript.Pointer
}

// segment is a stored segment of a session.
type segment struct {
	session string
	version int64
	all     []*transcript.Transcription
}

// New returns the items of an event. problem receives each problem.
func New(org, event int64, problem func(format string, args ...any)) *Items {
	return &Items{
		place: transcript.At(org, event), problem: problem, indexes: map[string]*transcript.Index{},
		segments: map[table.Key]segment{}, pointers: map[string]transcript.Pointer{},
	}
}

// AddIndex adds the index of a session.
func (i *Items) AddIndex(item raw.Item) {
	index := &transcript.Index{}
	if json.Unmarshal([]byte(item.Data), index) != nil {
		i.problem("an index of transcriptions cannot be read")
		return
	}
	i.indexes[item.SK] = index
}

// AddSegment adds a segment of a session.
func (i *Items) AddSegment(session string, item raw.Item) {
	all, err := transcript.DecodeSegment(session, table.Item{Key: item.Key, Data: []byte(item.Data)})
	if err != nil {
		i.problem("a segment of transcriptions cannot be read")
		return
	}
	i.segments[item.Key] = segment{session, item.Version, all}
}

// AddPointer adds the place of a transcription.
func (i *Items) AddPointer(id string, item raw.Item) {
	pointer := transcript.Pointer{}
	if json.Unmarshal([]byte(item.Data), &pointer) != nil {
		i.problem("the place of a transcription cannot be read")
		return
	}
	i.pointers[id] = pointer
}

// Check compares the indexes with the sessions, segments and pointers, and calls each for every
// transcription. exists reports whether a session is there, deleted or not.
func (i *Items) Check(exists func(session string) bool, each func(*transcript.Transcription)) {
	for _, session := range slices.Sorted(maps.Keys(i.indexes)) {
		if !exists(session) {
			i.problem("session %s is not there and has transcriptions", session)
		}
		index := i.indexes[session]
		if !index.Ordered() {
			i.problem("the index of session %s has its segments in another order", session)
		}
		for _, s := range index.Segments {
			i.checkSegment(session, s, each)
		}
	}
	for _, s := range i.segments {
		i.problem("a segment of session %s is in no index", s.session)
	}
	for _, id := range slices.Sorted(maps.Keys(i.pointers)) {
		i.problem("transcription %s has a place and is not there", id)
	}
}

// checkSegment compares a segment with the index and with the pointers.
func (i *Items) checkSegment(session string, s transcript.Segment, each func(*transcript.Transcription)) {
	key := i.place.Segment(session, s.Number)
	stored, found := i.segments[key]
	delete(i.segments, key)
	if !found || stored.version != s.Version {
		i.problem("segment %d of session %s is not there in version %d", s.Number, session, s.Version)
		return
	}
	if !s.Describes(stored.all) {
		i.problem("the index of session %s does not describe the segment %d", session, s.Number)
	}
	for _, t := range stored.all {
		pointer, found := i.pointers[t.ID]
		delete(i.pointers, t.ID)
		if !found || pointer.Session != session || !transcript.SameStart(pointer.Start, t.StartTime) {
			i.problem("transcription %s is not where its place says", t.ID)
		}
		each(t)
	}
}
