package limits_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// ask makes a request on a record, or below it, and gives its whole answer.
func (w *kindClient) ask(status int, method, rest string, body any, header ...string) stacktest.Answer {
	w.T.Helper()
	return w.Call(w.T, status, method, w.EventPath(w.Path(rest)), stacktest.WithHeaders(body, header...))
}

// stale checks a 409 that tells the current state.
func stale(t *testing.T, answer stacktest.Answer, current entity, version string) {
	t.Helper()
	refusal := entity(answer.JSON(t))
	it.RequireError(t, refusal, "STALE_UPDATE", "")
	require.Equal(t, "ConflictError", refusal["name"])
	require.Equal(t, current["updated_at"], refusal.At("details.updated_at"))
	require.Equal(t, `"`+version+`"`, answer.Header.Get("ETag"), "without the rest, which is the answer's")
}

// version is the part of an answer's ETag that counts the changes of its record.
func version(t *testing.T, answer stacktest.Answer) string {
	t.Helper()
	version, _, _ := strings.Cut(strings.TrimPrefix(answer.Header.Get("ETag"), `"`), ".")
	require.Regexp(t, `^\d+$`, version)
	return version
}

func TestUpdatedAtAdmitsTheCurrentVersionAlone(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		first := w.create(200, it.Merged(w.Draft("A"), object{"updated_at": "2020-01-01T00:00:00Z"}))
		id, seen := first.ID(), first.Text("updated_at")
		body := func(text, updatedAt any) object { return object{w.TextField: text, "updated_at": updatedAt} }
		answer := w.ask(200, "PUT", id, body("B", seen))
		second := entity(answer.JSON(t))
		at, err := time.Parse(time.RFC3339, second.Text("updated_at"))
		require.NoError(t, err)
		wrong := []string{seen}
		for _, other := range []time.Time{at.Add(time.Millisecond), at.Add(-time.Millisecond), at.Add(time.Hour), time.Unix(0, 0)} {
			wrong = append(wrong, other.Format(time.RFC3339Nano))
		}
		for _, other := range wrong {
			stale(t, w.ask(409, "PUT", id, body("C", other)), second, version(t, answer))
			failure := w.refuses(w.bulk(it.Updating(id, body("C", other))), 0, "STALE_UPDATE", "")
			if !w.PlainErrors {
				require.Equal(t, second["updated_at"], failure.At("details.updated_at"))
			}
		}
		require.Equal(t, second, w.get(200, id), "nothing is written")

		third := w.ask(200, "PUT", id, body("C", at.In(time.FixedZone("", -5*3600)).Format("2006-01-02T15:04:05.000-07:00"))).JSON(t)
		at, err = time.Parse(time.RFC3339, third["updated_at"].(string))
		require.NoError(t, err)
		fourth := w.ask(200, "PUT", id, body("D", at.Add(999*time.Microsecond).Format("2006-01-02T15:04:05.000000Z"))).JSON(t)
		require.Equal(t, "E", w.bulk(it.Updating(id, body("E", fourth["updated_at"]))).Data(t, 0)[w.TextField])
		w.ask(200, "PUT", id, w.WithText("F"))
		for _, malformed := range []any{nil, "now", "2026-11-21T10:00:00"} {
			it.RequireInvalid(t, w.ask(400, "PUT", id, body("G", malformed)).JSON(t), "updated_at")
		}
	})
}

