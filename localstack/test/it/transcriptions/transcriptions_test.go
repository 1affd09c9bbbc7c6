package transcriptions_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/functions/transcriptions"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/change"
)

// shape is the properties of a transcription (gaps.md 6.2).
const shape = "created_at end_time id is_partial language_code provider session_id source_transcription_id speaker start_time transcription type updated_at"

// TestTheLifeOfATranscription: create, read in three ways, update, delete.
func TestTheLifeOfATranscription(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t)
	require.Equal(t, object{"current_page": 1.0, "page_size": 25.0, "total_pages": 0.0, "total_results": 0.0},
		d.Do(200, http.MethodGet, d.path(), nil)["pagination"])
	require.Equal(t, []any{}, d.Do(200, http.MethodGet, "/transcriptions", nil)["data"])
	body := object{
		"type": "fragment", "transcription": "Good morning.", "speaker": "Ada", "provider": "live", "language_code": "en",
		"start_time": 0.5, "end_time": 1.25, "unknown": "ignored",
	}
	made := entity(d.send(201, http.MethodPost, "", body).At("data").(object))
	require.Equal(t, shape, it.KeysOf(made))
	delete(body, "unknown")
	require.Equal(t, it.Merged(body, object{"session_id": d.session, "is_partial": false, "source_transcription_id": nil}),
		it.Pick(made, "type", "transcription", "speaker", "provider", "language_code", "start_time", "end_time", "session_id", "is_partial", "source_transcription_id"))
	require.Equal(t, made, d.get(made.ID()))
	require.Equal(t, object(made), d.Do(200, http.MethodGet, "/transcriptions/"+made.ID(), nil)["data"])
	require.Equal(t, []entity{made}, d.list().Data)
	require.Equal(t, []entity{made}, d.listEvent().Data)

	changed := entity(d.send(200, http.MethodPut, made.ID(), object{"transcription": "Good evening.", "speaker": nil}).At("data").(object))
	require.Equal(t, object{"transcription": "Good evening.", "speaker": nil, "provider": "live"}, it.Pick(changed, "transcription", "speaker", "provider"))
	require.Greater(t, changed.Text("updated_at"), made.Text("updated_at"))
	require.Equal(t, it.Pick(changed, "transcription", "created_at"), it.Pick(d.send(200, http.MethodPut, made.ID(), changed).At("data").(object), "transcription", "created_at"))
	moved := d.send(200, http.MethodPut, made.ID(), object{"start_time": 1.25})
	require.Equal(t, moved["data"], object(d.get(made.ID())))

	d.send(204, http.MethodDelete, made.ID(), nil)
	for _, path := range []string{d.path() + "/" + made.ID(), "/transcriptions/" + made.ID()} {
		require.Equal(t, "Transcription not found", d.Do(404, http.MethodGet, path, nil)["message"])
	}
	d.send(404, http.MethodPut, made.ID(), object{})
	d.send(404, http.MethodDelete, made.ID(), nil)
	require.Empty(t, d.listEvent().Data)
}

