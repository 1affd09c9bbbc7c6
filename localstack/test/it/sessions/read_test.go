package sessions_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

func TestUnknownSessionsAreNotFound(t *testing.T) {
	d := it.NewClient(t)
	there := d.InNewEvent().NewSessions("There")[0]
	gone := d.NewSessions("Gone")[0]
	d.Delete(200, gone)
	stranger := d.NewOrganization(t)
	foreign := (&it.Client{Stack: stranger, T: t}).NewSessions("Foreign")[0]
	want := entity{"code": "NOT_FOUND", "name": "NotFoundError", "error": "NotFoundError", "message": "Session not found"}
	for _, id := range []string{uuid.NewString(), there, gone, foreign} {
		require.Equal(t, want, d.Get(404, id))
		require.Equal(t, want, d.Put(404, id, object{"title": "x"}))
		require.Equal(t, want, d.PutFields(404, id, object{}))
		require.Equal(t, want, d.Delete(404, id))
		if id != gone {
			require.Equal(t, want, d.Restore(404, id))
		}
	}
	require.Equal(t, want, d.Restore(404, d.NewSessions("Living")[0]), "restore of what is not deleted")
	require.Equal(t, "Foreign", (&it.Client{Stack: stranger, T: t}).Get(200, foreign)["title"])
}

func TestASessionIsReadByItsIDInAnyCase(t *testing.T) {
	d := it.NewClient(t)
	id := d.NewSessions("A")[0]
	require.Equal(t, d.Get(200, id), d.Get(200, strings.ToUpper(id)))
	require.Equal(t, "B", d.Put(200, strings.ToUpper(id), object{"title": "B"})["title"])
	o := d.Bulk(it.Updating(strings.ToUpper(id), object{"title": "C"}), it.Updating(id, object{"capacity": 1}))
	require.Equal(t, "C", o.Data(t, 0)["title"])
	require.Equal(t, "C", o.Data(t, 1)["title"])
	require.Equal(t, "C", d.Get(200, id)["title"])
	require.Equal(t, 1, d.SearchStatuses(object{}).Pagination.TotalResults)
}

func TestGetIsKeptByTheClientWithAnETag(t *testing.T) {
	d := it.NewClient(t)
	id := d.NewSessions("A")[0]
	first := d.CallSession(200, "GET", id, nil)
	etag := first.Header.Get("ETag")
	require.Regexp(t, `^"1\.[^"]+"$`, etag, "the version and a hash of the answer")
	require.Equal(t, "private, max-age=180", first.Header.Get("Cache-Control"))
	vary := strings.ToLower(strings.Join(first.Header.Values("Vary"), ", "))
	for _, name := range []string{"authorization", "x-access-token", "accept-encoding"} {
		require.Contains(t, vary, name)
	}
	for _, known := range []string{etag, "W/" + etag, `"x", ` + etag, "*"} {
		answer := d.CallSession(304, "GET", id, nil, "If-None-Match", known)
		require.Empty(t, answer.Body)
		require.Equal(t, etag, answer.Header.Get("ETag"))
	}
	for _, other := range []string{`"1"`, `"1.x"`, `"x"`, strings.Trim(etag, `"`)} {
		d.CallSession(200, "GET", id, nil, "If-None-Match", other)
	}
	expanded := d.Call(t, 200, "GET", d.EventPath("/sessions/"+id+"?expand=composition"), stacktest.WithHeaders(nil, "If-None-Match", etag))
	require.NotEqual(t, etag, expanded.Header.Get("ETag"), "another answer of the same version")
	require.True(t, strings.HasPrefix(expanded.Header.Get("ETag"), `"1.`))

	changed := d.Call(t, 200, "PUT", d.EventPath("/sessions/"+id), object{"title": "B"})
	require.True(t, strings.HasPrefix(changed.Header.Get("ETag"), `"2.`), "a write answers the new tag")
	answer := d.CallSession(200, "GET", id, nil, "If-None-Match", etag)
	require.Equal(t, changed.Header.Get("ETag"), answer.Header.Get("ETag"))
	require.Equal(t, string(changed.Body), string(answer.Body))
	d.CallSession(304, "GET", id, nil, "If-None-Match", changed.Header.Get("ETag"))

	head := d.Call(t, 200, "HEAD", d.EventPath("/sessions/"+id), nil)
	require.Empty(t, head.Body)
	require.Equal(t, answer.Header.Get("ETag"), head.Header.Get("ETag"))
}

