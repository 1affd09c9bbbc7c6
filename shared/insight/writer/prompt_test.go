package writer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/query"
)

// withFields returns a schema with custom fields, each with a remark.
func withFields(n int) *query.Schema {
	e := &query.Entity{Name: "talks", Singular: "talk", Doc: "Talks\nof an event.", Columns: []*query.Column{
		{Name: "id", Type: query.String, Doc: strings.Repeat("long ", 30)},
	}}
	for i := range n {
		e.Columns = append(e.Columns, &query.Column{Name: fmt.Sprintf("custom.field_%d", i), Type: query.Float, Doc: "A remark\nof an organizer"})
	}
	return &query.Schema{Entities: []*query.Entity{e}}
}

// TestALongDescriptionLosesRemarks first, and then the custom fields.
func TestALongDescriptionLosesRemarks(t *testing.T) {
	short := describe(withFields(1))
	require.Equal(t, "\n# Entities\n\n## talks, singular talk\nTalks of an event.\n- talk.id text: "+strings.Repeat("long ", 19)+"long…\n"+
		"- talk.custom.field_0 number: A remark of an organizer\n", short)
	long := describe(withFields(1500))
	require.Contains(t, long, "- talk.id text\n")
	require.Contains(t, long, "- talk.custom.field_1499 number\n")
	require.Less(t, len(long), maxDescription)
	longest := describe(withFields(10_000))
	require.Equal(t, "\n# Entities\n\n## talks, singular talk\nTalks of an event.\n- talk.id text\n", longest)
}

func TestExplanationsAreCut(t *testing.T) {
	a := parse(`{"query": "x", "explanation": "` + strings.Repeat("ü", maxExplanation+1) + `"}`)
	require.Equal(t, strings.Repeat("ü", maxExplanation-1)+"…", a.Explanation)
}

// TestTheInstructionsAreShort, so that a question costs little.
func TestTheInstructionsAreShort(t *testing.T) {
	require.Less(t, len(instructions(withFields(0), time.Now())), 5000)
}

// FuzzParse: each text gives an answer, and an answer with a query is that of an object.
func FuzzParse(f *testing.F) {
	for _, text := range []string{`{"query": "x"}`, "```\n{\"query\": 1}", "{{{", `{"explanation": "{"}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if a := parse(text); a.Query != "" {
			require.Contains(t, text, "{")
		}
	})
}
