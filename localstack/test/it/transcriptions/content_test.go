package transcriptions_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api/encode"
)

// The properties of a pack and of an item (gaps.md 6.5).
const (
	packShape = "event_id has_podcast has_summary has_transcription id items speakers starts_at title updated_at"
	itemShape = "content content_type created_at document_type duration_sec elements expires_at fragment_count generated_at id insight_type " +
		"interval_sec language_code metadata name provider quotes scope session_id status summaries summary_type text topics type updated_at url"
)

// pack returns the pack of the session.
func (d *desk) pack(parts ...string) entity {
	d.T.Helper()
	return d.Do(200, http.MethodGet, "/sessions/"+d.session+"/content"+it.Query(parts), nil).At("data").(object)
}

// packs returns a page of the packs of the event.
func (d *desk) packs(parts ...string) listing {
	d.T.Helper()
	return stacktest.Call[listing](d.Stack, 200, http.MethodGet, d.EventPath("/content"+it.Query(parts)), nil)
}

// item returns an item of the event's content.
func (d *desk) item(status int, id string, parts ...string) entity {
	d.T.Helper()
	answer := d.Do(status, http.MethodGet, "/content/items/"+id+it.Query(parts), nil)
	if status != http.StatusOK {
		return answer
	}
	return answer.At("data").(object)
}

// texts returns the values of elements.
func texts(item entity) []string { return it.Texts(item.List("elements"), "value") }

// speech creates fragments of two speakers, some partial, in another order than they were said.
func (d *desk) speech() (ids []string) {
	d.T.Helper()
	for _, f := range []object{
		{"start_time": 12, "end_time": 14, "speaker": "Bob", "transcription": "Thanks."},
		{"start_time": 0, "end_time": 4.5, "speaker": "Ada", "transcription": "Good morning."},
		{"start_time": 5, "end_time": 9, "speaker": "Ada", "transcription": "Welcome."},
		{"start_time": 10, "end_time": 11, "speaker": "Ada", "transcription": "Here is Bob."},
		{"start_time": 11, "speaker": "Bob", "transcription": "Thx", "is_partial": true},
		{"start_time": 15, "transcription": "(applause)"},
		{"transcription": "The end."},
	} {
		ids = append(ids, d.add("fragment", f, object{"language_code": "en", "provider": "live"}).ID())
	}
	return ids
}

// TestThePackOfASession joins fragments, and has the other texts beside them.
func TestThePackOfASession(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t)
	empty := d.pack()
	require.Equal(t, packShape, it.KeysOf(empty))
	require.Equal(t, object{"has_transcription": false, "has_summary": false, "has_podcast": false, "items": []any{}, "speakers": []any{}, "title": "A talk",
		"id": d.session, "event_id": float64(d.Event), "starts_at": nil},
		it.Pick(empty, "has_transcription", "has_summary", "has_podcast", "items", "speakers", "title", "id", "event_id", "starts_at"))
	ids := d.speech()
	summary := d.add("summary", object{"provider": "claude"})
	insight := d.add("insight", object{"provider": "openai"})
	translation := d.add("translation", object{"source_transcription_id": summary.ID(), "language_code": "fr", "transcription": "Un résumé"})

	pack := d.pack()
	require.Equal(t, object{"has_transcription": true, "has_summary": true, "has_podcast": false}, it.Pick(pack, "has_transcription", "has_summary", "has_podcast"))
	require.Equal(t, []any{
		object{"id": "Ada", "label": "Ada", "name": "Ada"}, object{"id": "Bob", "label": "Bob", "name": "Bob"},
	}, pack["speakers"])
	require.Equal(t, translation["updated_at"], pack["updated_at"])
	items := pack.List("items")
	require.Len(t, items, 6)
	for _, item := range items {
		require.Equal(t, itemShape, it.KeysOf(item))
	}
	speech := items[0]
	require.Equal(t, object{
		"id": d.session, "type": "transcription", "session_id": d.session, "fragment_count": 6.0, "interval_sec": nil, "language_code": "en", "provider": "live",
		"text": "Good morning. Welcome. Here is Bob.\nThanks.\n(applause) The end.", "scope": "session", "content": nil,
	}, it.Pick(speech, "id", "type", "session_id", "fragment_count", "interval_sec", "language_code", "provider", "text", "scope", "content"))
	require.Equal(t, []string{"Good morning. Welcome. Here is Bob.", "Thanks.", "(applause) The end."}, texts(speech))
	first := speech.List("elements")[0]
	require.Equal(t, object{
		"value": "Good morning. Welcome. Here is Bob.", "speaker": object{"id": "Ada", "label": "Ada", "name": "Ada"},
		"start_time": 0.0, "end_time": 11.0, "fragment_ids": []any{ids[1], ids[2], ids[3]},
	}, object(first))
	require.Nil(t, speech.List("elements")[2]["speaker"])

	byID := map[string]entity{}
	for _, item := range items[1:4] {
		byID[item.ID()] = item
	}
	require.Equal(t, object{"type": "summary", "text": "A summary", "content": "A summary", "provider": "claude", "elements": []any{}},
		it.Pick(byID[summary.ID()], "type", "text", "content", "provider", "elements"))
	require.Equal(t, "insight", byID[insight.ID()]["type"])
	require.Equal(t, object{"type": "transcription", "language_code": "fr", "text": "Un résumé"}, it.Pick(byID[translation.ID()], "type", "language_code", "text"))
	require.Equal(t, []string{"Un résumé"}, texts(byID[translation.ID()]))

	require.Equal(t, []any{"summary"}, it.Column(d.pack("expand=summary").List("items"), "type"))
	require.Equal(t, []any{"transcription", "summary"}, it.Column(d.pack("provider=claude", "expand=transcription,summary,insight").List("items"), "type"))
	require.Empty(t, d.pack("expand=podcast").List("items"))
	renamed := d.Put(200, d.session, object{"title": "Another title", "starts_at": "2027-05-11T09:00:00Z"})
	pack = d.pack()
	require.Equal(t, it.Pick(renamed, "title", "starts_at", "updated_at"), it.Pick(pack, "title", "starts_at", "updated_at"))
}

