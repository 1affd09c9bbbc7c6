package it_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
)

// read is a GET of a session with its headers.
func (d *desk) read(status int, id string, header ...string) stacktest.Answer {
	d.t.Helper()
	return d.Call(d.t, status, http.MethodGet, d.EventPath("/sessions/"+id), nil, header...)
}

func TestUnknownSessionsAreNotFound(t *testing.T) {
	d := newDesk(t)
	there := d.elsewhere().titled("There")[0]
	gone := d.titled("Gone")[0]
	d.remove(200, gone)
	stranger := d.NewOrganization(t)
	foreign := (&desk{stranger, t}).titled("Foreign")[0]
	want := entity{"code": "NOT_FOUND", "name": "NotFoundError", "error": "NotFoundError", "message": "Session not found"}
	for _, id := range []string{uuid.NewString(), there, gone, foreign} {
		require.Equal(t, want, d.get(404, id))
		require.Equal(t, want, d.put(404, id, object{"title": "x"}))
		require.Equal(t, want, d.fields(404, id, object{}))
		require.Equal(t, want, d.remove(404, id))
		if id != gone {
			require.Equal(t, want, d.restore(404, id))
		}
	}
	require.Equal(t, want, d.restore(404, d.titled("Living")[0]), "restore of what is not deleted")
	require.Equal(t, "Foreign", (&desk{stranger, t}).get(200, foreign)["title"])
}

func TestASessionIsReadByItsIDInAnyCase(t *testing.T) {
	d := newDesk(t)
	id := d.titled("A")[0]
	require.Equal(t, d.get(200, id), d.get(200, strings.ToUpper(id)))
	require.Equal(t, "B", d.put(200, strings.ToUpper(id), object{"title": "B"})["title"])
	o := d.bulk(updating(strings.ToUpper(id), object{"title": "C"}), updating(id, object{"capacity": 1}))
	require.Equal(t, "C", o.data(t, 0)["title"])
	require.Equal(t, "C", o.data(t, 1)["title"])
	require.Equal(t, "C", d.get(200, id)["title"])
	require.Equal(t, 1, d.statuses(object{}).Pagination.TotalResults)
}

func TestGetIsKeptByTheClientWithAnETag(t *testing.T) {
	d := newDesk(t)
	id := d.titled("A")[0]
	first := d.read(200, id)
	etag := first.Header.Get("ETag")
	require.Regexp(t, `^"1\.[^"]+"$`, etag, "the version and a hash of the answer")
	require.Equal(t, "private, max-age=180", first.Header.Get("Cache-Control"))
	vary := strings.ToLower(strings.Join(first.Header.Values("Vary"), ", "))
	for _, name := range []string{"authorization", "x-access-token", "accept-encoding"} {
		require.Contains(t, vary, name)
	}
	for _, known := range []string{etag, "W/" + etag, `"x", ` + etag, "*"} {
		answer := d.read(304, id, "If-None-Match", known)
		require.Empty(t, answer.Body)
		require.Equal(t, etag, answer.Header.Get("ETag"))
	}
	for _, other := range []string{`"1"`, `"1.x"`, `"x"`, strings.Trim(etag, `"`)} {
		d.read(200, id, "If-None-Match", other)
	}
	expanded := d.Call(t, 200, "GET", d.EventPath("/sessions/"+id+"?expand=composition"), nil, "If-None-Match", etag)
	require.NotEqual(t, etag, expanded.Header.Get("ETag"), "another answer of the same version")
	require.True(t, strings.HasPrefix(expanded.Header.Get("ETag"), `"1.`))

	changed := d.Call(t, 200, "PUT", d.EventPath("/sessions/"+id), object{"title": "B"})
	require.True(t, strings.HasPrefix(changed.Header.Get("ETag"), `"2.`), "a write answers the new tag")
	answer := d.read(200, id, "If-None-Match", etag)
	require.Equal(t, changed.Header.Get("ETag"), answer.Header.Get("ETag"))
	require.Equal(t, string(changed.Body), string(answer.Body))
	d.read(304, id, "If-None-Match", changed.Header.Get("ETag"))

	head := d.Call(t, 200, "HEAD", d.EventPath("/sessions/"+id), nil)
	require.Empty(t, head.Body)
	require.Equal(t, answer.Header.Get("ETag"), head.Header.Get("ETag"))
}

