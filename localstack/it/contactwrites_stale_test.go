package it_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestUpdatedAtOfContactsAdmitsTheCurrentVersionAlone(t *testing.T) {
	p := newPeople(t)
	first := p.create(200, object{"email": "ada@x.org", "updated_at": "2020-01-01T00:00:00Z"})
	id, seen := first.id(), first.text("updated_at")
	second := p.put(200, id, object{"title": "B", "updated_at": seen})
	isStale := func(answer entity) {
		t.Helper()
		isRefused(t, answer, "STALE_UPDATE", "")
		require.Equal(t, "ConflictError", answer["name"])
		require.Equal(t, second["updated_at"], answer.at("details.updated_at"))
	}
	at, err := time.Parse(time.RFC3339, second.text("updated_at"))
	require.NoError(t, err)
	for _, wrong := range []time.Time{at.Add(time.Millisecond), at.Add(-time.Millisecond), at.Add(time.Hour), time.Unix(0, 0)} {
		isStale(p.put(409, id, object{"title": "C", "updated_at": wrong.Format(time.RFC3339Nano)}))
	}
	isStale(p.put(409, id, object{"title": "C", "updated_at": seen}))
	require.NotEmpty(t, p.bulk(updating(id, object{"title": "C", "updated_at": seen})).plain(t, 0))
	require.Equal(t, second, p.get(200, id), "nothing is written")
	third := p.put(200, id, object{"title": "C", "updated_at": at.In(time.FixedZone("", -5*3600)).Format("2006-01-02T15:04:05.000-07:00")})
	require.Equal(t, "D", p.bulk(updating(id, object{"title": "D", "updated_at": third["updated_at"]})).data(t, 0)["title"])
	isInvalid(t, p.put(400, id, object{"title": "F", "updated_at": nil}), "updated_at")
	isInvalid(t, p.put(400, id, object{"title": "F", "updated_at": "2026-11-21T10:00:00"}), "updated_at")
	var times []string
	for _, data := range p.bulk(updating(id, object{}), updating(id, object{}), updating(id, object{})).Results {
		times = append(times, entity(data["data"].(object)).text("updated_at"))
	}
	require.IsIncreasing(t, times)
}

func TestIfMatchOfContactsAdmitsTheCurrentVersionAlone(t *testing.T) {
	p := newPeople(t)
	made := p.write(200, "POST", "/create", object{"email": "ada@x.org"})
	id := entity(made.JSON(t)).id()
	one, first := "/"+id, made.Header.Get("ETag")
	calls := map[string]any{"PUT " + one: object{"title": "x"}, "DELETE " + one: nil, "POST " + one + "/restore": nil}
	tag := func() string { return p.write(200, "GET", one, nil).Header.Get("ETag") }
	for _, known := range []string{first, "W/" + first, `"9.x", ` + first, "*"} {
		p.write(200, "PUT", one, object{"title": known}, "If-Match", strings.ReplaceAll(known, first, tag()))
	}
	current, currentTag := p.get(200, id), tag()
	for _, old := range []string{first, `"1"`, `""`, `"x"`} {
		for _, method := range []string{"PUT", "DELETE"} {
			answer := p.write(409, method, one, calls[method+" "+one], "If-Match", old)
			stale(t, answer, current, strings.Trim(currentTag[:strings.IndexByte(currentTag, '.')], `"`))
		}
	}
	for _, malformed := range []string{"6", `"6`, `"6" "7"`, "W/6", ",,"} {
		for call, body := range calls {
			method, path, _ := strings.Cut(call, " ")
			isInvalid(t, p.write(400, method, path, body, "If-Match", malformed).JSON(t), "If-Match")
		}
	}
	require.Equal(t, current, p.get(200, id))
	p.write(409, "PUT", one, object{"updated_at": "2020-01-01T00:00:00Z"}, "If-Match", currentTag)
	p.write(200, "PUT", one, object{"updated_at": current["updated_at"]}, "If-Match", currentTag)
	p.write(409, "DELETE", one, nil, "If-Match", currentTag)
	deleted := p.write(200, "DELETE", one, nil, "If-Match", tag())
	require.NotEqual(t, currentTag, deleted.Header.Get("ETag"))
	refused := p.write(409, http.MethodPost, one+"/restore", nil, "If-Match", currentTag).JSON(t)
	require.Equal(t, deleted.JSON(t)["updated_at"], entity(refused).at("details.updated_at"))
	restored := p.write(200, http.MethodPost, one+"/restore", nil, "If-Match", deleted.Header.Get("ETag"))
	require.Equal(t, restored.Header.Get("ETag"), tag())
}
