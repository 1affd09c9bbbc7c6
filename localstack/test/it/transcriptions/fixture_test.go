package transcriptions_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// object is a JSON body; entity a record as the service answers it.
type (
	object = it.Object
	entity = it.Entity
)

// desk is a client of the transcriptions of one session.
type desk struct {
	*it.Client
	session string
}

// listing is a page of transcriptions.
type listing struct {
	Data       []entity
	Pagination struct {
		CurrentPage  int `json:"current_page"`
		PageSize     int `json:"page_size"`
		TotalPages   int `json:"total_pages"`
		TotalResults int `json:"total_results"`
	}
}

func newDesk(t *testing.T, options ...stacktest.Option) *desk {
	t.Helper()
	d := &it.Client{Stack: stacktest.Start(t, options...), T: t}
	return &desk{d, d.NewSessions("A talk")[0]}
}

// of returns a client of the transcriptions of another session.
func (d *desk) of(session string) *desk { return &desk{d.Client, session} }

// path returns the path of the session's transcriptions, below the event.
func (d *desk) path() string { return "/sessions/" + d.session + "/transcriptions" }

// send sends a request for a transcription of the session; an empty id names the collection.
func (d *desk) send(status int, method, id string, body any, header ...string) entity {
	d.T.Helper()
	path := d.path()
	if id != "" {
		path += "/" + id
	}
	answer := d.Call(d.T, status, method, d.EventPath(path), stacktest.WithHeaders(body, header...))
	if status == http.StatusNoContent {
		require.Empty(d.T, answer.Body)
		return nil
	}
	return entity(answer.JSON(d.T))
}

// add creates a transcription and returns it.
func (d *desk) add(kind string, more ...object) entity {
	d.T.Helper()
	made := d.send(201, http.MethodPost, "", it.Merged(object{"type": kind, "transcription": "A " + kind}, more...))
	require.Equal(d.T, []string{"data"}, made.Keys())
	return made.At("data").(object)
}

// fragment creates a fragment that starts at a time in seconds.
func (d *desk) fragment(start float64, more ...object) entity {
	d.T.Helper()
	body := object{"transcription": fmt.Sprint("At ", start), "start_time": start}
	return d.add("fragment", append([]object{body}, more...)...)
}

// get returns a transcription of the session.
func (d *desk) get(id string) entity {
	d.T.Helper()
	return d.send(200, http.MethodGet, id, nil).At("data").(object)
}

// list returns a page of the session's transcriptions.
func (d *desk) list(parts ...string) listing {
	d.T.Helper()
	return stacktest.Call[listing](d.Stack, 200, http.MethodGet, d.EventPath(d.path()+it.Query(parts)), nil)
}

// listEvent returns a page of the event's transcriptions.
func (d *desk) listEvent(parts ...string) listing {
	d.T.Helper()
	return stacktest.Call[listing](d.Stack, 200, http.MethodGet, d.EventPath("/transcriptions"+it.Query(parts)), nil)
}

// ids returns the ids of a page.
func (l listing) ids() []string { return it.Texts(l.Data, "id") }