// TestTheFourTypes with their rules: a translation has a source of the same session.
func TestTheFourTypes(t *testing.T) {
	d := newDesk(t)
	other := d.of(d.NewSessions("Another")[0])
	source, insight := d.add("summary"), d.add("insight")
	foreign := other.add("fragment")
	translation := d.add("translation", object{"source_transcription_id": source.ID(), "language_code": "fr"})
	require.Equal(t, source.ID(), translation["source_transcription_id"])
	require.Equal(t, 3, d.list().Pagination.TotalResults)

	const field = "source_transcription_id"
	for _, value := range []any{nil, it.UnknownID, foreign.ID(), translation.ID()} {
		it.RequireInvalid(t, d.send(400, http.MethodPost, "", object{"type": "translation", field: value}), field)
		it.RequireInvalid(t, d.send(400, http.MethodPut, translation.ID(), object{field: value}), field)
	}
	it.RequireInvalid(t, d.send(400, http.MethodPost, "", object{"type": "translation"}), field)
	it.RequireInvalid(t, d.send(400, http.MethodPost, "", object{"type": "insight", field: source.ID()}), field)
	it.RequireInvalid(t, d.send(400, http.MethodPut, insight.ID(), object{field: source.ID()}), field)
	it.RequireInvalid(t, d.send(400, http.MethodPut, insight.ID(), object{"type": "summary"}), "type")
	require.Equal(t, insight.ID(), d.send(200, http.MethodPut, translation.ID(), object{field: insight.ID()}).At("data."+field))

	refused := d.send(409, http.MethodDelete, insight.ID(), nil)
	it.RequireError(t, refused, "HAS_TRANSLATIONS", "")
	require.EqualValues(t, 1, refused.At("details.count"))
	d.send(204, http.MethodDelete, source.ID(), nil)
	d.send(204, http.MethodDelete, translation.ID(), nil)
	d.send(204, http.MethodDelete, insight.ID(), nil)
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestWrongTranscriptions are refused with the field, and nothing is written.
func TestWrongTranscriptions(t *testing.T) {
	d := newDesk(t)
	kept := d.add("fragment", object{"start_time": 5})
	for field, values := range map[string][]any{
		"type":                    {nil, "", "speech", 1},
		"transcription":           {nil, 1, strings.Repeat("a", 65_537), strings.Repeat("é", 40_000), strings.Repeat("\x01", 20_000)},
		"speaker":                 {1, strings.Repeat("a", 256)},
		"is_partial":              {nil, "yes"},
		"provider":                {1, strings.Repeat("a", 65)},
		"language_code":           {"", "e", "en_US", "en-", "é", 1, strings.Repeat("a", 36)},
		"start_time":              {-1, 10_000_001, "1", true},
		"end_time":                {-1, 10_000_001, "1", 4.9},
		"source_transcription_id": {"none", 1},
	} {
		for _, value := range values {
			body := object{"type": "fragment", "start_time": 5, field: value}
			it.RequireInvalid(t, d.send(400, http.MethodPost, "", body), field)
			it.RequireInvalid(t, d.send(400, http.MethodPut, kept.ID(), object{field: value}), field)
		}
	}
	it.RequireInvalid(t, d.send(400, http.MethodPost, "", object{"transcription": "x"}), "type")
	it.RequireInvalid(t, d.send(400, http.MethodPost, "", object{"type": "fragment", "end_time": 1}), "start_time")
	it.RequireInvalid(t, d.send(400, http.MethodPut, kept.ID(), object{"start_time": nil, "end_time": 1}), "start_time")
	d.send(400, http.MethodPost, "", []any{})
	for parameter, value := range map[string]string{
		"type": "speech", "session_id": "none", "include_partial": "maybe", "page": "0", "pageSize": "101", "language_code": strings.Repeat("a", 36),
	} {
		it.RequireInvalid(t, d.Do(400, http.MethodGet, "/transcriptions?"+parameter+"="+value, nil), parameter)
		if parameter != "session_id" {
			it.RequireInvalid(t, d.Do(400, http.MethodGet, d.path()+"?"+parameter+"="+value, nil), parameter)
		}
	}
	require.Equal(t, []entity{kept}, d.list("include_partial=true").Data)
}

// TestWhereNoTranscriptionIs: an unknown session, an unknown transcription, one of another session.
func TestWhereNoTranscriptionIs(t *testing.T) {
	d := newDesk(t)
	made := d.add("fragment")
	unknown, other := d.of(it.UnknownID), d.of(d.NewSessions("Another")[0])
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		require.Equal(t, "Session not found", unknown.send(404, method, made.ID(), object{})["message"])
		require.Equal(t, "Transcription not found", other.send(404, method, made.ID(), object{})["message"])
		require.Equal(t, "Transcription not found", d.send(404, method, it.UnknownID, object{})["message"])
	}
	require.Equal(t, "Session not found", unknown.send(404, http.MethodGet, "", nil)["message"])
	require.Equal(t, "Session not found", unknown.send(404, http.MethodPost, "", object{"type": "fragment"})["message"])
	require.Empty(t, d.listEvent("session_id="+it.UnknownID).Data)
	d.Do(404, http.MethodGet, "/transcriptions/"+it.UnknownID, nil)
	d.Do(400, http.MethodGet, "/transcriptions/none", nil)
	d.Do(400, http.MethodGet, d.path()+"/none", nil)
	require.Equal(t, made, d.get(made.ID()))
}

