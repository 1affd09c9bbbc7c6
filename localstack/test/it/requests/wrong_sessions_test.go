package requests_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// mistake is a request that must be refused: its status, its code, empty for
// the plain one of the status, and the field that the details name; without one
// they must name none.
type mistake struct {
	method, path string
	body         any
	status       int
	code, field  string
	header       []string
}

const validation = "VALIDATION_ERROR"

// targets is an event with a record of each kind, for requests with mistakes.
type targets struct {
	*it.Client
	engine  it.Engine
	session string // with a subsession
	sub     string
	gone    string // a deleted session
	nobody  string // an id without a record
	track   string
	tag     string
	status  string // a custom status of the category pending
	note    string // a text field
	size    string // a dropdown
	noteID  string
	contact string
	sponsor string
	// otherSession and otherTrack belong to another event.
	otherSession, otherTrack string
}

func newTargets(t *testing.T) *targets {
	t.Helper()
	s, engine := it.StartWithEngine(t, nil)
	w := &targets{Client: &it.Client{Stack: s, T: t}, engine: engine, nobody: uuid.NewString()}
	w.track, w.tag = w.NewEntry("tracks", "Track").ID(), w.NewEntry("tags", "Tag").ID()
	w.status = w.NewEntry("statuses", "Maybe").ID()
	for _, kind := range []string{"rooms", "formats", "levels", "languages"} {
		w.NewEntry(kind, kind)
	}
	w.note, w.size = w.NewField("Note", "text"), w.NewField("Size", "dropdown", object{"options": []string{"S", "M"}})
	session := w.Create(200, object{"title": "Session", "track_id": w.track, "custom_fields": object{w.note: "x"}})
	w.session, w.noteID = session.ID(), session.List("custom_fields")[0].ID()
	w.sub = w.Client.NewSubsession(w.session, "Part").ID()
	w.gone = w.NewSessions("Gone")[0]
	w.Delete(200, w.gone)
	w.contact, w.sponsor = it.MustCreate(t, s, "/contacts/create", it.SampleDraft("contacts")), it.MustCreate(t, s, "/sponsors/create", it.SampleDraft("sponsors"))
	there := w.InNewEvent()
	w.otherSession, w.otherTrack = there.NewSessions("There")[0], there.NewEntry("tracks", "There").ID()
	return w
}

// stock is the table as it stands, but for the rate limiter's counters.
func (w *targets) stock() it.Dump {
	w.T.Helper()
	all := w.engine.Dump(w.T)
	for key := range all {
		if strings.HasPrefix(key.PK, "L#") {
			delete(all, key)
		}
	}
	return all
}

// changed are the keys under which two dumps differ.
func changed(before, after it.Dump) (keys []string) {
	for key, item := range after {
		if was, there := before[key]; !there || was != item {
			keys = append(keys, fmt.Sprint(key.PK, " ", key.SK))
		}
	}
	for key := range before {
		if _, there := after[key]; !there {
			keys = append(keys, fmt.Sprint(key.PK, " ", key.SK))
		}
	}
	return keys
}

// plainCodes are the codes of errors that have one code alone.
var plainCodes = map[int]string{
	401: "UNAUTHORIZED", 403: "INSUFFICIENT_SCOPE", 404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED", 413: "PAYLOAD_TOO_LARGE",
	415: "UNSUPPORTED_MEDIA_TYPE",
}

// makes sends the mistakes. Each must be refused as it says, and leave the
// table as it was.
func (w *targets) makes(mistakes []mistake) {
	w.T.Helper()
	before := w.stock()
	for i, m := range mistakes {
		path := m.path
		if !strings.HasPrefix(path, "/v1") {
			path = w.EventPath(path)
		}
		answer, err := w.Send(w.T, m.method, path, stacktest.WithHeaders(m.body, m.header...))
		require.NoError(w.T, err)
		what := fmt.Sprintf("mistake %d: %s %s %.200v answered %d %.300s", i, m.method, m.path, m.body, answer.Status, answer.Body)
		require.Equal(w.T, m.status, answer.Status, what)
		require.Equal(w.T, "application/json", answer.Header.Get("Content-Type"), what)
		if m.method != "HEAD" {
			refusal := entity(answer.JSON(w.T))
			require.Equal(w.T, cmp.Or(m.code, plainCodes[m.status]), refusal.Text("code"), what)
			field, named := refusal.At("details.field").(string)
			require.Equal(w.T, m.field, field, what)
			require.Equal(w.T, m.field != "", named, what)
			require.Equal(w.T, refusal["name"], refusal["error"], what)
			require.NotEmpty(w.T, refusal["message"], what)
		}
		require.Empty(w.T, changed(before, w.stock()), what)
	}
	w.T.Logf("%d mistakes", len(mistakes))
}