func TestIfMatchAdmitsTheCurrentVersionAlone(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		made := w.Call(t, 200, "POST", w.EventPath(w.CreatePath()), w.Draft("A"))
		id, etag := entity(made.JSON(t)).ID(), made.Header.Get("ETag")
		require.NotEmpty(t, etag)
		read := func() stacktest.Answer { return w.ask(200, "GET", id, nil) }
		for _, known := range []string{etag, "W/" + etag, `"9.x", ` + etag, "*"} {
			w.ask(200, "PUT", id, w.WithText(known), "If-Match", strings.ReplaceAll(known, etag, read().Header.Get("ETag")))
		}
		w.ask(200, "PUT", id, w.WithText("bare"), "If-Match", `"`+version(t, read())+`"`)
		seen := read()
		current, tag, number := entity(seen.JSON(t)), seen.Header.Get("ETag"), version(t, seen)
		for _, old := range []string{etag, `"1"`, `"1.x","2.x"`, `"1.x", "999"`, `""`, `"x"`} {
			stale(t, w.ask(409, "PUT", id, w.WithText("B"), "If-Match", old), current, number)
			stale(t, w.ask(409, "DELETE", id, nil, "If-Match", old), current, number)
		}
		for _, malformed := range []string{"6", `"6`, `"6" "7"`, "W/6", `w/"6"`, ",,"} {
			it.RequireInvalid(t, w.ask(400, "PUT", id, w.WithText("B"), "If-Match", malformed).JSON(t), "If-Match")
			it.RequireInvalid(t, w.ask(400, "DELETE", id, nil, "If-Match", malformed).JSON(t), "If-Match")
			it.RequireInvalid(t, w.ask(400, "POST", id+"/restore", nil, "If-Match", malformed).JSON(t), "If-Match")
		}
		require.Equal(t, current, w.get(200, id))
		stale(t, w.ask(409, "PUT", id, object{"updated_at": "2020-01-01T00:00:00Z"}, "If-Match", tag), current, number)
		changed := w.ask(200, "PUT", id, object{"updated_at": current["updated_at"]}, "If-Match", tag)
		w.ask(409, "DELETE", id, nil, "If-Match", tag)
		deleted := w.ask(200, "DELETE", id, nil, "If-Match", `"`+version(t, changed)+`"`)
		stale(t, w.ask(409, "POST", id+"/restore", nil, "If-Match", changed.Header.Get("ETag")), deleted.JSON(t), version(t, deleted))
		restored := w.ask(200, "POST", id+"/restore", nil, "If-Match", deleted.Header.Get("ETag"))
		require.NotEqual(t, version(t, deleted), version(t, restored))
		require.Equal(t, restored.Header.Get("ETag"), read().Header.Get("ETag"))
	})
}

func TestUpdatedAtAlwaysGrows(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		id := w.one("A")
		operations := make([]object, 50)
		for i := range operations {
			operations[i] = it.Updating(id, w.WithText(fmt.Sprint(i)))
		}
		o := w.bulk(operations...)
		times := make([]string, len(operations))
		for i := range operations {
			times[i] = o.Data(t, i).Text("updated_at")
		}
		require.IsIncreasing(t, times)
		require.Equal(t, times[49], w.get(200, id)["updated_at"])
	})
}

// TestFieldsOfASessionAreGuardedToo on their own route.
func TestFieldsOfASessionAreGuardedToo(t *testing.T) {
	d := it.NewClient(t)
	first := d.Create(200, object{"title": "A"})
	id, etag := first.ID(), d.CallSession(200, "GET", first.ID(), nil).Header.Get("ETag")
	second := d.Put(200, id, object{"title": "B", "updated_at": first["updated_at"]})
	values := object{"values": object{}}
	stale(t, d.CallSession(409, "PUT", id+"/fields", it.Merged(values, object{"updated_at": first["updated_at"]})), second, "2")
	for _, old := range []string{etag, `"1"`, `"1.x","3.x"`, `""`, `"x"`} {
		stale(t, d.CallSession(409, "PUT", id+"/fields", values, "If-Match", old), second, "2")
	}
	require.Equal(t, second, d.Get(200, id))
	d.CallSession(200, "PUT", id+"/fields", values, "If-Match", `"2"`)
	d.CallSession(200, "PUT", id+"/fields", it.Merged(values, object{"updated_at": d.Get(200, id)["updated_at"]}))
}
