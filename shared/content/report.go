package content

import (
	"cmp"
	"context"
	"math"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/content/document"
	"lectern/shared/metadata"
	"lectern/shared/size"
	"lectern/shared/transcript"
	"lectern/shared/wire"
)

// Variant is a form of the report of an event.
type Variant string

// The variants: all texts; the beginnings of texts by day; the same by track.
const (
	Full  Variant = "full"
	Daily Variant = "daily"
	Theme Variant = "theme"
)

// reported returns the sessions that a report has: those with a summary or an insight.
func reported(all []transcript.Indexed) (some []transcript.Indexed) {
	for _, x := range all {
		if x.Count(retold) > 0 {
			some = append(some, x)
		}
	}
	return some
}

// report makes the report of an event.
type report struct {
	caller  *auth.Caller
	variant Variant
	// tracks are the tracks of the event in their order, and places their places by id.
	tracks []*metadata.Entry
	places map[string]int
	// left is the number of sessions that are too much to load.
	left    int
	updated wire.Time
}

// Report renders the report of the caller's event; 404 without a summary or an insight.
func (s *Store) Report(ctx context.Context, c *auth.Caller, v Variant) (*Download, error) {
	settings, err := s.Texts.Sessions.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	rep := &report{caller: c, variant: v, tracks: settings.Metadata[metadata.Tracks].List(), places: map[string]int{}}
	for i, track := range rep.tracks {
		rep.places[track.ID] = i
	}
	r := s.Texts.Reader(c)
	sessions, err := transcript.Whole(ctx, func() ([]told, error) {
		all, err := s.Texts.OfAll(ctx, c)
		if err != nil {
			return nil, err
		}
		return rep.load(ctx, r, reported(all))
	})
	if err != nil {
		return nil, err
	}
	if len(sessions) == 0 {
		return nil, apierr.NotFound("Document")
	}
	d := document.Document{Title: c.Event.Name, About: rep.about(), At: rep.updated.Time, Left: rep.left, Chapters: rep.chapters(sessions)}
	body, err := d.PDF()
	return download(EventReport, body, rep.updated), err
}

// about returns the line below the title: the days of the event.
func (rep *report) about() string {
	const day = "2 January 2006"
	in := zone(rep.caller)
	first, last := rep.caller.Event.StartsAt.In(in).Format(day), rep.caller.Event.EndsAt.In(in).Format(day)
	if first == last {
		return first
	}
	return first + " – " + last
}

// load reads the texts of sessions in the order of the report. Sessions beyond the limit of what a
// request may load are left out.
func (rep *report) load(ctx context.Context, r *transcript.Reader, all []transcript.Indexed) ([]told, error) {
	slices.SortStableFunc(all, rep.compare)
	indexes, weights := indexesOf(all, retold)
	loaded, count := 0, 0
	rep.updated = wire.Time{}
	for i, weight := range weights {
		if loaded += weight; loaded > size.Loaded {
			break
		}
		count++
		rep.updated = latest(rep.updated, latest(headerOf(all[i].Row).updated, all[i].UpdatedAt))
	}
	rep.left = len(all) - count
	texts, err := r.Texts(ctx, indexes[:count], retold)
	if err != nil {
		return nil, err
	}
	sessions := make([]told, count)
	for i := range sessions {
		sessions[i] = told{headerOf(all[i].Row), rep.track(all[i]), texts[i]}
	}
	return sessions, nil
}

// compare compares two sessions: by track in the variant of themes, and by start.
func (rep *report) compare(a, b transcript.Indexed) int {
	byTrack := 0
	if rep.variant == Theme {
		byTrack = cmp.Compare(rep.place(a), rep.place(b))
	}
	return cmp.Or(byTrack, cmp.Compare(startOf(a), startOf(b)))
}

// place returns the place of the session's track; after all others without a track.
func (rep *report) place(x transcript.Indexed) int {
	if place, ok := rep.places[x.Row.Track]; ok {
		return place
	}
	return len(rep.tracks)
}

// track returns the name of the session's track; empty for none, or for a deleted track.
func (rep *report) track(x transcript.Indexed) string {
	if place := rep.place(x); place < len(rep.tracks) {
		return rep.tracks[place].Name
	}
	return ""
}

// startOf returns the start of a session; after all others without a start.
func startOf(x transcript.Indexed) int64 {
	if x.Row.Starts == nil {
		return math.MaxInt64
	}
	return *x.Row.Starts
}

// chapters divides the sessions, which are in order.
func (rep *report) chapters(sessions []told) (all []document.Chapter) {
	for i := range sessions {
		title := rep.chapter(&sessions[i])
		if len(all) == 0 || all[len(all)-1].Title != title {
			all = append(all, document.Chapter{Title: title})
		}
		last := &all[len(all)-1]
		last.Sections = append(last.Sections, rep.section(&sessions[i]))
	}
	return all
}

// chapter returns the title of the session's chapter.
func (rep *report) chapter(t *told) string {
	switch {
	case rep.variant == Full:
		return ""
	case rep.variant == Theme && t.track == "":
		return "Other sessions"
	case rep.variant == Theme:
		return t.track
	case t.startsAt == nil:
		return "Sessions without a time"
	}
	return t.startsAt.In(zone(rep.caller)).Format("Monday, 2 January 2006")
}

// section returns the section of a session.
func (rep *report) section(t *told) document.Section {
	s := document.Section{Title: t.title, About: joinedBy(" · ", moment(t.startsAt, zone(rep.caller)), t.track)}
	if rep.variant == Full {
		s.Texts = t.all()
		return s
	}
	s.Texts = []document.Text{{Text: t.short()}}
	return s
}
