package transcript

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// The limits of a transaction of an import: a text has three writes with its share of a segment, and
// texts between stored texts change many segments. Texts are stored twice, in a segment and in a change
// record.
const (
	maxAtOnce      = 40
	maxChanged     = 8
	maxBytesAtOnce = 512 << 10
)

// maxSources is the highest number of sources of a session. The index has a number for each.
const maxSources = 1000

// Import has the texts of a source, such as the output of a job, for a session.
type Import struct {
	// Session is the session's id, and Source names the source.
	Session, Source string
	// Texts are the same at each call.
	Texts []*Draft
}

// Import stores the texts of a source as transcriptions, some in a transaction. The index of the session
// counts the stored texts in the same transaction: a call goes on after the texts that earlier calls
// have stored, and calls at the same time store no text twice. It returns a 404 without the session, which
// may be deleted, and a 400 for texts that break a rule or a limit. All texts together over a limit are
// refused before the first is stored. The first transaction reserves room for all of them; an Import without
// texts gives room back that is left.
func (st *Store) Import(ctx context.Context, c *auth.Caller, in Import) error {
	for {
		left, err := write.Run[int](ctx, st.Table, &importing{st, place(c), in})
		if left == 0 || err != nil {
			return err
		}
	}
}

// importing stores the next texts of an import. Its answer is the number of texts that are left.
type importing struct {
	store *Store
	place Place
	in    Import
}

// Reads returns the keys of the session and the index.
func (o *importing) Reads() []table.Key {
	return []table.Key{o.place.Body(o.in.Session), o.place.Index(o.in.Session)}
}

// More returns no keys: the sheet reads segments.
func (o *importing) More(write.Items) []table.Key { return nil }

// Touches returns nil: no bulk has the operation.
func (o *importing) Touches(write.Items) []string { return nil }

// Plan adds texts to the segments, as many as a transaction takes.
func (o *importing) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	body, err := o.place.Stored(got, o.in.Session)
	if err != nil {
		return nil, err
	}
	index, err := DecodeIndex(o.in.Session, got[o.place.Index(o.in.Session)])
	if err != nil {
		return nil, err
	}
	done, room := index.Imported[o.in.Source], index.Reserved[o.in.Source]
	if done >= len(o.in.Texts) {
		return o.giveBack(index)
	}
	if done == 0 {
		if room, err = o.fits(index); err != nil {
			return nil, err
		}
	}
	s, before, now := newSheet(o.store.Table, o.place, index), index.Bytes(), wire.At(o.store.Now())
	writes := []table.Write{table.Version(o.place.Body(o.in.Session), body.Version)}
	for first := done; done < len(o.in.Texts) && done < first+maxAtOnce && s.room(before); done++ {
		added, err := o.add(ctx, s, done, now)
		if err != nil {
			return nil, err
		}
		writes = append(writes, added...)
	}
	index.note(o.in.Source, done, Room{len(o.in.Texts) - done, max(room.Bytes-(index.Bytes()-before), 0)})
	changed, err := s.writes(now)
	return &write.Plan{Writes: append(writes, changed...), Answer: len(o.in.Texts) - done}, err
}

// giveBack gives back the room of a source that stores no further text.
func (o *importing) giveBack(index *Index) (*write.Plan, error) {
	if _, reserved := index.Reserved[o.in.Source]; !reserved {
		return &write.Plan{Answer: 0}, nil
	}
	delete(index.Reserved, o.in.Source)
	writes, err := newSheet(o.store.Table, o.place, index).writes(wire.At(o.store.Now()))
	return &write.Plan{Writes: writes, Answer: 0}, err
}

// room reports whether a transaction takes another text. before is the length of all texts before the first.
func (s *sheet) room(before int) bool {
	return len(s.was) <= maxChanged && s.index.Bytes()-before < maxBytesAtOnce
}

// add adds the text at n to its segment, and returns the writes of its pointer and its change record.
func (o *importing) add(ctx context.Context, s *sheet, n int, now wire.Time) ([]table.Write, error) {
	t, err := o.text(n, now)
	if err != nil {
		return nil, err
	}
	one := operation{store: o.store, place: o.place, session: o.in.Session, id: t.ID}
	if err := s.insert(ctx, t); err != nil {
		return nil, err
	}
	return append(one.pointer(nil, t, nil), one.record(ctx, nil, t).Write()), nil
}

// text returns the text at n as a transcription. Source and place give its id.
func (o *importing) text(n int, now wire.Time) (*Transcription, error) {
	t := &Transcription{
		ID:        uuid.NewSHA1(uuid.Nil, []byte(o.in.Source+"#"+strconv.Itoa(n))).String(),
		SessionID: o.in.Session, CreatedAt: now, UpdatedAt: now, Version: 1,
	}
	d := o.in.Texts[n]
	if err := d.check(); err != nil {
		return nil, err
	}
	return t, d.apply(t)
}

// fits returns the room of the texts. It returns the 400 of texts that break a rule, or are too many or too
// long together, and of a source too many.
func (o *importing) fits(index *Index) (room Room, err error) {
	if len(index.Imported) >= maxSources {
		return room, apierr.Invalid("source", "A session has texts of at most %d sources.", maxSources)
	}
	languages := index.languages()
	for n := range o.in.Texts {
		t, err := o.text(n, wire.At(o.store.Now()))
		if err != nil {
			return room, err
		}
		room.Texts++
		room.Bytes += t.bytes()
		languages[languageOf(t.class())] = true
	}
	before := sizeOf(index)
	return room, before.check(size{before.total + room.Texts, before.bytes + room.Bytes, len(languages)}, o.store.most())
}

// note notes the number of stored texts of a source, and the room for the others.
func (x *Index) note(source string, stored int, left Room) {
	if x.Imported == nil {
		x.Imported = map[string]int{}
	}
	x.Imported[source] = stored
	delete(x.Reserved, source)
	if left.Texts > 0 {
		if x.Reserved == nil {
			x.Reserved = map[string]Room{}
		}
		x.Reserved[source] = left
	}
}