func TestAParentsAnswerChangesWithItsSubsessions(t *testing.T) {
	d := newDesk(t)
	parent := d.titled("Parent")[0]
	sub := d.sub(parent, "Part").id()
	etag := d.read(200, parent).Header.Get("ETag")
	d.put(200, sub, object{"title": "Part 2"})
	changed := d.read(200, parent, "If-None-Match", etag).Header.Get("ETag")
	require.NotEqual(t, etag, changed, "the subsession's title is in the answer")
	d.send(200, "PUT", "/sessions/"+parent, object{"capacity": 1}, "If-Match", etag)
}

func TestReadsAreLimitedAndSearchesAreNot(t *testing.T) {
	d := newDesk(t)
	id := d.titled("A")[0]
	few := d.as(d.TokenWith(t, object{"scopes": []string{"read:sessions"}, "limit": 2}))
	for _, left := range []string{"1", "0"} {
		answer := few.read(200, id)
		require.Equal(t, "2", answer.Header.Get("RateLimit-Limit"))
		require.Equal(t, left, answer.Header.Get("RateLimit-Remaining"))
		require.NotEmpty(t, answer.Header.Get("RateLimit-Reset"))
	}
	refusal := few.read(429, id)
	require.NotEmpty(t, refusal.Header.Get("Retry-After"))
	require.Equal(t, "TooManyRequestsError", refusal.JSON(t)["error"])
	few.search(object{})
	few.list()
	few.statuses(object{})
}

func TestNumbersOfAnEventAreItsOwnAndNeverReused(t *testing.T) {
	d := newDesk(t)
	there := d.elsewhere()
	require.Equal(t, "SESS-1", d.create(200, object{"title": "A"})["friendly_id"])
	second := d.create(200, object{"title": "B"})
	require.Equal(t, "SESS-2", second["friendly_id"])
	require.Equal(t, 2.0, second["friendly_id_raw"])
	require.Equal(t, "SESS-1", there.create(200, object{"title": "A"})["friendly_id"])
	d.remove(200, second.id())
	require.Equal(t, "SESS-3", d.create(200, object{"title": "C"})["friendly_id"])
	require.Equal(t, "SESS-2", d.restore(200, second.id())["friendly_id"])
}

func TestIDsInBodiesAreTakenInAnyCase(t *testing.T) {
	d := newDesk(t)
	s := d.shelf()
	capitals := func(r entity) string { return strings.ToUpper(r.id()) }
	parent := d.titled("Parent")[0]
	made := d.create(200, object{
		"title": "A", "room_id": capitals(s.room), "track_id": capitals(s.track), "level_id": capitals(s.level),
		"format_id": capitals(s.format), "language_id": capitals(s.language), "tag_ids": []string{capitals(s.tag)},
	})
	for _, name := range []string{"room", "track", "level", "format", "language"} {
		require.NotNil(t, made[name], name)
	}
	require.Equal(t, []string{s.tag.id()}, texts(made.list("tags"), "id"))
	for filter, entry := range map[string]entity{"trackIds": s.track, "tagIds": s.tag, "levelIds": s.level} {
		for _, id := range []string{entry.id(), capitals(entry)} {
			require.Len(t, d.filtered(object{filter: []string{id}}).Results, 1, filter)
		}
	}
	sub := d.sub(strings.ToUpper(parent), "Part")
	require.Equal(t, parent, sub["parent_session_id"])
	require.Equal(t, parent, d.put(200, sub.id(), object{"parent_session_id": strings.ToUpper(parent)})["parent_session_id"])
	require.Len(t, d.get(200, parent).list("subsessions"), 1)
}
