package deploytest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/cloud/target"
	"lectern/localstack/test/stacktest"
)

const (
	// tries is how often a request is sent, pause how long it waits in between:
	// docs/deploying.md tells clients what to try again.
	tries, pause = 60, time.Second
	workers      = 3
)

// worker is a client that keeps writing and reading its own sessions, and repeats what
// the documents say may be repeated.
type worker struct {
	token string
	event int64
	// moves is whether the API's address changes meanwhile.
	moves bool
	// acknowledged are the titles that were acknowledged last, by session.
	acknowledged map[string]string
	// sent and repeated count requests, moved how often the address was read anew.
	sent, repeated, moved int
	url                   string
	// happening is whether what the worker works beside happens now, meanwhile how many
	// requests were answered while it did, by method.
	happening *atomic.Bool
	meanwhile map[string]int
}

// working lets workers work while something happens, and until each has done a few
// rounds more, and gives them. Each had reads and writes answered while it happened.
func working(t *testing.T, s *stacktest.Stack, moves bool, happens func()) []*worker {
	t.Helper()
	all, failed := make([]*worker, workers), make([]error, workers)
	var happening atomic.Bool
	var running sync.WaitGroup
	stop := make(chan struct{})
	end := sync.OnceFunc(func() { close(stop); running.Wait() })
	defer end() // Also when what happens ends the test.
	for i := range all {
		all[i] = &worker{token: s.Token, event: s.Event, moves: moves, url: s.URL,
			acknowledged: map[string]string{}, happening: &happening, meanwhile: map[string]int{}}
		running.Go(func() { failed[i] = all[i].work(stop) })
	}
	happening.Store(true)
	happens()
	happening.Store(false)
	time.Sleep(3 * pause)
	end()
	for i, w := range all {
		require.NoError(t, failed[i])
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodGet} {
			require.Positive(t, w.meanwhile[method], "client %d: no %s was answered meanwhile", i, method)
		}
	}
	return all
}

// work writes and reads until stop is closed.
func (w *worker) work(stop <-chan struct{}) error {
	for round := 0; ; round++ {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := w.round(round); err != nil {
			return err
		}
	}
}

// round creates a session, changes it and reads it.
func (w *worker) round(round int) error {
	made, err := w.send(http.MethodPost, "/sessions/create", map[string]any{"title": fmt.Sprintf("Talk %d", round)})
	if err != nil {
		return err
	}
	id, _ := made["id"].(string)
	w.acknowledged[id] = fmt.Sprintf("Talk %d", round)
	changed := fmt.Sprintf("Talk %d, revised", round)
	if _, err := w.send(http.MethodPut, "/sessions/"+id, map[string]any{"title": changed}); err != nil {
		return err
	}
	w.acknowledged[id] = changed
	read, err := w.send(http.MethodGet, "/sessions/"+id, nil)
	if err == nil && read["title"] != changed {
		err = fmt.Errorf("session %s is %v after %q was acknowledged", id, read["title"], changed)
	}
	return err
}

// send sends a request until it is answered by the service itself. A repeated POST has
// the Idempotency-Key of the first.
func (w *worker) send(method, path string, body any) (map[string]any, error) {
	key := uuid.NewString()
	var last string
	for range tries {
		status, text, err := w.try(method, path, key, body)
		w.sent++
		if err == nil && status == http.StatusOK {
			if w.happening.Load() {
				w.meanwhile[method]++
			}
			var answer map[string]any
			err = json.Unmarshal(text, &answer)
			return answer, err
		}
		last = fmt.Sprintf("%d %s %v", status, text, err)
		if !w.again(status, text, err) {
			break
		}
		w.repeated++
		time.Sleep(pause)
	}
	return nil, fmt.Errorf("%s %s: %s", method, path, last)
}

// again is whether a request may be sent again: after the answers that docs/deploying.md
// names, and where the address changes, after whatever stands at the old one, until the
// new one is known.
func (w *worker) again(status int, text []byte, err error) bool {
	if w.moves {
		regions, broken := target.Emulated()
		if broken == nil && regions["us"].URL != w.url {
			w.url = regions["us"].URL
			w.moved++
		}
		if err != nil || (status == http.StatusForbidden || status == http.StatusNotFound) && !strings.Contains(string(text), `"code"`) {
			return true
		}
	}
	return err == nil && slices.Contains(repeatable, status)
}

// repeatable are the statuses after which a client may send a request again.
var repeatable = []int{429, 500, 502, 503, 504}

func (w *worker) try(method, path, key string, body any) (int, []byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	request, err := http.NewRequest(method, fmt.Sprintf("%s/v1/event/%d%s", w.url, w.event, path), bytes.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set(stacktest.TokenHeader, w.token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", key)
	} else {
		request.Body = http.NoBody
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err = io.ReadAll(answer.Body)
	return answer.StatusCode, text, err
}

// kept requires that all that was acknowledged is there, and nothing else, and gives the
// caller where the service is now.
func kept(t *testing.T, s *stacktest.Stack, all []*worker) *stacktest.Stack {
	t.Helper()
	regions, err := target.Emulated()
	require.NoError(t, err)
	now := *s
	now.URL = regions["us"].URL
	want, got := map[string]string{}, map[string]string{}
	for i, w := range all {
		t.Logf("client %d: %d sessions acknowledged in %d requests, of which %d again; answered meanwhile: %v; %d new addresses", i, len(w.acknowledged), w.sent, w.repeated, w.meanwhile, w.moved)
		require.NotEmpty(t, w.acknowledged)
		maps.Copy(want, w.acknowledged)
	}
	for page, pages := 1, 1; page <= pages; page++ {
		found := stacktest.Call[struct {
			Results    []struct{ ID, Title string }
			Pagination struct{ TotalPages int }
		}](&now, 200, http.MethodPost, fmt.Sprintf("%s?pageSize=100&page=%d", s.EventPath("/sessions"), page), map[string]any{})
		pages = found.Pagination.TotalPages
		for _, r := range found.Results {
			got[r.ID] = r.Title
		}
	}
	require.Equal(t, want, got)
	return &now
}
