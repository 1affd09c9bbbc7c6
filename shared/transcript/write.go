package transcript

import (
	"context"
	"encoding/json"
	"fmt"

	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// The limits of a session.
const (
	maxTotal      = 20_000
	maxTotalBytes = 16 << 20
	maxLanguages  = 100
)

// operation creates, updates or deletes the transcription of an id.
type operation struct {
	store *Store
	place Place
	// session and id name the transcription. The id of a new transcription is not used yet.
	session, id string
	// draft has the properties to write; nil for a deletion.
	draft *Draft
	isNew bool
	guard write.Guard
}

// Reads returns the keys of the session, the index, and the pointers to the transcription and
// to the source of a translation.
func (o *operation) Reads() []table.Key {
	keys := []table.Key{o.place.Body(o.session), o.place.Index(o.session)}
	if !o.isNew {
		keys = append(keys, o.place.Pointer(o.id))
	}
	if o.draft != nil && o.draft.SourceID.Has() {
		keys = append(keys, o.place.Pointer(o.draft.SourceID.Value))
	}
	return keys
}

// More returns no keys: Plan reads the segments, since the index names them.
func (o *operation) More(write.Items) []table.Key { return nil }

// Touches returns nil: no bulk has these operations.
func (o *operation) Touches(write.Items) []string { return nil }

// Plan changes the segments. The condition on the session's version refuses a write beside the
// deletion of the session.
func (o *operation) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	body, err := o.place.Live(got, o.session)
	if err != nil {
		return nil, err
	}
	index, err := DecodeIndex(o.session, got[o.place.Index(o.session)])
	if err != nil {
		return nil, err
	}
	s, size := newSheet(o.store.Table, o.place, index), sizeOf(index)
	before, err := o.before(ctx, s, got)
	if err != nil {
		return nil, err
	}
	after, err := o.after(ctx, s, before, got)
	if err != nil {
		return nil, err
	}
	if err := replace(ctx, s, before, after); err != nil {
		return nil, err
	}
	if err := size.check(sizeOf(index), o.store.most()); err != nil {
		return nil, err
	}
	record := o.record(ctx, before, after)
	writes, err := s.writes(record.At)
	if err != nil {
		return nil, err
	}
	writes = append(writes, table.Version(o.place.Body(o.session), body.Version), record.Write())
	writes = append(writes, o.pointer(before, after, got)...)
	if after == nil {
		after = before
	}
	return &write.Plan{Writes: writes, Answer: after}, nil
}

// before returns the stored transcription; nil for a new one, 404 if the session has none of
// the id.
func (o *operation) before(ctx context.Context, s *sheet, got write.Items) (*Transcription, error) {
	if o.isNew {
		return nil, nil
	}
	found, err := o.find(ctx, s, got, o.id)
	if err == nil && found == nil {
		err = NotFound()
	}
	return found, err
}

// find returns the session's transcription of an id; nil if the session has none.
func (o *operation) find(ctx context.Context, s *sheet, got write.Items, id string) (*Transcription, error) {
	at, ok, err := decodePointer(got[o.place.Pointer(id)])
	if err != nil || !ok || at.Session != o.session {
		return nil, err
	}
	found, err := s.get(ctx, position{at.Start, id})
	if err == nil && found == nil {
		err = table.ErrStale // The pointer is of another write than the index.
	}
	return found, err
}

// after returns the next version of the transcription; nil for a deletion.
func (o *operation) after(ctx context.Context, s *sheet, before *Transcription, got write.Items) (*Transcription, error) {
	if o.draft == nil {
		if err := o.guard.Check(before.Version, before.UpdatedAt); err != nil {
			return nil, err
		}
		return nil, unused(ctx, s, before)
	}
	now := wire.At(o.store.Now())
	next := Transcription{ID: o.id, SessionID: o.session, CreatedAt: now, UpdatedAt: now}
	if before != nil {
		next = *before
		next.UpdatedAt = wire.After(before.UpdatedAt, now.Time)
	}
	next.Version++
	if err := o.draft.apply(&next); err != nil {
		return nil, err
	}
	if o.draft.SourceID.Has() {
		source, err := o.find(ctx, s, got, o.draft.SourceID.Value)
		if err == nil {
			err = checkSource(source)
		}
		if err != nil {
			return nil, err
		}
	}
	if before != nil {
		return &next, o.guard.Check(before.Version, before.UpdatedAt)
	}
	return &next, nil
}