// TestElementsAreCutAtTheInterval: at each multiple of so many seconds, and where the speaker changes.
func TestElementsAreCutAtTheInterval(t *testing.T) {
	d := newDesk(t)
	d.speech()
	for interval, want := range map[string][]string{
		"1":    {"Good morning.", "Welcome.", "Here is Bob.", "Thanks.", "(applause) The end."},
		"10":   {"Good morning. Welcome.", "Here is Bob.", "Thanks.", "(applause) The end."},
		"13":   {"Good morning. Welcome. Here is Bob.", "Thanks.", "(applause) The end."},
		"3600": {"Good morning. Welcome. Here is Bob.", "Thanks.", "(applause) The end."},
	} {
		item := d.pack("interval_sec=" + interval).List("items")[0]
		require.Equal(t, want, texts(item), interval)
		require.Equal(t, interval, fmt.Sprint(item["interval_sec"]))
		require.Equal(t, strings.Join(want, "\n"), item["text"])
		require.Equal(t, item, d.item(200, d.session, "interval_sec="+interval))
	}
}

// TestThePacksOfAnEvent in pages, with elements only if they are asked for.
func TestThePacksOfAnEvent(t *testing.T) {
	d := newDesk(t)
	ids := d.NewSessions("Second", "Silent", "Only partial")
	second, partial := d.of(ids[0]), d.of(ids[2])
	d.speech()
	second.add("summary")
	partial.add("fragment", object{"is_partial": true})
	all := d.packs()
	require.Equal(t, []string{d.session, second.session}, all.ids())
	require.Equal(t, 2, all.Pagination.TotalResults)
	require.Equal(t, []entity{d.pack(), second.pack()}, d.packs("expand=transcription,summary,insight,podcast,document,items").Data)
	full := d.packs("expand=transcription,summary,insight,items").Data
	require.Empty(t, all.Data[0].List("items")[0]["elements"])
	require.NotEmpty(t, d.packs("expand=items").Data[0].List("items")[0]["elements"], "items alone expands the usual kinds")
	require.Equal(t, full[0].List("items")[0]["text"], all.Data[0].List("items")[0]["text"])
	require.Equal(t, full[0]["speakers"], all.Data[0]["speakers"])
	require.Equal(t, []string{second.session}, d.packs("page=2", "pageSize=1").ids())
	require.Equal(t, []string{second.session}, d.packs("session_id="+second.session).ids())
	require.Empty(t, d.packs("session_id="+it.UnknownID).Data)
	require.Empty(t, d.packs("expand=insight").Data[0].List("items"))
	require.Equal(t, 1, len(d.packs("interval_sec=1", "expand=transcription").Data[0].List("items")))
	d.Delete(200, d.session)
	require.Equal(t, []string{second.session}, d.packs().ids())
	d.Do(404, http.MethodGet, "/sessions/"+d.session+"/content", nil)
	d.item(404, d.session)
	d.Restore(200, d.session)
	restored := d.packs("expand=transcription,summary,items").Data
	require.Equal(t, full[0]["items"], restored[0]["items"])
	require.Greater(t, restored[0].Text("updated_at"), full[0].Text("updated_at"))
	require.Equal(t, full[1], restored[1])
}

// TestThePackOfTheEvent joins the insights of all sessions.
func TestThePackOfTheEvent(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t)
	pack := func(parts ...string) entity {
		return d.Do(200, http.MethodGet, "/content/event"+it.Query(parts), nil).At("data").(object)
	}
	require.Equal(t, entity{"id": float64(d.Event), "updated_at": nil, "items": []any{}}, pack())
	d.item(404, "recap")
	other := d.of(d.NewSessions("Another")[0])
	other.add("insight", object{"transcription": "B", "provider": "claude"})
	d.add("insight", object{"transcription": "A", "language_code": "en"})
	last := d.add("summary")
	require.Equal(t, last["updated_at"], pack()["updated_at"])
	items := pack("expand=recap").List("items")
	require.Len(t, items, 1)
	require.Equal(t, itemShape, it.KeysOf(items[0]))
	require.Equal(t, object{
		"id": "recap", "type": "recap", "session_id": nil, "text": "A\n\nB", "content": "A\n\nB", "summaries": []any{"A", "B"}, "scope": "event",
		"provider": nil, "language_code": nil,
	}, it.Pick(items[0], "id", "type", "session_id", "text", "content", "summaries", "scope", "provider", "language_code"))
	require.Equal(t, items[0], d.item(200, "recap"))
	require.Equal(t, "B", d.item(200, "recap", "provider=claude")["text"])
	d.item(404, "recap", "provider=openai")
}

