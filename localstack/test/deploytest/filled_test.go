package deploytest_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
)

// filled is an event with records that nobody changes.
type filled struct {
	s *stacktest.Stack
	// paths are those of its records and lists.
	paths []string
	// before are the answers when all was made, by path.
	before map[string]answered
}

// answered is what must stay the same of an answer: ids, versions and all that is shown.
type answered struct{ etag, body string }

// fill makes an event with a track, people, a company, and sessions of them.
func fill(t *testing.T, s *stacktest.Stack) filled {
	t.Helper()
	f := filled{s: s.In(s.NewEvent(t, "sessions_2_0")), paths: []string{"/tracks", "/sessions"}}
	track := f.make(t, "/tracks", map[string]any{"name": "Data"})
	var people []map[string]any
	for i := range 3 {
		id := f.make(t, "/contacts", map[string]any{"email": fmt.Sprintf("kept%d@example.org", i), "first_name": "Ann", "last_name": fmt.Sprint("Kept ", i)})
		people = append(people, map[string]any{"contact_id": id, "role_slug": "speaker"})
		f.paths = append(f.paths, "/speakers/"+id)
	}
	f.make(t, "/sponsors", map[string]any{"name": "Harbour Society", "contacts": []map[string]any{{"contact_id": people[0]["contact_id"], "is_primary": true}}})
	for i := range 5 {
		id := f.make(t, "/sessions", map[string]any{"title": fmt.Sprint("Kept ", i), "track_id": track, "participants": people[:1+i%3]})
		f.s.Call(t, 200, http.MethodPut, f.s.EventPath("/sessions/"+id), map[string]any{"title": fmt.Sprintf("Kept %d, revised", i)})
	}
	f.before = f.read(t, s.URL)
	return f
}

// make makes a record of a kind and gives its id. Tracks are read by their list alone.
func (f *filled) make(t *testing.T, kind string, body map[string]any) string {
	t.Helper()
	id, _ := f.s.Call(t, 200, http.MethodPost, f.s.EventPath(kind+"/create"), body).JSON(t)["id"].(string)
	require.NotEmpty(t, id)
	if kind != "/tracks" {
		f.paths = append(f.paths, kind+"/"+id)
	}
	return id
}

// read reads all of the event where the service is now.
func (f *filled) read(t *testing.T, url string) map[string]answered {
	t.Helper()
	now, answers := *f.s, map[string]answered{}
	now.URL = url
	for _, path := range f.paths {
		answer := now.Call(t, 200, http.MethodGet, now.EventPath(path), nil)
		answers[path] = answered{answer.Header.Get("ETag"), string(answer.Body)}
	}
	return answers
}

// unchanged requires that all reads as it did before, where the service is now.
func (f *filled) unchanged(t *testing.T, url string) {
	t.Helper()
	require.Equal(t, f.before, f.read(t, url))
}