// unused returns the 409 of a transcription with translations.
func unused(ctx context.Context, s *sheet, t *Transcription) error {
	translations := Filter{Types: []Type{Translation}, Partial: true}
	number := 0
	for i, segment := range s.index.Segments {
		if t.Type == Translation || segment.CountOf(translations) == 0 {
			continue
		}
		all, err := s.at(ctx, i)
		if err != nil {
			return err
		}
		for _, other := range all {
			if other.SourceID != nil && *other.SourceID == t.ID {
				number++
			}
		}
	}
	if number > 0 {
		return hasTranslations(number)
	}
	return nil
}

// replace puts after into the place of before. Either may be nil.
func replace(ctx context.Context, s *sheet, before, after *Transcription) error {
	if before != nil && after != nil && before.position().compare(after.position()) == 0 {
		return s.update(ctx, after)
	}
	if before != nil {
		if err := s.remove(ctx, before.position()); err != nil {
			return err
		}
	}
	if after == nil {
		return nil
	}
	return s.insert(ctx, after)
}

// pointer returns the write of the pointer, unless the position stays.
func (o *operation) pointer(before, after *Transcription, got write.Items) []table.Write {
	key := o.place.Pointer(o.id)
	was := got[key].Version
	switch {
	case after == nil:
		return []table.Write{table.Remove(key, was)}
	case before != nil && before.position().compare(after.position()) == 0:
		return []table.Write{table.Version(key, was)}
	}
	data, err := wire.Encode(Pointer{o.session, after.StartTime})
	if err != nil {
		panic(fmt.Sprintf("transcript: encode a pointer: %v", err)) // It has a text and a finite number.
	}
	return []table.Write{versioned(table.Item{Key: key, Data: data}, was)}
}

// record returns the change record. It has no words: the transcription may be deleted since somebody's words must
// go, and a change record stays.
func (o *operation) record(ctx context.Context, before, after *Transcription) change.Record {
	r := change.Record{
		Org: o.place.Org, Event: o.place.Event, Type: Kind, RecordID: o.id, Parent: "session " + o.session, Action: Kind + ".created",
	}
	switch {
	case after == nil:
		at := wire.After(before.UpdatedAt, o.store.Now())
		r.At, r.Version, r.Action = at, before.Version+1, Kind+".deleted"
		r.Values = []change.Value{{Field: "deleted_at", New: at}}
	case before != nil:
		r.Action, r.Values = Kind+".updated", withoutWords(change.Diff(before, after))
		fallthrough
	default:
		r.At, r.Version = after.UpdatedAt, after.Version
	}
	return change.New(ctx, r)
}

// withoutWords leaves the text and the speaker's name out of changed values, and keeps the names of the fields.
func withoutWords(values []change.Value) []change.Value {
	for i, v := range values {
		if v.Field == "transcription" || v.Field == "speaker" {
			values[i] = change.Value{Field: v.Field}
		}
	}
	return values
}

// size is the size of a session's transcriptions.
type size struct{ total, bytes, languages int }

// sizeOf returns the size with the reserved room.
func sizeOf(x *Index) size {
	s := size{x.Count(Filter{Partial: true}), x.Bytes(), len(x.languages())}
	for _, r := range x.Reserved {
		s.total += r.Texts
		s.bytes += r.Bytes
	}
	return s
}

// check returns the 400 of a size over a limit that a write has made larger.
func (s size) check(after size, most int) error {
	switch {
	case after.total > most && after.total > s.total:
		return apierr.Invalid("type", "A session must not have more than %d transcriptions.", most)
	case after.bytes > maxTotalBytes && after.bytes > s.bytes:
		return apierr.Invalid("transcription", "The transcriptions of a session must not be longer than %d bytes together.", maxTotalBytes)
	case after.languages > maxLanguages && after.languages > s.languages:
		return apierr.Invalid("language_code", "The transcriptions of a session must not have more than %d language codes.", maxLanguages)
	}
	return nil
}

// decodePointer reads a pointer. It reports false for a missing item.
func decodePointer(item table.Item) (at Pointer, ok bool, err error) {
	if item.Version == 0 {
		return at, false, nil
	}
	if err = json.Unmarshal(item.Data, &at); err != nil {
		err = fmt.Errorf("transcript: decode a pointer: %w", err)
	}
	return at, err == nil, err
}
