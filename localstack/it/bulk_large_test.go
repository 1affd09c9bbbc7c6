package it_test

import (
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

// heavy makes n sessions with 60,000 bytes of text each, which is all quotes
// where that is wanted, and gives their ids.
func (d *desk) heavy(n int, text string, more ...object) []string {
	d.t.Helper()
	var ids []string
	body := merged(object{"description": strings.Repeat(text, 60_000/len(text))}, more...)
	for len(ids) < n {
		operations := make([]object, min(n-len(ids), 20))
		for i := range operations {
			operations[i] = creating(merged(body, object{"title": fmt.Sprint(len(ids) + i)}))
		}
		o := d.bulk(operations...)
		require.Zero(d.t, o.Stats.Failed)
		for i := range operations {
			ids = append(ids, o.Results[i].id())
		}
	}
	return ids
}

func TestBulkAnswerLeavesOutDataBeyondFiveMegabytes(t *testing.T) {
	for _, text := range []string{`"`, "é<"} {
		d := newDesk(t)
		ids := d.heavy(100, text)
		operations := make([]object, 100)
		for i, id := range ids {
			operations[i] = updating(id, object{"capacity": i})
		}
		answer := d.Call(t, 200, "POST", d.EventPath("/sessions/bulk"), object{"operations": operations})
		require.LessOrEqual(t, len(answer.Body), maxJSON)
		escaped := len(answer.Body) + strings.Count(string(answer.Body), `"`) + strings.Count(string(answer.Body), `\`)
		require.LessOrEqual(t, escaped, maxReturn)
		require.Greater(t, len(answer.Body), maxJSON/3, "as much as fits")
		results := entity(answer.JSON(t)).list("results")
		require.Len(t, results, 100)
		shown := 0
		for i, r := range results {
			require.Equal(t, "success", r["status"])
			require.Equal(t, ids[i], r["id"])
			if _, has := r["data"]; has {
				require.Equal(t, i, shown, "all entries after the first without data have none")
				shown++
			}
		}
		require.Less(t, shown, 100)
		require.Equal(t, 99.0, d.get(200, ids[99])["capacity"], "what is not shown is done all the same")
	}
}

func TestAWriteIsNeverRefusedForTheSizeOfItsAnswer(t *testing.T) {
	d := newDesk(t)
	parent := d.titled("Parent")[0]
	note := d.field("Note", "wysiwyg")
	d.heavy(50, "x", object{"parent_session_id": parent, "custom_fields": object{note: strings.Repeat("y", 60_000)}})
	const expand = "expand=subsession_details"
	require.Len(t, d.get(200, parent).list("subsessions"), 50)
	changed := d.put(200, parent, object{"capacity": 5}, expand)
	require.Equal(t, 5.0, changed["capacity"], "expansions are left out first")
	require.Len(t, changed.list("subsessions"), 50)
	o := d.send(200, "POST", "/sessions/bulk?"+expand, object{"operations": []object{updating(parent, object{"capacity": 6})}})
	require.Equal(t, "success", o.list("results")[0]["status"])
	require.Equal(t, 6.0, d.get(200, parent)["capacity"])
	isInvalid(t, d.send(400, "POST", "/sessions", object{"expand": []string{"subsession_details"}}), "pageSize")
	isInvalid(t, d.send(400, "GET", "/sessions?"+expand, nil), "page_size")
}

func TestSearchNamesThePageSizeThatFits(t *testing.T) {
	d := newDesk(t)
	d.heavy(100, "x")
	refusal := d.send(400, "POST", "/sessions?pageSize=100", object{})
	isInvalid(t, refusal, "pageSize")
	var fits int
	_, err := fmt.Sscanf(refusal.text("message")[strings.LastIndex(refusal.text("message"), " of ")+1:], "of %d or less.", &fits)
	require.NoError(t, err, refusal.text("message"))
	require.Greater(t, fits, 50)
	for page := 1; page*fits < 100; page++ {
		require.Len(t, d.search(object{}, fmt.Sprint("pageSize=", fits), fmt.Sprint("page=", page)).Results, fits)
	}
	isInvalid(t, d.send(400, "GET", "/sessions?page_size=100", nil), "page_size")
}
