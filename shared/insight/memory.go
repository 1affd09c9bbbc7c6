package insight

import (
	"lectern/shared/api"
	"lectern/shared/catalogue"
	"lectern/shared/field"
	"lectern/shared/lru"
	"lectern/shared/session"
)

const (
	// maxMemory bounds the memory for the short parts of sessions, in bytes: about 60,000 sessions.
	maxMemory = 64 << 20
	// longest is how many bytes a text has that the memory keeps: those of 255 characters, the most of a short text.
	longest = 4 * 255
)

// memory keeps sessions without their long texts. A session serves a row of the same version alone.
type memory struct {
	events *lru.Cache[catalogue.Source, shortened]
}

// shortened are sessions by id. Requests share them, so they never change.
type shortened map[string]*session.Body

// kept has the sessions that a request has read, as far as the memory could keep them.
type kept struct {
	all   shortened
	bytes int64
}

// add adds a session without its long texts.
func (s *kept) add(b *session.Body) {
	if s.bytes < maxMemory {
		short := shorten(b)
		s.all[b.ID] = short
		s.bytes += sizeOf(short)
	}
}

func newMemory(api.Env) *memory { return &memory{lru.New[catalogue.Source, shortened](maxMemory)} }

// keep adds sessions of an event to those that are there, without those that are deleted now, as far as the memory has room.
func (m *memory) keep(src catalogue.Source, now *catalogue.View[session.Row], known, added shortened) {
	if len(added) == 0 {
		return
	}
	all, bytes := make(shortened, len(known)+len(added)), int64(0)
	for _, some := range []shortened{added, known} {
		for id, b := range some {
			row, there := now.Get(id)
			if !there || row.Deleted != 0 || all[id] != nil || bytes > maxMemory {
				continue
			}
			all[id] = b
			bytes += sizeOf(b)
		}
	}
	m.events.Put(src, all, bytes)
}

// sizeOf estimates the memory of a session without long texts, in bytes.
func sizeOf(b *session.Body) int64 {
	bytes := 800 + 200*len(b.Participants) + 300*len(b.Content) + 50*len(b.TagIDs)
	for _, v := range b.CustomFields {
		bytes += 100 + bytesOf(v.V)
	}
	return int64(bytes)
}

// bytesOf estimates the memory of the value of a custom field.
func bytesOf(v any) (bytes int) {
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		for _, one := range v {
			bytes += 16 + bytesOf(one)
		}
	}
	return bytes
}

// shorten returns a session without long texts.
func shorten(b *session.Body) *session.Body {
	short := *b
	short.Description, short.Translations, short.Withdrawn, short.CustomFields = nil, nil, nil, nil
	for id, v := range b.CustomFields {
		if text, ok := v.V.(string); ok && len(text) > longest {
			continue
		}
		if short.CustomFields == nil {
			short.CustomFields = map[string]field.Value{}
		}
		short.CustomFields[id] = v
	}
	return &short
}
