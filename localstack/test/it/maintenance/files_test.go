package maintenance_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/blob"
	"lectern/shared/purge"
)

// shelf is a client of the files of a session.
type shelf struct {
	*it.Client
	session string
}

func (s shelf) path(rest string) string { return "/sessions/" + s.session + "/files" + rest }

// begin begins an upload and sends the bytes. It returns the file's id and the key of the bytes.
func (s shelf) begin(rest string, status int) (id, key string) {
	s.T.Helper()
	const text = "Good morning."
	begun := it.Entity(s.Do(status, http.MethodPost, s.path(rest), object{"filename": "a.txt", "size_bytes": len(text)}).At("data").(object))
	require.Equal(s.T, http.StatusOK, it.SendUpload(s.T, begun, text))
	to, err := url.Parse(begun.At("upload").(object)["url"].(string))
	require.NoError(s.T, err)
	return begun.ID(), to.Path[strings.Index(to.Path, "/files/")+1:]
}

// add uploads a file.
func (s shelf) add() (id, key string) {
	s.T.Helper()
	id, key = s.begin("", 201)
	s.Do(200, http.MethodPost, s.path("/"+id+"/complete"), nil)
	return id, key
}

// remaining returns which of the keys have bytes.
func (s shelf) remaining(keys ...string) (all []string) {
	s.T.Helper()
	for _, key := range keys {
		_, err := s.Env(s.T).Blobs.Head(s.T.Context(), key)
		if err == nil {
			all = append(all, key)
			continue
		}
		require.ErrorIs(s.T, err, blob.ErrAbsent)
	}
	return all
}

// TestBytesWithoutAFileAreRemoved: those of an upload that nobody has completed after a day, those of a
// deleted or replaced file after 30 days, and those of a purged session with the session.
func TestBytesWithoutAFileAreRemoved(t *testing.T) {
	stack, engine := it.StartWithEngine(t, nil)
	d := &it.Client{Stack: stack, T: t}
	s := shelf{d, d.NewSessions("A talk")[0]}
	kept, last := s.add()
	gone, deleted := s.add()
	changed, replaced := s.add()
	pending, abandoned := s.begin("", 201)
	_, later := s.begin("/"+changed+"/replace", 200)
	s.Do(200, http.MethodPost, s.path("/"+changed+"/complete"), nil)
	s.Call(t, 204, http.MethodDelete, s.EventPath(s.path("/"+gone)), nil)
	all := []string{last, deleted, replaced, abandoned, later}
	require.Equal(t, purge.Counts{}, d.Maintain(0))
	require.Equal(t, all, s.remaining(all...))
	engine.RequireWhole(t)

	require.Equal(t, purge.Counts{Uploads: 1}, d.Maintain(2))
	require.Equal(t, []string{last, deleted, replaced, later}, s.remaining(all...))
	s.Do(404, http.MethodPost, s.path("/"+pending+"/complete"), nil)
	require.Equal(t, purge.Counts{}, d.Maintain(29))
	require.Equal(t, purge.Counts{Uploads: 2}, d.Maintain(31))
	require.Equal(t, []string{last, later}, s.remaining(all...))
	require.Len(t, s.Do(200, http.MethodGet, s.path(""), nil).List("data"), 2)
	engine.RequireWhole(t)

	s.begin("/"+kept+"/replace", 200)
	d.Delete(200, s.session)
	require.Equal(t, int64(0), d.Maintain(1).Sessions)
	require.Equal(t, []string{last, later}, s.remaining(all...))
	purged := d.Maintain(62)
	require.EqualValues(t, 1, purged.Sessions)
	require.EqualValues(t, 3, purged.Uploads+d.Maintain(63).Uploads)
	require.Empty(t, s.remaining(all...))
	engine.RequireWhole(t)
	require.Empty(t, engine.Dump(t).Below("O#"+it.DecimalOf(d.Org)+"#E#"+it.DecimalOf(d.Event)+"#UP"))
}
