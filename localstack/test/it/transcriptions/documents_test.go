package transcriptions_test

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/pdftest"
	"lectern/localstack/test/stacktest"
)

// paragraphs are texts of the scripts that documents carry.
var paragraphs = []string{"Où est l’élève ?", "Καλημέρα κόσμε", "مرحبا بالعالم", "日本語の文章です。"}

// report is the path of the report of the event.
const report = "/content/documents/event_report"

// download sends a GET for a document as a browser does.
func (d *desk) download(status int, path string, header ...string) stacktest.Answer {
	d.T.Helper()
	header = append([]string{"Accept", "*/*", "Accept-Encoding", "gzip"}, header...)
	return d.Call(d.T, status, http.MethodGet, d.EventPath(path), stacktest.WithHeaders(nil, header...))
}

// pdf returns a document of the event.
func (d *desk) pdf(path string) *pdftest.File {
	d.T.Helper()
	return pdftest.Read(d.T, d.download(200, path).Body)
}

// documents returns the path of the session's documents.
func (d *desk) documents() string { return "/sessions/" + d.session + "/content/documents/" }

// TestTheDocumentsOfASession are a PDF file with all summaries and insights, and a picture.
func TestTheDocumentsOfASession(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t)
	d.Put(200, d.session, object{"title": "Čas 時間", "starts_at": "2027-05-11T09:00:00Z"})
	d.fragment(1, object{"transcription": "A fragment of the speech."})
	summary := d.add("summary", object{"transcription": strings.Join(paragraphs, "\n\n")})
	d.add("insight", object{"transcription": "An insight."})
	d.add("summary", object{"transcription": "A partial text.", "is_partial": true})

	answer := d.download(200, d.documents()+"summary_pdf")
	require.Equal(t, "application/pdf", answer.Header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="summary_pdf.pdf"`, answer.Header.Get("Content-Disposition"))
	require.Empty(t, answer.Header.Get("Content-Encoding"))
	file := pdftest.Read(t, answer.Body)
	require.Equal(t, "Čas 時間", file.Title)
	require.Equal(t, 1, file.Len())
	for _, text := range append(paragraphs, "Čas 時間", "11 May 2027", "An insight.", "1 / 1") {
		require.Contains(t, file.Page(1), text)
	}
	require.NotContains(t, file.Page(1), "fragment")
	require.NotContains(t, file.Page(1), "partial")

	tag := answer.Header.Get("ETag")
	require.NotEmpty(t, tag)
	again := d.download(200, d.documents()+"summary_pdf")
	require.Equal(t, it.Stable(answer), it.Stable(again))
	require.Empty(t, d.download(304, d.documents()+"summary_pdf", "If-None-Match", tag).Body)
	head := d.Call(t, 200, http.MethodHead, d.EventPath(d.documents()+"summary_pdf"), stacktest.WithHeaders(nil, "Accept", "*/*"))
	require.Equal(t, tag, head.Header.Get("ETag"))
	require.Empty(t, head.Body)

	card := d.download(200, d.documents()+"summary_card")
	require.Equal(t, "image/png", card.Header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="summary_card.png"`, card.Header.Get("Content-Disposition"))
	shown, err := png.Decode(bytes.NewReader(card.Body))
	require.NoError(t, err)
	require.Equal(t, "(1200,630)", shown.Bounds().Size().String())

	d.send(200, http.MethodPut, summary.ID(), object{"transcription": "Another text."})
	changed := d.download(200, d.documents()+"summary_pdf", "If-None-Match", tag)
	require.NotEqual(t, tag, changed.Header.Get("ETag"))
	require.Contains(t, pdftest.Read(t, changed.Body).Text(), "Another text.")
	require.NotEqual(t, card.Body, d.download(200, d.documents()+"summary_card").Body)
}

// TestMissingDocuments are a 404 without what they show, and a 400 for another type or variant.
func TestMissingDocuments(t *testing.T) {
	d := newDesk(t)
	d.fragment(1)
	d.add("summary", object{"is_partial": true})
	none := func(path, message string) {
		t.Helper()
		require.Equal(t, message, d.Do(404, http.MethodGet, path, nil)["message"])
	}
	none(report, "Document not found")
	insight := d.add("insight")
	for _, kind := range []string{"summary_pdf", "summary_card"} {
		none(d.documents()+kind, "Document not found")
		none(d.of(it.UnknownID).documents()+kind, "Session not found")
	}
	d.download(200, report)
	summary := d.add("summary")
	d.download(200, d.documents()+"summary_pdf")
	for _, path := range []string{d.documents() + "event_report", d.documents() + "other", "/content/documents/summary_pdf", "/content/documents/Event_Report"} {
		it.RequireInvalid(t, d.Do(400, http.MethodGet, path, nil), "documentType")
	}
	it.RequireInvalid(t, d.Do(400, http.MethodGet, report+"?variant=weekly", nil), "variant")
	it.RequireInvalid(t, d.Do(400, http.MethodGet, "/sessions/x/content/documents/summary_pdf", nil), "sessionId")
	d.send(204, http.MethodDelete, summary.ID(), nil)
	none(d.documents()+"summary_pdf", "Document not found")
	d.send(204, http.MethodDelete, insight.ID(), nil)
	none(report, "Document not found")
	d.add("summary")
	d.Delete(200, d.session)
	none(d.documents()+"summary_pdf", "Session not found")
	none(report, "Document not found")
}

