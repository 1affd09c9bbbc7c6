// Package transcripts_test measures how fast the transcriptions of a long session are stored and
// read. `make bench` runs the whole size and prints the figures of docs/performance.md.
package transcripts_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/pdftest"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api/encode"
	"lectern/tools/bench/scale"
)

// sentence is the text of a fragment.
const sentence = "And so, as you can see on this slide, the number of requests went down from %d a second to a quarter of that."

// bench is a client of the transcriptions of a session.
type bench struct {
	*it.Client
	log     *stacktest.Log
	session string
}

// call sends a request of a client that takes gzip. It returns the body, how long the answer took,
// and the id of the request.
func (b bench) call(status int, method, path string, body any) (text []byte, took time.Duration, request string) {
	b.T.Helper()
	began := time.Now()
	answer := b.Call(b.T, status, method, b.EventPath(path), stacktest.WithHeaders(body, "Accept", "*/*", "Accept-Encoding", "gzip"))
	took, text = time.Since(began), answer.Body
	if answer.Header.Get("Content-Encoding") == "gzip" {
		var err error
		text, err = encode.Gunzip(text)
		require.NoError(b.T, err)
	}
	return text, took, answer.Header.Get("X-Request-Id")
}

// read sends a GET five times, checks the answer, and prints the median time and the units.
func (b bench) read(name, path string, check func(text []byte)) (median time.Duration) {
	b.T.Helper()
	var times []time.Duration
	var request string
	for range 5 {
		text, took, id := b.call(http.StatusOK, http.MethodGet, path, nil)
		check(text)
		times, request = append(times, took), id
	}
	fields := b.log.Fields(b.T, request)
	slices.Sort(times)
	b.T.Logf("%s: %.0f ms, %v round trips, %v read units", name, times[2].Seconds()*1000, fields["round_trips"], fields["rcu"])
	return times[2]
}

// sampled is the number of fragments of which one is asked for its units: a search in the log takes
// longer than the request.
const sampled = 50

// TestADayOfSpeech stores 20,000 fragments one by one, and reads them as content, as a page of a
// list, and one by its id.
func TestADayOfSpeech(t *testing.T) {
	n := scale.Size(500, 20_000)
	log := &stacktest.Log{}
	c := &it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t}
	b := bench{c, log, c.NewSessions("A day of speech")[0]}
	var last string
	units, began := 0.0, time.Now()
	for i := range n {
		body := it.Object{
			"type": "fragment", "transcription": fmt.Sprintf(sentence, i), "speaker": fmt.Sprint("Speaker ", i/7%3), "language_code": "en",
			"start_time": 1.4 * float64(i), "end_time": 1.4*float64(i) + 1.3,
		}
		text, _, request := b.call(http.StatusCreated, http.MethodPost, "/sessions/"+b.session+"/transcriptions", body)
		var made struct{ Data it.Entity }
		require.NoError(t, json.Unmarshal(text, &made))
		last = made.Data.ID()
		if i%sampled == sampled-1 {
			used, _ := log.Fields(t, request)["wcu"].(float64)
			units += used * sampled
		}
	}
	each := time.Since(began).Seconds() * 1000 / float64(n)
	t.Logf("%d fragments stored one by one: %.1f ms and about %.1f write units each", n, each, units/float64(n))
	took := b.read("the content of the session", "/sessions/"+b.session+"/content", func(text []byte) {
		var pack struct{ Data it.Entity }
		require.NoError(t, json.Unmarshal(text, &pack))
		require.EqualValues(t, n, pack.Data.List("items")[0]["fragment_count"])
		require.NotEmpty(t, pack.Data.List("items")[0]["elements"])
	})
	if scale.Whole() {
		require.Less(t, took, time.Second, "the goal")
	}
	b.read("the same in an event's list of packs", "/content", func(text []byte) { require.Contains(t, string(text), b.session) })
	b.read("the last page of the session's list", fmt.Sprintf("/sessions/%s/transcriptions?page=%d&pageSize=25", b.session, n/25),
		func(text []byte) { require.Contains(t, string(text), last) })
	b.read("one by its id", "/transcriptions/"+last, func(text []byte) { require.Contains(t, string(text), last) })
}

// TestTheReportOfALargeEvent stores a summary and an insight for each of 2,000 sessions, and reads the
// report in its variants.
func TestTheReportOfALargeEvent(t *testing.T) {
	n := scale.Size(20, 2_000)
	log := &stacktest.Log{}
	c := &it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t}
	b := bench{c, log, ""}
	titles := make([]string, n)
	for i := range titles {
		titles[i] = fmt.Sprint("Session ", i)
	}
	for i, session := range c.NewSessions(titles...) {
		for _, kind := range []string{"summary", "insight"} {
			text := fmt.Sprintf(strings.Repeat(sentence+" ", 5), i, i, i, i, i)
			b.call(http.StatusCreated, http.MethodPost, "/sessions/"+session+"/transcriptions", it.Object{"type": kind, "transcription": text})
		}
	}
	var last []byte
	for _, variant := range []string{"full", "daily", "theme"} {
		b.read("the report, "+variant, "/content/documents/event_report?variant="+variant, func(file []byte) {
			require.Less(t, len(file), 4_300_000)
			last = file
		})
		read := pdftest.Read(t, last)
		t.Logf("%d bytes, %d pages", len(last), read.Len())
		endsEarly := strings.Contains(read.Last(), "more sessions are left out")
		require.Equal(t, variant == "full" && scale.Whole(), endsEarly, "two long texts of 2,000 sessions are too much, their beginnings are not")
	}
}
