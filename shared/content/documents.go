package content

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/content/document"
	"lectern/shared/transcript"
	"lectern/shared/wire"
)

// Media types of documents.
const (
	typePDF = "application/pdf"
	typePNG = "image/png"
)

// Download is a rendered document.
type Download struct {
	Body []byte
	// Type is the media type, and Name the name of the file.
	Type, Name string
	// UpdatedAt is the time of the newest text.
	UpdatedAt wire.Time
}

// file is how a type of documents is downloaded.
type file struct{ media, name string }

var files = map[string]file{
	SummaryPDF:  {typePDF, SummaryPDF + ".pdf"},
	SummaryCard: {typePNG, SummaryCard + ".png"},
	EventReport: {typePDF, EventReport + ".pdf"},
}

// documentItem returns the item of a document, whose path is below the event.
func (q Query) documentItem(c *auth.Caller, kind, path string, at wire.Time) Item {
	f := files[kind]
	url := fmt.Sprintf("%s/v1/event/%d%s/content/documents/%s", q.Base, c.Event.ID, path, kind)
	return Item{
		ID: kind, Type: Document, Elements: []Element{}, Name: &f.name, URL: &url, DocumentType: &kind, ContentType: &f.media,
		Scope: "event", CreatedAt: at, UpdatedAt: at,
	}
}

// sessionDocuments returns the items of the documents of a session with a summary.
func (q Query) sessionDocuments(c *auth.Caller, pack *Session) (items []Item) {
	for _, kind := range []string{SummaryPDF, SummaryCard} {
		item := q.documentItem(c, kind, "/sessions/"+pack.ID, pack.UpdatedAt)
		item.SessionID, item.Scope = &pack.ID, "session"
		items = append(items, item)
	}
	return items
}

// eventDocument returns the item of the report.
func (q Query) eventDocument(c *auth.Caller, at wire.Time) Item {
	return q.documentItem(c, EventReport, "", at)
}

// sessionDocument returns the item of a document of a session.
func (s *Store) sessionDocument(ctx context.Context, c *auth.Caller, id string, q Query) (*Item, error) {
	if q.Session == "" {
		return nil, apierr.Invalid("session_id", "%s needs session_id.", id)
	}
	q.Expand = []string{string(Document)}
	pack, err := s.Session(ctx, c, q.Session, q)
	if err != nil {
		return nil, err
	}
	return first(slices.DeleteFunc(pack.Items, func(item Item) bool { return item.ID != id }))
}

// retold is the filter of the texts that documents have: summaries and insights.
var retold = transcript.Filter{Types: []transcript.Type{transcript.Summary, transcript.Insight}}

// told are the texts of a session for documents, with the header of the session.
type told struct {
	header
	track string
	texts []*transcript.Transcription
}

// of returns the texts of a type.
func (t *told) of(kind transcript.Type) (texts []string) {
	for _, one := range t.texts {
		if one.Type == kind {
			texts = append(texts, one.Transcription)
		}
	}
	return texts
}

// all returns all texts with their headings.
func (t *told) all() (texts []document.Text) {
	for _, kind := range []struct {
		name    transcript.Type
		heading string
	}{{transcript.Summary, "Summary"}, {transcript.Insight, "Insights"}} {
		for i, text := range t.of(kind.name) {
			heading := kind.heading
			if i > 0 {
				heading = ""
			}
			texts = append(texts, document.Text{Heading: heading, Text: text})
		}
	}
	return texts
}

// short returns the beginning of the first text.
func (t *told) short() string {
	texts := append(t.of(transcript.Summary), t.of(transcript.Insight)...)
	return document.Excerpt(texts[0], shortLength)
}

// shortLength is the number of characters of a session in a report that is not full.
const shortLength = 350

// SessionDocument renders a document of a session; 404 without the session or a summary.
func (s *Store) SessionDocument(ctx context.Context, c *auth.Caller, session, kind string) (*Download, error) {
	r := s.Texts.Reader(c)
	var updated wire.Time
	got, err := transcript.Whole(ctx, func() (*told, error) {
		body, index, err := s.Texts.Session(ctx, c, session)
		if err != nil {
			return nil, err
		}
		texts, err := r.Texts(ctx, []*transcript.Index{index}, retold)
		if err != nil {
			return nil, err
		}
		updated = latest(body.UpdatedAt, index.UpdatedAt)
		return &told{header: header{body.Title, body.StartsAt, body.UpdatedAt}, texts: texts[0]}, nil
	})
	if err != nil {
		return nil, err
	}
	if len(got.of(transcript.Summary)) == 0 {
		return nil, apierr.NotFound("Document")
	}
	about := joinedBy(" · ", c.Event.Name, moment(got.startsAt, zone(c)))
	if kind == SummaryCard {
		card := document.Card{Title: got.title, About: about, Text: got.of(transcript.Summary)[0]}
		body, err := card.PNG()
		return download(kind, body, updated), err
	}
	d := document.Document{Title: got.title, About: about, At: updated.Time, Chapters: []document.Chapter{{
		Sections: []document.Section{{Texts: got.all()}},
	}}}
	body, err := d.PDF()
	return download(kind, body, updated), err
}

func download(kind string, body []byte, updated wire.Time) *Download {
	return &Download{Body: body, Type: files[kind].media, Name: files[kind].name, UpdatedAt: updated}
}

// latest returns the later of two times.
func latest(a, b wire.Time) wire.Time {
	if b.After(a.Time) {
		return b
	}
	return a
}

// zone returns the time zone of the caller's event, or UTC.
func zone(c *auth.Caller) *time.Location {
	place, err := time.LoadLocation(c.Event.Timezone)
	if err != nil {
		return time.UTC
	}
	return place
}

// moment shows a time; empty for none.
func moment(at *wire.Time, in *time.Location) string {
	if at == nil {
		return ""
	}
	return at.In(in).Format("Monday, 2 January 2006, 15:04 MST")
}

// joinedBy joins the texts that are not empty.
func joinedBy(between string, texts ...string) (joined string) {
	for _, text := range texts {
		if joined != "" && text != "" {
			joined += between
		}
		joined += text
	}
	return joined
}