// followEachOther requires that a text has parts in an order.
func followEachOther(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		_, after, found := strings.Cut(text, part)
		require.True(t, found, "%s comes after the parts before it in %s", part, text)
		text = after
	}
}

// TestTheReportOfAnEvent in its variants: with all texts, by day and by track.
func TestTheReportOfAnEvent(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t)
	first, second := d.NewEntry("tracks", "Zebras").ID(), d.NewEntry("tracks", "Apes").ID()
	ids := d.NewSessions("Later", "Sooner", "Silent")
	later, sooner := d.of(ids[0]), d.of(ids[1])
	d.Put(200, later.session, object{"starts_at": "2027-05-12T09:00:00Z", "track_id": first})
	d.Put(200, sooner.session, object{"starts_at": "2027-05-11T09:00:00Z", "track_id": second})
	long := strings.Repeat("word ", 1000)
	sooner.add("summary", object{"transcription": paragraphs[3] + " " + long})
	sooner.add("insight", object{"transcription": "An insight."})
	later.add("insight", object{"transcription": paragraphs[2]})
	d.add("summary", object{"transcription": paragraphs[1]})

	full := d.pdf(report)
	followEachOther(t, full.Text(), "Sooner", "Apes", "Summary", paragraphs[3], "Insights", "An insight.", "Later", "Zebras", paragraphs[2], "A talk", paragraphs[1])
	require.Equal(t, 1000, strings.Count(full.Text(), "word"))
	require.NotContains(t, full.Text(), "Silent")
	require.Equal(t, it.Stable(d.download(200, report)), it.Stable(d.download(200, report+"?variant=full")))

	daily := d.pdf(report + "?variant=daily").Text()
	followEachOther(t, daily, "Tuesday, 11 May 2027", "Sooner", paragraphs[3], "…", "Wednesday, 12 May 2027", "Later", paragraphs[2], "Sessions without a time", "A talk")
	require.Less(t, strings.Count(daily, "word"), 200)
	followEachOther(t, d.pdf(report+"?variant=theme").Text(), "Zebras", "Later", "Apes", "Sooner", "Other sessions", "A talk")
	there := d.InNewEvent()
	other := &desk{there, there.NewSessions("There")[0]}
	other.add("summary", object{"transcription": "Of another event."})
	require.Contains(t, other.pdf(report).Text(), "Of another event.")
	require.NotContains(t, d.pdf(report).Text(), "another")
	d.Do(200, http.MethodDelete, "/tracks/"+first, nil)
	followEachOther(t, d.pdf(report+"?variant=theme").Text(), "Apes", "Sooner", "Other sessions", "Later", "A talk")
}

// TestDocumentsInPacks are items with the addresses that answer them.
func TestDocumentsInPacks(t *testing.T) {
	d := newDesk(t)
	of := func(path string) []entity {
		return entity(d.Do(200, http.MethodGet, path, nil).At("data").(object)).List("items")
	}
	require.Empty(t, of("/content/event"))
	d.add("insight")
	require.Empty(t, of("/sessions/"+d.session+"/content?expand=document"))
	d.item(404, "summary_pdf", "session_id="+d.session)
	d.add("summary")
	pack := d.pack()
	items := of("/sessions/" + d.session + "/content?expand=document")
	require.Equal(t, []string{"summary_pdf", "summary_card"}, it.Texts(items, "id"))
	events := of("/content/event?expand=document")
	require.Equal(t, []string{"event_report"}, it.Texts(events, "id"))
	require.Equal(t, []string{"event_report", "recap"}, it.Texts(of("/content/event"), "id"))
	require.Equal(t, items, pack.List("items")[2:])
	require.Equal(t, items, d.packs().Data[0].List("items")[2:])
	for i, item := range append(items, events...) {
		require.Equal(t, itemShape, it.KeysOf(item))
		answer := d.Call(t, 200, http.MethodGet, item.Text("url"), stacktest.WithHeaders(nil, "Accept", "*/*"))
		require.Equal(t, item["content_type"], answer.Header.Get("Content-Type"))
		require.Contains(t, answer.Header.Get("Content-Disposition"), fmt.Sprintf("%q", item.Text("name")))
		require.Equal(t, object{"type": "document", "document_type": item["id"], "text": "", "content": nil}, it.Pick(item, "type", "document_type", "text", "content"))
		if i < len(items) {
			require.Equal(t, item, d.item(200, item.ID(), "session_id="+d.session))
			require.Equal(t, object{"session_id": d.session, "scope": "session", "updated_at": pack["updated_at"]}, it.Pick(item, "session_id", "scope", "updated_at"))
		} else {
			require.Equal(t, item, d.item(200, item.ID()))
			require.Equal(t, object{"session_id": nil, "scope": "event"}, it.Pick(item, "session_id", "scope"))
		}
	}
}