func TestAParentsAnswerChangesWithItsSubsessions(t *testing.T) {
	d := it.NewClient(t)
	parent := d.NewSessions("Parent")[0]
	sub := d.NewSubsession(parent, "Part").ID()
	etag := d.CallSession(200, "GET", parent, nil).Header.Get("ETag")
	d.Put(200, sub, object{"title": "Part 2"})
	changed := d.CallSession(200, "GET", parent, nil, "If-None-Match", etag).Header.Get("ETag")
	require.NotEqual(t, etag, changed, "the subsession's title is in the answer")
	d.Do(200, "PUT", "/sessions/"+parent, object{"capacity": 1}, "If-Match", etag)
}

func TestReadsAreLimitedAndSearchesAreNot(t *testing.T) {
	d := it.NewClient(t)
	id := d.NewSessions("A")[0]
	few := d.WithToken(d.TokenWith(t, object{"scopes": []string{"read:sessions"}, "limit": 2}))
	for _, left := range []string{"1", "0"} {
		answer := few.CallSession(200, "GET", id, nil)
		require.Equal(t, "2", answer.Header.Get("RateLimit-Limit"))
		require.Equal(t, left, answer.Header.Get("RateLimit-Remaining"))
		require.NotEmpty(t, answer.Header.Get("RateLimit-Reset"))
	}
	refusal := few.CallSession(429, "GET", id, nil)
	require.NotEmpty(t, refusal.Header.Get("Retry-After"))
	require.Equal(t, "TooManyRequestsError", refusal.JSON(t)["error"])
	few.Search(object{})
	few.List()
	few.SearchStatuses(object{})
}

func TestNumbersOfAnEventAreItsOwnAndNeverReused(t *testing.T) {
	d := it.NewClient(t)
	d.Inside(t, "each instance of a function takes numbers ahead")
	there := d.InNewEvent()
	require.Equal(t, "SESS-1", d.Create(200, object{"title": "A"})["friendly_id"])
	second := d.Create(200, object{"title": "B"})
	require.Equal(t, "SESS-2", second["friendly_id"])
	require.Equal(t, 2.0, second["friendly_id_raw"])
	require.Equal(t, "SESS-1", there.Create(200, object{"title": "A"})["friendly_id"])
	d.Delete(200, second.ID())
	require.Equal(t, "SESS-3", d.Create(200, object{"title": "C"})["friendly_id"])
	require.Equal(t, "SESS-2", d.Restore(200, second.ID())["friendly_id"])
}

func TestIDsInBodiesAreTakenInAnyCase(t *testing.T) {
	d := it.NewClient(t)
	s := newShelf(d)
	capitals := func(r entity) string { return strings.ToUpper(r.ID()) }
	parent := d.NewSessions("Parent")[0]
	made := d.Create(200, object{
		"title": "A", "room_id": capitals(s.room), "track_id": capitals(s.track), "level_id": capitals(s.level),
		"format_id": capitals(s.format), "language_id": capitals(s.language), "tag_ids": []string{capitals(s.tag)},
	})
	for _, name := range []string{"room", "track", "level", "format", "language"} {
		require.NotNil(t, made[name], name)
	}
	require.Equal(t, []string{s.tag.ID()}, it.Texts(made.List("tags"), "id"))
	for filter, entry := range map[string]entity{"trackIds": s.track, "tagIds": s.tag, "levelIds": s.level} {
		for _, id := range []string{entry.ID(), capitals(entry)} {
			require.Len(t, d.Filter(object{filter: []string{id}}).Results, 1, filter)
		}
	}
	sub := d.NewSubsession(strings.ToUpper(parent), "Part")
	require.Equal(t, parent, sub["parent_session_id"])
	require.Equal(t, parent, d.Put(200, sub.ID(), object{"parent_session_id": strings.ToUpper(parent)})["parent_session_id"])
	require.Len(t, d.Get(200, parent).List("subsessions"), 1)
}
