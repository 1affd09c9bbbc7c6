package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/api"
)

func TestWrongBodiesAreRefusedByField(t *testing.T) {
	s := start(t)
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct{ body, field, message string }{
		{``, "", "A request body is required."},
		{`{`, "", "not valid JSON"},
		{`{"text":"a",}`, "", "not valid JSON"},
		{`{"text":"a"} {}`, "", "not valid JSON"},
		{`[]`, "", "must be a JSON object"},
		{`null`, "", "must be a JSON object"},
		{"{\"text\":\"\xff\"}", "", "not valid UTF-8"},
		{`{"text":"a\u0000"}`, "text", "NUL"},
		{`{"free":{"a\u0000":1}}`, "free", "NUL"},
		{`{"people":[{"email":"\ud800"}]}`, "people[0].email", "half of a surrogate pair"},
		{`{"text":"\udc00\ud800"}`, "text", "half of a surrogate pair"},
		{`{"text":"a","text":"b"}`, "text", "twice"},
		{`{"free":{"a":1,"\u0061":2}}`, "free.a", "twice"},
		{`{"free":{"a":` + deep(31) + `}}`, "free.a" + strings.Repeat("[0]", 30), "deeper than 32"},
		{`{}`, "text", "text is required."},
		{`{"text":"a"}`, "author", "author is required."},
		{`{"text":null}`, "author", "required"},
		{`{"author":null,"text":null}`, "text", "text must not be null."},
		{`{"author":null,"text":""}`, "text", "text must not be empty."},
		{`{"author":null,"text":"` + strings.Repeat("ä", 256) + `"}`, "text", "at most 255 characters"},
		{`{"author":null,"text":7}`, "text", "text must be a string."},
		{`{"author":null,"Text":"a"}`, "text", "required"},
		{`{"author":{},"text":"a"}`, "author.name", "author.name is required."},
		{`{"author":{"name":"a","x":1},"text":"a"}`, "author.x", "author.x is not known here."},
		{`{"author":[],"text":"a"}`, "author", "author must be an object."},
	} {
		s.refuses(t, c.body, c.field, c.message)
	}
	for _, c := range []struct{ property, field, message string }{
		{`"color":"green"`, "color", "color must be one of red, blue"},
		{`"color":1`, "color", "a string"},
		{`"due":"2026-11-21T09:30:00"`, "due", "with an offset"},
		{`"due":"2026-11-21T09:30:00,5Z"`, "due", "with an offset"},
		{`"due":"9999-12-31T23:59:59-01:00"`, "due", "with an offset"},
		{`"rank":0`, "rank", "at least 1"},
		{`"rank":11`, "rank", "at most 10"},
		{`"rank":1.5`, "rank", "an integer"},
		{`"rank":"1"`, "rank", "an integer"},
		{`"rank":null`, "rank", "not be null"},
		{`"big":9223372036854775808`, "big", "out of range"},
		{`"big":1e30`, "big", "out of range"},
		{`"weight":1e999`, "weight", "out of range"},
		{`"weight":true`, "weight", "a number"},
		{`"done":1`, "done", "true or false"},
		{`"tag_ids":"x"`, "tag_ids", "an array"},
		{`"tag_ids":["` + kept + `","x"]`, "tag_ids[1]", "a UUID"},
		{`"tag_ids":[null]`, "tag_ids[0]", "not be null"},
		{`"tag_ids":["` + kept + `","` + strings.ToUpper(kept) + `"]`, "tag_ids[1]", "twice"},
		{`"tag_ids":["{` + kept + `}"]`, "tag_ids[0]", "a UUID"},
		{`"tag_ids":[1,2,3,4]`, "tag_ids", "at most 3 entries"},
		{`"people":[{"email":"a@b.c"},{"email":"a"}]`, "people[1].email", "an e-mail address"},
		{`"people":[{"email":"a@b.c","site":"b.c"}]`, "people[0].site", "an absolute URL"},
		{`"people":[{"email":"a@b.c","born":"2026-02-30"}]`, "people[0].born", "a date"},
		{`"people":[{"email":"a@b.c","code":"ab"}]`, "people[0].code", "must match capital letters"},
		{`"free":{"a":[1e400]}`, "free.a[0]", "out of range"},
		{`"free":{"a":[1,9007199254740993]}`, "a[1]", "more digits than can be kept"},
		{`"free":{"a":{"b":-9007199254740993}}`, "a.b", "more digits than can be kept"},
		{`"free":{"a":99999999999999999999}`, "a", "more digits than can be kept"},
		{`"free":[]`, "free", "an object"},
	} {
		s.refuses(t, `{"text":"a","author":null,`+c.property+`}`, c.field, c.message)
	}
}

