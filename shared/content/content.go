// Package content makes packs of content out of the transcriptions of sessions (gaps.md section
// 6.5, decision 37). A pack is made at the request; nothing of it is stored.
//
// Read content.go for the shapes, join.go for the making of items, store.go for the packs; documents.go and
// report.go for the documents, which package document renders.
package content

import (
	"lectern/shared/size"
	"lectern/shared/wire"
)

// Kind names a kind of items.
type Kind string

// The kinds of items that a pack can have, and Elements, which adds the elements in a list.
const (
	Transcription Kind = "transcription"
	Summary       Kind = "summary"
	Insight       Kind = "insight"
	Recap         Kind = "recap"
	Document      Kind = "document"
	Elements      Kind = "items"
)

// Types of documents, which are also the ids of their items.
const (
	SummaryPDF  = "summary_pdf"
	SummaryCard = "summary_card"
	EventReport = "event_report"
)

// Session is the pack of a session.
type Session struct {
	ID               string     `json:"id" format:"uuid" doc:"The session's id."`
	EventID          int64      `json:"event_id" doc:"The event's id."`
	Title            string     `json:"title" doc:"The session's title."`
	StartsAt         *wire.Time `json:"starts_at" doc:"The session's start."`
	UpdatedAt        wire.Time  `json:"updated_at" doc:"The last change of the session or of its transcriptions."`
	Speakers         []Speaker  `json:"speakers" doc:"The speakers of the items, in the order in which they speak first."`
	HasTranscription bool       `json:"has_transcription" doc:"Whether the session has fragments of speech."`
	HasSummary       bool       `json:"has_summary" doc:"Whether the session has a summary."`
	HasPodcast       bool       `json:"has_podcast" doc:"Always false."`
	Items            []Item     `json:"items" doc:"The items of the kinds in expand. An item lists in omitted what was left out because the answer would be too long."`
}

// Event is the pack of an event.
type Event struct {
	ID        int64      `json:"id" doc:"The event's id."`
	UpdatedAt *wire.Time `json:"updated_at" doc:"The last change of the event's transcriptions; null without any."`
	Items     []Item     `json:"items" doc:"The items of the kinds in expand."`
	Omitted   []string   `json:"omitted,omitempty" doc:"Items that were left out because the answer would be too long; otherwise absent."`
}

// Speaker is a speaker as the source of the text names the speaker.
type Speaker struct {
	ID    string `json:"id" doc:"The same as label: a speaker is no contact."`
	Label string `json:"label" doc:"The speaker of the fragments."`
	Name  string `json:"name" doc:"The same as label."`
}

// Element is the speech of one speaker, joined from consecutive fragments.
type Element struct {
	Value       string   `json:"value" doc:"The texts of the fragments, with a space between them."`
	Speaker     *Speaker `json:"speaker" doc:"The speaker."`
	StartTime   *float64 `json:"start_time" doc:"The start of the first fragment, in seconds."`
	EndTime     *float64 `json:"end_time" doc:"The end of the last fragment, in seconds."`
	FragmentIDs []string `json:"fragment_ids" doc:"The ids of the fragments."`
}

// Item is an item of a pack. The properties without a value are null: the shape is that of all
// kinds.
type Item struct {
	ID            string     `json:"id" doc:"The id of the text; of a joined transcription, the session's id; of a document, its type; recap."`
	Type          Kind       `json:"type" enum:"transcription,summary,insight,podcast,document,recap" doc:"The kind of the item."`
	SessionID     *string    `json:"session_id" format:"uuid" doc:"The session's id; null for an item of the event."`
	Text          string     `json:"text" doc:"The text, as it was sent: untrusted."`
	Elements      []Element  `json:"elements" doc:"The elements of a transcription; in a list only with items in expand."`
	FragmentCount int        `json:"fragment_count" doc:"The number of joined fragments."`
	IntervalSec   *int       `json:"interval_sec" doc:"The interval at which the elements were cut."`
	LanguageCode  *string    `json:"language_code" doc:"The language, if all of the text has the same."`
	SummaryType   *string    `json:"summary_type" doc:"Null."`
	Provider      *string    `json:"provider" doc:"The source of the text, if all of the text has the same."`
	Content       *string    `json:"content" doc:"The same as text, for a summary, an insight and a recap."`
	Topics        []string   `json:"topics" nullable:"true" doc:"Null."`
	InsightType   *string    `json:"insight_type" doc:"Null."`
	Name          *string    `json:"name" doc:"The name of a document's file; null for other items."`
	Metadata      *wire.Raw  `json:"metadata" doc:"Null."`
	Status        *string    `json:"status" doc:"Null."`
	URL           *string    `json:"url" doc:"The path of a document, below the address of the API; it needs the token too. Null for other items."`
	DurationSec   *float64   `json:"duration_sec" doc:"Null."`
	GeneratedAt   *wire.Time `json:"generated_at" doc:"Null."`
	ExpiresAt     *wire.Time `json:"expires_at" doc:"Null."`
	DocumentType  *string    `json:"document_type" doc:"The type of a document; null for other items."`
	ContentType   *string    `json:"content_type" doc:"The media type of a document; null for other items."`
	Scope         string     `json:"scope" enum:"session,event" doc:"What the item is about."`
	Quotes        []string   `json:"quotes" nullable:"true" doc:"Null."`
	Summaries     []string   `json:"summaries" nullable:"true" doc:"The joined texts of a recap; null for other items."`
	CreatedAt     wire.Time  `json:"created_at" doc:"When the first of the texts was created; of a document, the same as updated_at."`
	UpdatedAt     wire.Time  `json:"updated_at" doc:"When the last of the texts was changed; of a document, the same as of the pack."`
	Omitted       []string   `json:"omitted,omitempty" doc:"Parts that were left out because the answer would be too long; otherwise absent."`
}

// Reduce leaves out the elements, and then the text.
func (i *Item) Reduce(to size.Detail) (less bool) {
	if to >= size.Brief && len(i.Elements) > 0 {
		i.Elements, i.Omitted, less = []Element{}, append(i.Omitted, "elements"), true
	}
	if to >= size.Alone && i.Text != "" {
		i.Text, i.Content, i.Summaries, i.Omitted, less = "", nil, nil, append(i.Omitted, "text"), true
	}
	return less
}

// Reduce reduces the items.
func (s *Session) Reduce(to size.Detail) (less bool) {
	for i := range s.Items {
		less = s.Items[i].Reduce(to) || less
	}
	return less
}

// Reduce reduces the items.
func (e *Event) Reduce(to size.Detail) (less bool) {
	for i := range e.Items {
		less = e.Items[i].Reduce(to) || less
	}
	return less
}
