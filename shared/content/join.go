package content

import (
	"math"
	"slices"
	"strings"

	"lectern/shared/transcript"
)

// interval is the length of the parts into which elements are cut, in seconds; 0 for none.
type interval int

// part returns the number of the part in which a fragment starts. A fragment without a start
// belongs to the part before.
func (i interval) part(t *transcript.Transcription, before float64) float64 {
	if i == 0 || t.StartTime == nil {
		return before
	}
	return math.Floor(*t.StartTime / float64(i))
}

// run has consecutive fragments of a speaker in a part.
type run struct {
	part    float64
	speaker *string
	texts   []*transcript.Transcription
}

// runs divides fragments where the speaker changes and at the interval.
func (i interval) runs(fragments []*transcript.Transcription) (all []run) {
	var last run
	last.part = math.Inf(-1)
	for _, t := range fragments {
		part := i.part(t, last.part)
		if last.texts != nil && (part != last.part || !same(t.Speaker, last.speaker)) {
			all, last.texts = append(all, last), nil
		}
		last = run{part, t.Speaker, append(last.texts, t)}
	}
	if last.texts != nil {
		all = append(all, last)
	}
	return all
}

// elements returns an element for each run of the fragments.
func (i interval) elements(fragments []*transcript.Transcription) []Element {
	all := []Element{}
	for _, r := range i.runs(fragments) {
		e := Element{Speaker: speaker(r.speaker), StartTime: r.texts[0].StartTime}
		values := make([]string, len(r.texts))
		for n, t := range r.texts {
			values[n] = t.Transcription
			e.FragmentIDs = append(e.FragmentIDs, t.ID)
			if t.EndTime != nil && (e.EndTime == nil || *t.EndTime > *e.EndTime) {
				e.EndTime = t.EndTime
			}
		}
		e.Value = strings.Join(values, " ")
		all = append(all, e)
	}
	return all
}

// speaker returns the speaker of a label; nil for none.
func speaker(label *string) *Speaker {
	if label == nil {
		return nil
	}
	return &Speaker{ID: *label, Label: *label, Name: *label}
}

// same reports whether two values are equal, or both absent.
func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// joined returns the item of all fragments of a session. There is at least one.
func (i interval) joined(fragments []*transcript.Transcription) Item {
	item := about(fragments)
	item.ID, item.Type, item.SessionID, item.Scope = fragments[0].SessionID, Transcription, &fragments[0].SessionID, "session"
	item.Elements, item.FragmentCount = i.elements(fragments), len(fragments)
	texts := make([]string, len(item.Elements))
	for n, e := range item.Elements {
		texts[n] = e.Value
	}
	item.Text = strings.Join(texts, "\n")
	if i > 0 {
		length := int(i)
		item.IntervalSec = &length
	}
	return item
}

// alone returns the item of a text that is no fragment. A translation is a transcription with an
// id and a language of its own.
func alone(t *transcript.Transcription) Item {
	item := about([]*transcript.Transcription{t})
	item.ID, item.SessionID, item.Scope, item.Text = t.ID, &t.SessionID, "session", t.Transcription
	switch t.Type {
	case transcript.Translation:
		item.Type, item.Elements = Transcription, interval(0).elements([]*transcript.Transcription{t})
		item.Elements[0].FragmentIDs = []string{}
	default:
		item.Type, item.Content = Kind(t.Type), &item.Text
	}
	return item
}

// recap returns the item of an event's insights. There is at least one.
func recap(insights []*transcript.Transcription) Item {
	item := about(insights)
	item.ID, item.Type, item.Scope = string(Recap), Recap, "event"
	for _, t := range insights {
		item.Summaries = append(item.Summaries, t.Transcription)
	}
	item.Text = strings.Join(item.Summaries, "\n\n")
	item.Content = &item.Text
	return item
}

// about returns an item with what texts have in common.
func about(all []*transcript.Transcription) Item {
	first := all[0]
	item := Item{
		Elements: []Element{}, LanguageCode: first.LanguageCode, Provider: first.Provider,
		CreatedAt: first.CreatedAt, UpdatedAt: first.UpdatedAt,
	}
	for _, t := range all[1:] {
		if !same(item.LanguageCode, t.LanguageCode) {
			item.LanguageCode = nil
		}
		if !same(item.Provider, t.Provider) {
			item.Provider = nil
		}
		if t.CreatedAt.Before(item.CreatedAt.Time) {
			item.CreatedAt = t.CreatedAt
		}
		if t.UpdatedAt.After(item.UpdatedAt.Time) {
			item.UpdatedAt = t.UpdatedAt
		}
	}
	return item
}

// items returns the items of a session's texts.
func (q Query) items(texts []*transcript.Transcription) []Item {
	all := []Item{}
	var fragments []*transcript.Transcription
	for _, t := range texts {
		switch {
		case t.Type == transcript.Fragment:
			fragments = append(fragments, t)
		case q.takes(t):
			all = append(all, alone(t))
		}
	}
	if len(fragments) > 0 {
		all = slices.Insert(all, 0, interval(q.Interval).joined(fragments))
	}
	return all
}

// speakers returns the speakers of items, in the order in which they speak first.
func speakers(items []Item) []Speaker {
	all, seen := []Speaker{}, map[string]bool{}
	for _, item := range items {
		for _, e := range item.Elements {
			if e.Speaker != nil && !seen[e.Speaker.ID] {
				seen[e.Speaker.ID] = true
				all = append(all, *e.Speaker)
			}
		}
	}
	return all
}
