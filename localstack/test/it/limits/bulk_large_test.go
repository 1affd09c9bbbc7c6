package limits_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/api/encode"
)

// maxJSON is how many bytes of JSON an answer may have, and maxReturn how many
// a Lambda may return: the body is a string in what it returns.
const (
	maxJSON   = 5 << 20
	maxReturn = 6 << 20
)

// heavy makes n records with 60,000 bytes of text each, which is all quotes where
// that is wanted, and gives their ids.
func (w *kindClient) heavy(n int, text string, more ...object) []string {
	w.T.Helper()
	var ids []string
	body := append([]object{{w.LongField: strings.Repeat(text, 60_000/len(text))}}, more...)
	for len(ids) < n {
		o := w.bulk(w.news(min(n-len(ids), 20), "x", body...)...)
		require.Zero(w.T, o.Stats.Failed)
		ids = append(ids, it.Texts(o.Results, "id")...)
	}
	return ids
}

// leaves checks that an answer is as short as it must be: as JSON, and as a string in
// what a Lambda returns.
func leaves(t *testing.T, answer []byte) {
	t.Helper()
	require.LessOrEqual(t, len(answer), maxJSON)
	require.LessOrEqual(t, len(answer)+bytes.Count(answer, []byte(`"`))+bytes.Count(answer, []byte(`\`)), maxReturn)
}

func TestBulkAnswerLeavesOutDataBeyondFiveMegabytes(t *testing.T) {
	inEveryKind(t, func(_ *testing.T, w *kindClient) {
		w.leavesOut(it.Size(50, 100), `"`)
		if w.Collection == "sessions" {
			w.leavesOut(100, "é<")
		}
	})
}

// leavesOut changes n records that are long for the text: together they are longer than an answer.
// Fifty are, where the text is all quotes.
func (w *kindClient) leavesOut(n int, text string) {
	w.T.Helper()
	ids := w.heavy(n, text)
	operations := make([]object, len(ids))
	for i, id := range ids {
		operations[i] = it.Updating(id, w.WithText(fmt.Sprint(i)))
	}
	answer := w.bulkAnswer("", operations)
	leaves(w.T, answer.Body)
	require.Greater(w.T, len(answer.Body), maxJSON/3, "as much as fits")
	results := entity(answer.JSON(w.T)).List("results")
	require.Equal(w.T, ids, it.Texts(results, "id"))
	shown := 0
	for i, r := range results {
		require.Equal(w.T, "success", r["status"])
		if _, has := r["data"]; has {
			require.Equal(w.T, i, shown, "all entries after the first without data have none")
			shown++
		}
	}
	require.Less(w.T, shown, n)
	if text == `"` {
		packed := w.bulkAnswer("", operations, "Accept", "*/*", "Accept-Encoding", "gzip")
		plain, err := encode.Gunzip(packed.Body)
		require.NoError(w.T, err)
		require.Greater(w.T, bytes.Count(plain, []byte(`"data":`)), shown, "escapes count for a client without gzip alone")
	}
	require.Equal(w.T, fmt.Sprint(n-1), w.get(200, ids[n-1])[w.TextField], "what is not shown is done all the same")
}

func TestAWriteIsNeverRefusedForTheSizeOfItsAnswer(t *testing.T) {
	d := it.NewClient(t)
	parent := d.NewSessions("Parent")[0]
	note := d.NewField("Note", "wysiwyg")
	w := &kindClient{d, it.Kinds[0]}
	w.heavy(50, "x", object{"parent_session_id": parent, "custom_fields": object{note: strings.Repeat("y", 60_000)}})
	const expand = "expand=subsession_details"
	require.Len(t, d.Get(200, parent).List("subsessions"), 50)
	changed := d.Put(200, parent, object{"capacity": 5}, expand)
	require.Equal(t, 5.0, changed["capacity"], "expansions are left out first")
	require.Len(t, changed.List("subsessions"), 50)
	o := d.Do(200, "POST", "/sessions/bulk?"+expand, object{"operations": []object{it.Updating(parent, object{"capacity": 6})}})
	require.Equal(t, "success", o.List("results")[0]["status"])
	omitted := o.List("results")[0]["data"].(object)["omitted"]
	require.Contains(t, omitted, "subsessions.custom_fields", "the expansion")
	require.NotContains(t, omitted, "subsessions", "no more than has to be")
	require.Equal(t, 6.0, d.Get(200, parent)["capacity"])
	for _, page := range []entity{
		d.Do(200, "POST", "/sessions", object{"expand": []string{"subsession_details"}}), d.Do(200, "GET", "/sessions?"+expand, nil),
	} {
		subs := page.List("results")[0].List("subsessions")
		require.Len(t, subs, 50, "no page is smaller than that of one result")
		require.NotContains(t, subs[0], "custom_fields")
	}
}

// TestSearchNamesThePageSizeThatFits: the short size has fewer records, which are as long for
// their quotes.
func TestSearchNamesThePageSizeThatFits(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		n, text := 60, `"`
		if it.Size(0, 1) == 1 {
			n, text = 100, "x"
		}
		w.heavy(n, text)
		path := "/" + w.Collection + "?pageSize="
		refusal := w.Do(400, "POST", path+"100", object{})
		it.RequireInvalid(t, refusal, "pageSize")
		message := refusal.Text("message")
		var fits int
		_, err := fmt.Sscanf(message[strings.LastIndex(message, " of ")+1:], "of %d or less.", &fits)
		require.NoError(t, err, message)
		require.Greater(t, fits, n/4)
		for page := 1; page*fits < n; page++ {
			require.Len(t, w.Do(200, "POST", fmt.Sprint(path, fits, "&page=", page), object{}).List("results"), fits)
		}
		if w.Collection == "sessions" {
			it.RequireInvalid(t, w.Do(400, "GET", "/sessions?page_size=100", nil), "page_size")
		}
	})
}
