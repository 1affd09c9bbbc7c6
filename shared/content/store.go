package content

import (
	"context"
	"slices"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/page"
	"lectern/shared/session"
	"lectern/shared/size"
	"lectern/shared/transcript"
	"lectern/shared/wire"
)

// Store makes packs of the caller's event.
type Store struct{ Texts *transcript.Store }

// Query says what a pack has.
type Query struct {
	page.Query
	// Session selects one session; empty for all.
	Session string
	// Expand lists the kinds of items.
	Expand []string
	// Interval is the length at which elements are cut, in seconds; 0 for none.
	Interval int
	// Provider selects the summaries, insights and translations of one source; empty for all.
	Provider string
	// Base is what the addresses of documents begin with, before the paths of the API.
	Base string
}

// has reports whether the pack has a kind of items.
func (q Query) has(kind Kind) bool { return slices.Contains(q.Expand, string(kind)) }

// types returns the filter of the texts that the pack needs.
func (q Query) types() transcript.Filter {
	types := []transcript.Type{""} // Selects nothing: an empty list would select all.
	if q.has(Transcription) {
		types = append(types, transcript.Fragment, transcript.Translation)
	}
	if q.has(Summary) {
		types = append(types, transcript.Summary)
	}
	if q.has(Insight) {
		types = append(types, transcript.Insight)
	}
	return transcript.Filter{Types: types}
}

// Session returns the pack of a session; 404 without the session.
func (s *Store) Session(ctx context.Context, c *auth.Caller, id string, q Query) (*Session, error) {
	r := s.Texts.Reader(c)
	return transcript.Whole(ctx, func() (*Session, error) {
		body, index, err := s.Texts.Session(ctx, c, id)
		if err != nil {
			return nil, err
		}
		texts, err := r.Texts(ctx, []*transcript.Index{index}, q.types())
		if err != nil {
			return nil, err
		}
		return q.pack(c, header{body.Title, body.StartsAt, body.UpdatedAt}, index, texts[0]), nil
	})
}

// header is the part of a pack that the session itself has.
type header struct {
	title    string
	startsAt *wire.Time
	updated  wire.Time
}

// headerOf returns the header of a row.
func headerOf(r *session.Row) header {
	h := header{title: r.Title, updated: wire.At(time.UnixMilli(r.Updated))}
	if r.Starts != nil {
		starts := wire.At(time.UnixMilli(*r.Starts))
		h.startsAt = &starts
	}
	return h
}

// pack returns the pack of a session.
func (q Query) pack(c *auth.Caller, h header, index *transcript.Index, texts []*transcript.Transcription) *Session {
	pack := &Session{
		ID: index.Session, EventID: c.Event.ID, Title: h.title, StartsAt: h.startsAt, UpdatedAt: h.updated,
		HasTranscription: index.Count(transcript.Filter{}.Of(transcript.Fragment)) > 0,
		HasSummary:       index.Count(transcript.Filter{}.Of(transcript.Summary)) > 0,
		Items:            q.items(texts),
	}
	if index.UpdatedAt.After(h.updated.Time) {
		pack.UpdatedAt = index.UpdatedAt
	}
	pack.Speakers = speakers(pack.Items)
	if q.has(Document) && pack.HasSummary {
		pack.Items = append(pack.Items, q.sessionDocuments(c, pack)...)
	}
	return pack
}

// List returns a page of the packs of the event's sessions with transcriptions, in the order of
// the sessions' creation. It refuses a page that would load too much.
func (s *Store) List(ctx context.Context, c *auth.Caller, q Query) (*page.List[*Session], error) {
	r := s.Texts.Reader(c)
	return transcript.Whole(ctx, func() (*page.List[*Session], error) {
		all, err := s.Texts.OfAll(ctx, c)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(x transcript.Indexed) bool {
			return !q.selects(x.Session) || x.Count(transcript.Filter{}) == 0
		})
		some := page.Cut(q.Query, all)
		texts, err := loaded(ctx, r, some, q.types())
		if err != nil {
			return nil, err
		}
		packs := make([]*Session, len(some))
		for i, x := range some {
			packs[i] = q.pack(c, headerOf(x.Row), x.Index, texts[i])
			if !q.has(Elements) {
				packs[i].withoutElements()
			}
		}
		return page.NewList(q.Query, len(all), packs), nil
	})
}

// withoutElements leaves out the elements, as a list does unless it is asked for them.
func (s *Session) withoutElements() {
	for i := range s.Items {
		s.Items[i].Elements = []Element{}
	}
}

// loaded reads the texts of sessions; 400 for more than a request may load.
func loaded(
	ctx context.Context, r *transcript.Reader, some []transcript.Indexed, f transcript.Filter,
) ([][]*transcript.Transcription, error) {
	indexes, weights := indexesOf(some, f)
	if sum(weights) > size.Loaded {
		return nil, size.TooMuch(ctx, "load more than 64 MB of transcriptions", weights, size.Loaded)
	}
	return r.Texts(ctx, indexes, f)
}

