package it_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxJSON is how many bytes of JSON an answer may have, and maxReturn how many
// a Lambda may return: the body is a string in what it returns.
const (
	maxJSON   = 5 << 20
	maxReturn = 6 << 20
)

// heavy makes n records with 60,000 bytes of text each, which is all quotes where
// that is wanted, and gives their ids.
func (w *workshop) heavy(n int, text string, more ...object) []string {
	w.t.Helper()
	var ids []string
	body := append([]object{{w.long: strings.Repeat(text, 60_000/len(text))}}, more...)
	for len(ids) < n {
		o := w.bulk(w.news(min(n-len(ids), 20), "x", body...)...)
		require.Zero(w.t, o.Stats.Failed)
		ids = append(ids, texts(o.Results, "id")...)
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
	inEveryKind(t, func(_ *testing.T, w *workshop) {
		w.leavesOut(`"`)
		if w.collection == "sessions" {
			w.leavesOut("é<")
		}
	})
}

// leavesOut changes a hundred records that are long for the text.
func (w *workshop) leavesOut(text string) {
	w.t.Helper()
	ids := w.heavy(100, text)
	operations := make([]object, len(ids))
	for i, id := range ids {
		operations[i] = updating(id, w.with(fmt.Sprint(i)))
	}
	answer := w.bulkAnswer("", operations)
	leaves(w.t, answer.Body)
	require.Greater(w.t, len(answer.Body), maxJSON/3, "as much as fits")
	results := entity(answer.JSON(w.t)).list("results")
	require.Equal(w.t, ids, texts(results, "id"))
	shown := 0
	for i, r := range results {
		require.Equal(w.t, "success", r["status"])
		if _, has := r["data"]; has {
			require.Equal(w.t, i, shown, "all entries after the first without data have none")
			shown++
		}
	}
	require.Less(w.t, shown, 100)
	require.Equal(w.t, "99", w.get(200, ids[99])[w.text], "what is not shown is done all the same")
}

func TestAWriteIsNeverRefusedForTheSizeOfItsAnswer(t *testing.T) {
	d := newDesk(t)
	parent := d.titled("Parent")[0]
	note := d.field("Note", "wysiwyg")
	w := &workshop{d, recordKinds[0]}
	w.heavy(50, "x", object{"parent_session_id": parent, "custom_fields": object{note: strings.Repeat("y", 60_000)}})
	const expand = "expand=subsession_details"
	require.Len(t, d.get(200, parent).list("subsessions"), 50)
	changed := d.put(200, parent, object{"capacity": 5}, expand)
	require.Equal(t, 5.0, changed["capacity"], "expansions are left out first")
	require.Len(t, changed.list("subsessions"), 50)
	o := d.send(200, "POST", "/sessions/bulk?"+expand, object{"operations": []object{updating(parent, object{"capacity": 6})}})
	require.Equal(t, "success", o.list("results")[0]["status"])
	require.Equal(t, 6.0, d.get(200, parent)["capacity"])
	for _, page := range []entity{
		d.send(200, "POST", "/sessions", object{"expand": []string{"subsession_details"}}), d.send(200, "GET", "/sessions?"+expand, nil),
	} {
		subs := page.list("results")[0].list("subsessions")
		require.Len(t, subs, 50, "no page is smaller than that of one result")
		require.NotContains(t, subs[0], "custom_fields")
	}
}

func TestSearchNamesThePageSizeThatFits(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *workshop) {
		w.heavy(100, "x")
		path := "/" + w.collection + "?pageSize="
		refusal := w.send(400, "POST", path+"100", object{})
		isInvalid(t, refusal, "pageSize")
		message := refusal.text("message")
		var fits int
		_, err := fmt.Sscanf(message[strings.LastIndex(message, " of ")+1:], "of %d or less.", &fits)
		require.NoError(t, err, message)
		require.Greater(t, fits, 50)
		for page := 1; page*fits < 100; page++ {
			require.Len(t, w.send(200, "POST", fmt.Sprint(path, fits, "&page=", page), object{}).list("results"), fits)
		}
		if w.collection == "sessions" {
			isInvalid(t, w.send(400, "GET", "/sessions?page_size=100", nil), "page_size")
		}
	})
}