// TestGuardsOfTranscriptions: a client that has seen another version gets a 409 with the current
// one, and a condition that holds writes.
func TestGuardsOfTranscriptions(t *testing.T) {
	d := newDesk(t)
	made := d.add("fragment")
	first := d.Call(t, 200, http.MethodGet, d.EventPath(d.path()+"/"+made.ID()), nil)
	tag := first.Header.Get("ETag")
	d.Call(t, 304, http.MethodGet, d.EventPath(d.path()+"/"+made.ID()), stacktest.WithHeaders(nil, "If-None-Match", tag))
	changed := d.send(200, http.MethodPut, made.ID(), object{"speaker": "Ada", "updated_at": made["updated_at"]}, "If-Match", tag)
	for _, body := range []object{{"updated_at": made["updated_at"]}, {"updated_at": "2026-01-01T00:00:00Z"}} {
		refused := d.send(409, http.MethodPut, made.ID(), body)
		it.RequireError(t, refused, "STALE_UPDATE", "")
		require.Equal(t, changed.At("data.updated_at"), refused.At("details.updated_at"))
	}
	d.send(409, http.MethodPut, made.ID(), object{}, "If-Match", tag)
	d.send(409, http.MethodDelete, made.ID(), nil, "If-Match", tag)
	it.RequireInvalid(t, d.send(400, http.MethodPut, made.ID(), object{"updated_at": nil}), "updated_at")
	it.RequireInvalid(t, d.send(400, http.MethodDelete, made.ID(), nil, "If-Match", "none"), "If-Match")
	require.Equal(t, changed["data"], object(d.get(made.ID())))
	d.send(204, http.MethodDelete, made.ID(), nil, "If-Match", `"2"`)
}