// indexesOf returns the indexes of sessions, and the bytes of the segments that a filter needs.
func indexesOf(some []transcript.Indexed, f transcript.Filter) (indexes []*transcript.Index, weights []int) {
	for _, x := range some {
		weight := 0
		for _, segment := range x.Select(f) {
			weight += segment.Bytes
		}
		indexes, weights = append(indexes, x.Index), append(weights, weight)
	}
	return indexes, weights
}

func sum(all []int) (n int) {
	for _, one := range all {
		n += one
	}
	return n
}

// Event returns the pack of the event.
func (s *Store) Event(ctx context.Context, c *auth.Caller, q Query) (*Event, error) {
	r := s.Texts.Reader(c)
	return transcript.Whole(ctx, func() (*Event, error) {
		all, err := s.Texts.OfAll(ctx, c)
		if err != nil {
			return nil, err
		}
		pack := &Event{ID: c.Event.ID, Items: []Item{}}
		for _, x := range all {
			if pack.UpdatedAt == nil || x.UpdatedAt.After(pack.UpdatedAt.Time) {
				pack.UpdatedAt = &x.UpdatedAt
			}
		}
		if q.has(Document) && len(reported(all)) > 0 {
			pack.Items = append(pack.Items, q.eventDocument(c, *pack.UpdatedAt))
		}
		if q.has(Recap) {
			err = q.recap(ctx, r, all, pack)
		}
		return pack, err
	})
}

// recap adds the recap to the pack of an event.
func (q Query) recap(ctx context.Context, r *transcript.Reader, all []transcript.Indexed, pack *Event) error {
	insights := transcript.Filter{}.Of(transcript.Insight)
	indexes, weights := indexesOf(all, insights)
	if sum(weights) > size.Loaded {
		pack.Omitted = []string{string(Recap)}
		return nil
	}
	texts, err := r.Texts(ctx, indexes, insights)
	if err != nil {
		return err
	}
	var found []*transcript.Transcription
	for _, t := range slices.Concat(texts...) {
		if q.takes(t) {
			found = append(found, t)
		}
	}
	if len(found) > 0 {
		pack.Items = append(pack.Items, recap(found))
	}
	return nil
}

// takes reports whether a text is of the provider.
func (q Query) takes(t *transcript.Transcription) bool {
	return q.Provider == "" || t.Provider != nil && *t.Provider == q.Provider
}

// Item returns an item by its id: the joined transcription of a session by the session's id, a text
// that is no fragment by its own, the recap and the documents by their names. The documents of a
// session need the session.
func (s *Store) Item(ctx context.Context, c *auth.Caller, id string, q Query) (*Item, error) {
	switch id {
	case SummaryPDF, SummaryCard:
		return s.sessionDocument(ctx, c, id, q)
	case EventReport, string(Recap):
		q.Expand = []string{string(Recap)}
		if id == EventReport {
			q.Expand = []string{string(Document)}
		}
		pack, err := s.Event(ctx, c, q)
		if err != nil {
			return nil, err
		}
		if len(pack.Items) == 0 && len(pack.Omitted) > 0 {
			return nil, apierr.Invalid("id", "The recap of the event is too long for an answer. Read the insights of each session.")
		}
		return first(pack.Items)
	}
	if !wire.IsID(id) {
		return nil, apierr.Invalid("id", "id must be the id of a session or of a text, or one of %s, %s, %s, %s.",
			SummaryPDF, SummaryCard, EventReport, Recap)
	}
	return s.text(ctx, c, id, q)
}

// text returns the item of a session or of a text.
func (s *Store) text(ctx context.Context, c *auth.Caller, id string, q Query) (*Item, error) {
	q.Expand = []string{string(Transcription)}
	pack, err := s.Session(ctx, c, id, q)
	if apierr.IsNotFound(err) {
		return s.alone(ctx, c, id, q)
	}
	if err != nil {
		return nil, err
	}
	if !pack.HasTranscription || !q.selects(id) {
		return nil, notFound()
	}
	return first(pack.Items)
}

// alone returns the item of a text that is no fragment.
func (s *Store) alone(ctx context.Context, c *auth.Caller, id string, q Query) (*Item, error) {
	t, err := s.Texts.OfEvent(ctx, c, id)
	if apierr.IsNotFound(err) {
		return nil, notFound()
	}
	if err != nil {
		return nil, err
	}
	if t.Type == transcript.Fragment || t.IsPartial || !q.selects(t.SessionID) || !q.takes(t) {
		return nil, notFound()
	}
	item := alone(t)
	return &item, nil
}

// selects reports whether the query is about a session.
func (q Query) selects(session string) bool { return q.Session == "" || q.Session == session }

func notFound() error { return apierr.NotFound("Item") }

// first returns the first of items; 404 without any.
func first(items []Item) (*Item, error) {
	if len(items) == 0 {
		return nil, notFound()
	}
	return &items[0], nil
}