// refuses creates with a body and wants a 400 about a field.
func (s *stack) refuses(t *testing.T, body, field, message string) {
	t.Helper()
	before := calls.Load()
	got := s.send(t, "POST", s.path("/notes/create"), body, "Content-Type", "application/json")
	require.Equal(t, 400, got.StatusCode, "%s: %s", body, got.body)
	e := got.refusal(t)
	require.Equal(t, "VALIDATION_ERROR", e.Code, body)
	require.Contains(t, e.Message, message, body)
	require.NotContains(t, e.Message, "Go ", body)
	if field == "" {
		require.Empty(t, e.Details, body)
	} else {
		require.Equal(t, field, e.Details["field"], body)
	}
	require.Equal(t, before, calls.Load(), body)
}

func TestBodiesAreReadAsTheyAreMeant(t *testing.T) {
	s := start(t)
	for _, c := range []struct {
		property string
		check    func(*noteBody) bool
	}{
		{`"rank":10.0`, func(b *noteBody) bool { return b.Rank == 10 }},
		{`"rank":1e1`, func(b *noteBody) bool { return b.Rank == 10 }},
		{`"big":9223372036854775807`, func(b *noteBody) bool { return b.Big == 9223372036854775807 }},
		{`"weight":3`, func(b *noteBody) bool { return b.Weight == 3 }},
		{`"unknown":{"x":1},"Rank":99`, func(b *noteBody) bool { return b.Rank == 0 }},
		{`"color":null`, func(b *noteBody) bool { return b.Color.Sent && b.Color.Null }},
		{`"color":"red"`, func(b *noteBody) bool { return b.Color.Value == "red" }},
		{`"done":true`, func(b *noteBody) bool { return b.Done && !b.Color.Sent }},
		{`"due":"2026-11-21t09:30:00+01:00"`, func(b *noteBody) bool { return b.Due.Value.String() == "2026-11-21T08:30:00.000Z" }},
		{`"tag_ids":["` + strings.ToUpper(kept) + `"]`, func(b *noteBody) bool { return b.TagIDs[0] == kept }},
		{`"free":{"Text":1.0,"text":null,"t\ud83d\ude00":"\\ud800"}`, func(b *noteBody) bool {
			return len(b.Free) == 3 && b.Free["Text"] == 1.0 && b.Free["t😀"] == `\ud800`
		}},
		{`"reader":{"b":1,"a":[2.50]},"rank":2.0`, func(b *noteBody) bool { return string(b.Reader) == `{"b":1,"a":[2.50]}` }},
		{`"people":[]`, func(b *noteBody) bool { return b.People != nil }},
	} {
		body := `{"text":"a","author":null,` + c.property + `}`
		got := s.send(t, "POST", s.path("/notes/create"), body, "Content-Type", `application/json; charset="utf-8"`)
		require.Equal(t, 201, got.StatusCode, "%s: %s", body, got.body)
		require.True(t, c.check(seen.Load()), "%s: %+v", body, seen.Load())
	}
}