// TestTheSameCreateTwice under an Idempotency-Key creates one transcription, and a 404 answers the
// repetition after the deletion.
func TestTheSameCreateTwice(t *testing.T) {
	d := newDesk(t)
	body := object{"type": "fragment", "transcription": "Once"}
	key := uuid.NewString()
	first := d.send(201, http.MethodPost, "", body, "Idempotency-Key", key)
	require.Equal(t, first, d.send(201, http.MethodPost, "", body, "Idempotency-Key", key))
	d.send(422, http.MethodPost, "", object{"type": "summary"}, "Idempotency-Key", key)
	d.Delete(200, d.session)
	require.Equal(t, first, d.send(201, http.MethodPost, "", body, "Idempotency-Key", key), "as the sessions of a deleted event")
	d.Restore(200, d.session)
	require.Equal(t, 1, d.list().Pagination.TotalResults)
	d.send(204, http.MethodDelete, first.At("data.id").(string), nil)
	d.send(404, http.MethodPost, "", body, "Idempotency-Key", key)
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestADeletedSessionHidesItsTranscriptions, a restore shows them again.
func TestADeletedSessionHidesItsTranscriptions(t *testing.T) {
	d := newDesk(t)
	sub := d.of(d.NewSubsession(d.session, "Part").ID())
	here, below := d.add("fragment"), sub.add("fragment")
	require.Equal(t, []string{here.ID(), below.ID()}, d.listEvent().ids())
	sub.Delete(200, sub.session)
	require.Equal(t, []string{here.ID()}, d.listEvent().ids())
	require.Empty(t, d.listEvent("session_id="+sub.session).Data)
	require.Equal(t, "Transcription not found", d.Do(404, http.MethodGet, "/transcriptions/"+below.ID(), nil)["message"])
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		require.Equal(t, "Session not found", sub.send(404, method, below.ID(), object{})["message"])
	}
	sub.send(404, http.MethodPost, "", object{"type": "fragment"})
	sub.send(404, http.MethodGet, "", nil)
	sub.Restore(200, sub.session)
	require.Equal(t, below, sub.get(below.ID()))
	require.Equal(t, []string{here.ID(), below.ID()}, d.listEvent().ids())
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestFilters of both lists: type, language, partial texts, session.
func TestFilters(t *testing.T) {
	d := newDesk(t)
	other := d.of(d.NewSessions("Another")[0])
	en := d.fragment(1, object{"language_code": "en"})
	partial := d.fragment(2, object{"language_code": "EN", "is_partial": true})
	pt := d.fragment(3, object{"language_code": "pt-BR"})
	summary := d.add("summary", object{"language_code": "en"})
	there := other.fragment(0, object{"language_code": "en"})
	for query, want := range map[string][]entity{
		"":                     {en, pt, summary, there},
		"include_partial=true": {en, partial, pt, summary, there},
		"type=fragment":        {en, pt, there},
		"type=summary":         {summary},
		"type=insight":         {},
		"language_code=En":     {en, summary, there},
		"language_code=pt-br":  {pt},
		"language_code=pt":     {},
		"session_id=" + d.session + "&type=fragment&language_code=en&include_partial=true": {en, partial},
	} {
		got := d.listEvent(query)
		require.Equal(t, it.Texts(want, "id"), got.ids(), query)
		require.Equal(t, len(want), got.Pagination.TotalResults)
	}
	require.Equal(t, []string{en.ID(), partial.ID()}, d.list("type=fragment", "language_code=en", "include_partial=true").ids())
	require.Equal(t, []string{en.ID(), pt.ID(), summary.ID()}, d.list().ids())
	require.Equal(t, partial, d.get(partial.ID()), "one by id is shown whatever it is")
}

// TestWhatIsTooMany: transcriptions and languages of a session.
func TestWhatIsTooMany(t *testing.T) {
	d := newDesk(t)
	small := &desk{d.ServeGroup(transcriptions.Group, func(env *api.Env) { env.MostRecords = 3 }), d.session}
	for range 3 {
		small.add("fragment")
	}
	it.RequireInvalid(t, small.send(400, http.MethodPost, "", object{"type": "fragment"}), "type")
	small.send(200, http.MethodPut, small.list().ids()[0], object{"speaker": "Ada"})
	small.send(204, http.MethodDelete, small.list().ids()[0], nil)
	small.add("fragment")
	for i := range 99 {
		d.add("fragment", object{"language_code": fmt.Sprintf("en-x%d", i)})
	}
	it.RequireInvalid(t, d.send(400, http.MethodPost, "", object{"type": "fragment", "language_code": "fr"}), "language_code")
	d.add("fragment", object{"language_code": "EN-X7"})
}

// TestSegments: what random writes leave is what a list of the same writes has, in every page,
// with texts of very different lengths.
func TestSegments(t *testing.T) {
	d := newDesk(t)
	random := rand.New(rand.NewPCG(1, 2))
	other := d.of(d.NewSessions("Another")[0])
	model := map[string]entity{}
	for step := range 900 {
		keys := slices.Sorted(func(yield func(string) bool) {
			for id := range model {
				if !yield(id) {
					return
				}
			}
		})
		more := object{"start_time": float64(random.IntN(1000)), "transcription": strings.Repeat("x", 1<<random.IntN(16))}
		if random.IntN(10) == 0 {
			more["start_time"] = nil
		}
		switch choice := random.IntN(10); {
		case choice < 2 && len(keys) > 0 || step > 700 && len(keys) > 0:
			id := keys[random.IntN(len(keys))]
			d.send(204, http.MethodDelete, id, nil)
			delete(model, id)
		case choice < 4 && len(keys) > 0:
			id := keys[random.IntN(len(keys))]
			model[id] = d.send(200, http.MethodPut, id, more).At("data").(object)
		default:
			made := d.add("fragment", more)
			model[made.ID()] = made
		}
	}
	last := other.fragment(0)
	want := make([]entity, 0, len(model))
	for _, made := range model {
		want = append(want, made)
	}
	slices.SortFunc(want, inOrder)
	want = append(want, last)
	for _, size := range []int{1, 7, 100} {
		var got []entity
		for page := 1; len(got) < len(want); page++ {
			l := d.listEvent(fmt.Sprintf("page=%d", page), fmt.Sprintf("pageSize=%d", size))
			require.Equal(t, len(want), l.Pagination.TotalResults)
			require.NotEmpty(t, l.Data)
			got = append(got, l.Data...)
		}
		require.Equal(t, want, got)
	}
	require.Empty(t, d.listEvent("page=999", "pageSize=100").Data)
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// inOrder compares by start, then by id; without a start last.
func inOrder(a, b entity) int {
	x, started := a["start_time"].(float64)
	y, other := b["start_time"].(float64)
	switch {
	case started != other && started:
		return -1
	case started != other:
		return 1
	case x != y && x < y:
		return -1
	case x != y:
		return 1
	}
	return strings.Compare(a.ID(), b.ID())
}

// TestManyWritersOfASession at one time lose nothing.
func TestManyWritersOfASession(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t)
	var made [4][]string
	it.Concurrently(len(made), func(writer int) {
		for i := range 10 {
			answer := d.TrySend(t, http.MethodPost, d.EventPath(d.path()), object{"type": "fragment", "start_time": i})
			if answer.Status != http.StatusCreated {
				t.Errorf("%d %s", answer.Status, answer.Body)
				return
			}
			id := entity(answer.JSON(t)).At("data.id").(string)
			made[writer] = append(made[writer], id)
			d.TrySend(t, http.MethodPut, d.EventPath("/sessions/"+d.session), object{"title": fmt.Sprint("Talk ", i)})
			if list := d.TrySend(t, http.MethodGet, d.EventPath(d.path()), nil); list.Status != http.StatusOK {
				t.Errorf("%d %s", list.Status, list.Body)
			}
		}
	})
	require.ElementsMatch(t, slices.Concat(made[:]...), d.list("pageSize=100").ids())
}

// TestChangesOfTranscriptions are in the audit trail, without anybody's words and names.
func TestChangesOfTranscriptions(t *testing.T) {
	d := newDesk(t)
	watch := d.WatchChanges("transcription")
	made := d.add("fragment", object{"transcription": "Before"})
	d.send(200, http.MethodPut, made.ID(), object{"transcription": "After", "speaker": "Ada", "provider": "live"})
	d.send(204, http.MethodDelete, made.ID(), nil)
	changes := watch.Since()
	require.Len(t, changes, 3)
	for i, action := range []string{"transcription.created", "transcription.updated", "transcription.deleted"} {
		c := changes[i]
		require.Equal(t, action, c.Action)
		require.Equal(t, made.ID(), c.RecordID)
		require.EqualValues(t, i+1, c.Version)
		require.Equal(t, "session "+d.session, c.Parent)
		require.Empty(t, c.Kinds)
	}
	require.Empty(t, changes[0].Values)
	require.ElementsMatch(t, []change.Value{{Field: "transcription"}, {Field: "speaker"}, {Field: "provider", New: "live"}}, changes[1].Values)
	require.Equal(t, "deleted_at", changes[2].Values[0].Field)
}