// bad is a mistake that is a 400 VALIDATION_ERROR.
func bad(method, path string, body any, field string, header ...string) mistake {
	return mistake{method, path, body, 400, validation, field, header}
}

// each makes one mistake of every body: the same request, with the field that
// is wrong in it as the key's text before the first colon, if any.
type wrongBody struct {
	field string
	body  any
}

func eachOf(method, path string, bodies []wrongBody) []mistake {
	var all []mistake
	for _, b := range bodies {
		all = append(all, bad(method, path, b.body, b.field))
	}
	return all
}

func TestWrongSessionBodies(t *testing.T) {
	w := newTargets(t)
	one := "/sessions/" + w.session
	var all []mistake
	for _, b := range w.properties() {
		all = append(all, bad("PUT", one, b.body, b.field))
		if body, ok := b.body.(object); ok {
			all = append(all, bad("POST", "/sessions/create", it.Merged(object{"title": "x"}, body), b.field))
		}
	}
	w.makes(all)
}

// properties are bodies with one wrong property, whatever they are sent to.
func (w *targets) properties() []wrongBody {
	long := strings.Repeat("x", 70_000)
	return []wrongBody{
		{"title", object{"title": 1}}, {"title", object{"title": nil}}, {"title", object{"title": ""}}, {"title", object{"title": "  "}},
		{"title", object{"title": []string{"x"}}}, {"title", object{"title": strings.Repeat("x", 256)}}, {"title", `{"title":"a\u0000b"}`},
		{"description", object{"description": 1}}, {"description", object{"description": long}}, {"description", object{"description": object{}}},
		{"starts_at", object{"starts_at": "tomorrow"}}, {"starts_at", object{"starts_at": "2027-05-11"}}, {"starts_at", object{"starts_at": ""}},
		{"starts_at", object{"starts_at": "2027-05-11T10:00:00"}}, {"starts_at", object{"starts_at": 1747000000}},
		{"starts_at", object{"starts_at": "2027-02-30T10:00:00Z"}}, {"starts_at", object{"starts_at": "12027-02-20T10:00:00Z"}},
		{"ends_at", object{"ends_at": "2027-05-11T25:00:00Z"}}, {"ends_at", object{"ends_at": true}},
		{"ends_at", object{"starts_at": "2027-05-11T10:00:00Z", "ends_at": "2027-05-11T09:59:59Z"}},
		{"capacity", object{"capacity": "12"}}, {"capacity", object{"capacity": -1}}, {"capacity", object{"capacity": 1.5}},
		{"capacity", object{"capacity": 100_001}}, {"capacity", `{"title":"x","capacity":1e400}`}, {"capacity", `{"title":"x","capacity":99999999999999999999}`},
		{"ceu_credits", object{"ceu_credits": "1"}}, {"ceu_credits", object{"ceu_credits": -0.5}}, {"ceu_credits", object{"ceu_credits": 1e5}},
		{"room_id", object{"room_id": "hall"}}, {"room_id", object{"room_id": w.nobody}}, {"room_id", object{"room_id": w.track}},
		{"track_id", object{"track_id": 7}}, {"track_id", object{"track_id": w.otherTrack}}, {"track_id", object{"track_id": []string{w.track}}},
		{"level_id", object{"level_id": w.nobody}}, {"format_id", object{"format_id": w.nobody}}, {"language_id", object{"language_id": "en"}},
		{"language_id", object{"language_id": w.nobody}}, {"format_id", object{"format_id": "{" + w.track + "}"}},
		{"tag_ids", object{"tag_ids": w.tag}}, {"tag_ids[1]", object{"tag_ids": []string{w.tag, "x"}}}, {"tag_ids[0]", object{"tag_ids": []any{nil}}},
		{"tag_ids[0]", object{"tag_ids": []any{5}}}, {"tag_ids[1]", object{"tag_ids": []string{w.tag, w.tag}}}, {"tag_ids[0]", object{"tag_ids": []string{w.track}}},
		{"tag_ids", object{"tag_ids": slices.Repeat([]string{w.tag}, 101)}}, {"tag_ids[1]", object{"tag_ids": []string{w.tag, strings.ToUpper(w.tag)}}},
		{"status", object{"status": "maybe"}}, {"status", object{"status": "Accepted"}}, {"status", object{"status": 1}}, {"status", object{"status": nil}},
		{"status", object{"custom_status_id": w.status, "status": "accepted"}}, {"custom_status_id", object{"custom_status_id": w.nobody}},
		{"custom_status_id", object{"custom_status_id": w.BuiltInStatus("pending")}}, {"custom_status_id", object{"custom_status_id": "Maybe"}},
		{"is_public", object{"is_public": "yes"}}, {"is_public", object{"is_public": nil}}, {"is_public", object{"is_public": 1}},
		{"is_abstract", object{"is_abstract": "true"}}, {"is_abstract", object{"is_abstract": nil}},
		{"external_url", object{"external_url": "example.org"}}, {"external_url", object{"external_url": "javascript:alert(1)"}},
		{"external_url", object{"external_url": "https://"}}, {"external_url", object{"external_url": "http://a b"}}, {"external_url", object{"external_url": ""}},
		{"external_url", object{"external_url": 5}}, {"client_session_id", object{"client_session_id": 5}}, {"client_session_id", object{"client_session_id": long}},
		{"location", object{"location": "moon"}}, {"location", object{"location": 1}},
		{"custom_fields", object{"custom_fields": nil}}, {"custom_fields", object{"custom_fields": []string{}}}, {"custom_fields", object{"custom_fields": "x"}},
		{"participants", object{"participants": nil}}, {"participants", object{"participants": object{}}}, {"participants[0]", object{"participants": []int{1}}},
		{"participants[0].contact_id", object{"participants": []object{{"contact_id": w.nobody, "core_role": "speaker"}}}},
		{"participants[0].core_role", object{"participants": []object{{"contact_id": w.nobody, "core_role": "guest"}}}},
		{"participants[0].contact_id", object{"participants": []object{{"contact_id": w.sponsor, "core_role": "speaker"}}}},
		{"participants[0].email", object{"participants": []object{{"email": "nobody@example.org", "core_role": "speaker"}}}},
		{"participants[0].email", object{"participants": []object{{"contact_id": w.contact, "email": "a@example.org", "core_role": "speaker"}}}},
		{"participants[0].role_id", object{"participants": []object{{"contact_id": w.contact}}}},
		{"participants[0].role_id", object{"participants": []object{{"contact_id": w.contact, "role_id": w.nobody}}}},
		{"participants[1].contact_id", object{"participants": slices.Repeat([]object{{"contact_id": w.contact, "core_role": "speaker"}}, 2)}},
		{"sponsor_ids[0]", object{"sponsor_ids": []string{w.contact}}}, {"exhibitor_ids[0]", object{"exhibitor_ids": []string{w.sponsor}}},
		{"sponsor_ids[1]", object{"sponsor_ids": []string{w.sponsor, w.sponsor}}},
		{"sponsor_ids[0]", object{"sponsor_ids": []string{w.nobody}}}, {"exhibitor_ids[0]", object{"exhibitor_ids": []string{"x"}}},
		{"sponsor_ids", object{"sponsor_ids": "x"}}, {"translations", object{"translations": nil}}, {"translations", object{"translations": []any{}}},
		{"parent_session_id", object{"parent_session_id": "x"}}, {"parent_session_id", object{"parent_session_id": w.nobody}},
		{"parent_session_id", object{"parent_session_id": w.otherSession}}, {"parent_session_id", object{"parent_session_id": w.sub}},
	}
}