func TestABodyMayBeLeftOutWhereItIsOptional(t *testing.T) {
	s := start(t)
	require.Equal(t, 200, s.send(t, "POST", s.path("/notes"), "").StatusCode)
	require.Equal(t, 415, s.send(t, "POST", s.path("/notes"), "{}", "Content-Type", "").StatusCode)
	require.Equal(t, 415, s.send(t, "POST", s.path("/notes"), "{}", "Content-Type", "application/xml").StatusCode)
	strict := s.send(t, "POST", s.path("/notes"), `{"filters":{"idz":[]},"other":1}`)
	require.Equal(t, "filters.idz", strict.refusal(t).Details["field"])
	empty := s.send(t, "POST", s.path("/notes"), `{"filters":{"ids":[]}}`)
	require.Equal(t, "filters.ids", empty.refusal(t).Details["field"])
	require.Contains(t, empty.refusal(t).Message, "at least 1 entry")
}

func TestParameters(t *testing.T) {
	s := start(t)
	upper := strings.ToUpper(kept)
	for query, want := range map[string]string{
		"":                                    `{"ids":[],"page":1,"draft":null,"search":""}`,
		"?unknown=1&unknown=2":                `{"ids":[],"page":1,"draft":null,"search":""}`,
		"?page=3&search=a%20b&is_draft=false": `{"ids":[],"page":3,"draft":false,"search":"a b"}`,
		"?search=":                            `{"ids":[],"page":1,"draft":null,"search":""}`,
		"?ids=" + kept + "," + upper + "&ids=" + kept: `{"ids":["` + kept + `","` + kept + `","` + kept + `"],"page":1,"draft":null,"search":""}`,
	} {
		got := s.send(t, "GET", s.path("/notes"+query), "")
		require.Equal(t, 200, got.StatusCode, "%s: %s", query, got.body)
		var envelope struct{ Results []json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(got.body), &envelope))
		require.Equal(t, want, string(envelope.Results[0]), query)
	}
	for query, field := range map[string]string{
		"page=0": "page", "page=x": "page", "page=": "page", "page=1.5": "page", "page=2.0": "page", "page=1e0": "page", "page=%2B1": "page", "page=01": "page", "page=-0": "page", "page=99999999999999999999": "page", "page=1&page=2": "page",
		"page_size=101": "page_size", "is_draft=1": "is_draft", "is_draft=": "is_draft", "search=abcdef": "search",
		"search=%00": "search", "search=%ff": "search", "ids=": "ids", "ids=x": "ids", "ids=" + kept + ",": "ids",
	} {
		got := s.send(t, "GET", s.path("/notes?"+query), "")
		require.Equal(t, 400, got.StatusCode, "%s: %s", query, got.body)
		require.Equal(t, field, got.refusal(t).Details["field"], query)
	}
	require.Equal(t, 400, s.send(t, "GET", s.path("/notes?a=%zz"), "").StatusCode)
	require.Equal(t, 400, s.send(t, "POST", s.path("/notes?expand=nonsense"), "").StatusCode)
	require.Equal(t, 200, s.send(t, "GET", s.path("/notes/"+upper), "").StatusCode, "a UUID in capitals is the same")
	for path, field := range map[string]string{"/v1/event/x/notes": "eventId", "/v1/event/0/notes": "eventId", s.path("/notes/x"): "noteId"} {
		require.Equal(t, field, s.send(t, "GET", path, "").refusal(t).Details["field"], path)
	}
}

func TestDecodeReadsAnObjectByTheSameRules(t *testing.T) {
	got, refusal := api.Decode[person]([]byte(`{"email":"a@b.c"}`))
	require.Nil(t, refusal)
	require.Equal(t, &person{Email: "a@b.c"}, got)
	for body, field := range map[string]string{`{}`: "email", `{"email":"a@b.c","x":1}`: "x"} {
		_, refusal = api.Decode[person]([]byte(body))
		require.Equal(t, 400, refusal.Status)
		require.Equal(t, field, refusal.Details["field"])
	}
}
