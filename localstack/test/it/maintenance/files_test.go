package maintenance_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/purge"
)

// TestBytesWithoutAFileAreRemoved: those of an upload that nobody has completed after a day, those of a
// deleted or replaced file after 30 days, and those of a purged session with the session.
func TestBytesWithoutAFileAreRemoved(t *testing.T) {
	stack, engine := it.StartWithEngine(t, nil)
	d := &it.Client{Stack: stack, T: t}
	s := it.Shelf{Client: d, Session: d.NewSessions("A talk")[0]}
	kept, last := s.Add()
	gone, deleted := s.Add()
	changed, replaced := s.Add()
	pending, abandoned := s.Begin("", 201)
	_, later := s.Begin("/"+changed+"/replace", 200)
	s.Do(200, http.MethodPost, s.Path("/"+changed+"/complete"), nil)
	s.Call(t, 204, http.MethodDelete, s.EventPath(s.Path("/"+gone)), nil)
	all := []string{last, deleted, replaced, abandoned, later}
	require.Equal(t, purge.Counts{}, d.Maintain(0))
	require.Equal(t, all, s.Remaining(all...))
	engine.RequireWhole(t)

	require.Equal(t, purge.Counts{Uploads: 1}, d.Maintain(2))
	require.Equal(t, []string{last, deleted, replaced, later}, s.Remaining(all...))
	s.Do(404, http.MethodPost, s.Path("/"+pending+"/complete"), nil)
	require.Equal(t, purge.Counts{}, d.Maintain(29))
	require.Equal(t, purge.Counts{Uploads: 2}, d.Maintain(31))
	require.Equal(t, []string{last, later}, s.Remaining(all...))
	require.Len(t, s.Do(200, http.MethodGet, s.Path(""), nil).List("data"), 2)
	engine.RequireWhole(t)

	s.Begin("/"+kept+"/replace", 200)
	d.Delete(200, s.Session)
	require.Equal(t, int64(0), d.Maintain(1).Sessions)
	require.Equal(t, []string{last, later}, s.Remaining(all...))
	purged := d.Maintain(62)
	require.EqualValues(t, 1, purged.Sessions)
	require.EqualValues(t, 3, purged.Uploads+d.Maintain(63).Uploads)
	require.Empty(t, s.Remaining(all...))
	engine.RequireWhole(t)
	require.Empty(t, engine.Dump(t).Below("O#"+it.DecimalOf(d.Org)+"#E#"+it.DecimalOf(d.Event)+"#UP"))
}