// TestItemsByTheirID: of a session, of a text, and by name.
func TestItemsByTheirID(t *testing.T) {
	d := newDesk(t)
	other := d.of(d.NewSessions("Another")[0])
	fragment := d.fragment(1)
	summary := d.add("summary", object{"provider": "claude"})
	partial := d.add("summary", object{"is_partial": true})
	pack := d.pack().List("items")
	require.Equal(t, pack[0], d.item(200, d.session))
	require.Equal(t, pack[0], d.item(200, d.session, "session_id="+d.session, "provider=openai"))
	require.Equal(t, pack[1], d.item(200, summary.ID()))
	require.Equal(t, pack[1], d.item(200, strings.ToUpper(summary.ID()), "session_id="+d.session, "provider=claude"))
	for _, asked := range []string{
		fragment.ID(), partial.ID(), it.UnknownID, other.session, summary.ID() + "?session_id=" + other.session,
		summary.ID() + "?provider=openai", d.session + "?session_id=" + other.session, "summary_pdf?session_id=" + other.session, "summary_card?session_id=" + other.session,
	} {
		require.Equal(t, "Item not found", d.item(404, asked)["message"], asked)
	}
	require.Equal(t, "Session not found", d.item(404, "summary_pdf", "session_id="+it.UnknownID)["message"])
	for _, name := range []string{"summary_pdf", "summary_card"} {
		it.RequireInvalid(t, d.item(400, name), "session_id")
	}
	for _, id := range []string{"summary", "x", "urn:uuid:" + d.session, "{" + d.session + "}", strings.Repeat("x", 65)} {
		it.RequireInvalid(t, d.item(400, id), "id")
	}
}

// TestWrongQueriesOfContent are refused with the parameter.
func TestWrongQueriesOfContent(t *testing.T) {
	d := newDesk(t)
	for _, path := range []string{"/content", "/content/items/" + d.session, "/sessions/" + d.session + "/content"} {
		for parameter, values := range map[string][]string{"interval_sec": {"0", "3601", "x", "1.5"}, "provider": {"other", ""}} {
			for _, value := range values {
				it.RequireInvalid(t, d.Do(400, http.MethodGet, path+"?"+parameter+"="+value, nil), parameter)
			}
		}
	}
	for _, path := range []string{"/content", "/content/event", "/sessions/" + d.session + "/content"} {
		it.RequireInvalid(t, d.Do(400, http.MethodGet, path+"?expand=everything", nil), "expand")
	}
	for parameter, value := range map[string]string{"page": "0", "pageSize": "101", "session_id": "x"} {
		it.RequireInvalid(t, d.Do(400, http.MethodGet, "/content?"+parameter+"="+value, nil), parameter)
	}
	it.RequireInvalid(t, d.Do(400, http.MethodGet, "/content/items/recap?session_id=x", nil), "session_id")
	d.Do(404, http.MethodGet, "/sessions/"+it.UnknownID+"/content", nil)
	d.Do(400, http.MethodGet, "/sessions/x/content", nil)
}

// TestALongPack leaves out elements, and says so; a page is refused with a size that fits.
func TestALongPack(t *testing.T) {
	d := newDesk(t)
	long := strings.Repeat("word ", 13_000)
	others := d.NewSessions("Another", "A third")
	for _, session := range append(others, d.session) {
		for i := range 50 {
			d.of(session).fragment(float64(i), object{"transcription": long, "speaker": fmt.Sprint("S", i%2)})
		}
	}
	plain := d.pack()
	require.Equal(t, []any{"elements"}, plain.List("items")[0]["omitted"])
	require.Empty(t, plain.List("items")[0]["elements"])
	require.Equal(t, []any{"elements"}, d.item(200, d.session)["omitted"])
	path := d.EventPath("/sessions/" + d.session + "/content")
	packed := d.Call(t, 200, http.MethodGet, path, stacktest.WithHeaders(nil, "Accept", "*/*", "Accept-Encoding", "gzip"))
	require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
	text, err := encode.Gunzip(packed.Body)
	require.NoError(t, err)
	var whole struct{ Data entity }
	require.NoError(t, json.Unmarshal(text, &whole))
	require.Len(t, whole.Data.List("items")[0].List("elements"), 50)
	refused := d.Do(400, http.MethodGet, "/content?pageSize=3", nil)
	it.RequireInvalid(t, refused, "pageSize")
	require.Contains(t, refused["message"], "a pageSize of 1 or less")
	require.Len(t, d.packs("pageSize=1").Data, 1)
}
