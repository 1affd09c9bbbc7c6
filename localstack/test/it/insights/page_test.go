package insights_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/content/seed"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/insight"
	"lectern/shared/query"
)

var update = flag.Bool("update", false, "write what docs/query-language.md shows of entities and answers anew")

const (
	page = "../../../../docs/query-language.md"
	// mostShown is how many rows of an answer the page shows.
	mostShown = 4
)

// TestThePageShowsEntitiesAndAnswers compares docs/query-language.md with the schema of an event without custom fields, and with the
// answers of the demo event to the queries of the page. With -update it writes both.
func TestThePageShowsEntitiesAndAnswers(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	s := stacktest.Start(t)
	d, want := fillDemo(t, s), withTables(t, &it.Client{Stack: s, T: t}, string(text))
	answers := 0
	want = example.ReplaceAllStringFunc(want, func(shown string) string {
		answers++
		return answered(d, shown)
	})
	require.GreaterOrEqual(t, answers, 20)
	require.Equal(t, strings.Count(want, "```sql"), answers, "each query has an answer")
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o600))
	}
	require.Equal(t, want, string(text), "write it anew with go test ./localstack/test/it/insights -run ThePage -update")
}

// operator does the operator commands of the seed.
type operator struct {
	*stacktest.Stack
	t *testing.T
}

// Do does a command and returns the answer as JSON.
func (o operator) Do(_ context.Context, command string, input json.RawMessage) (json.RawMessage, error) {
	answer, err := o.TryOperator(o.t, command, input)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// fillDemo makes the demo conference, as `make run` does, and returns a client of its event.
func fillDemo(t *testing.T, s *stacktest.Stack) *it.Client {
	t.Helper()
	data := t.TempDir()
	region := seed.Region{Data: data, Name: "us", Operator: operator{s, t}}
	require.NoError(t, os.Mkdir(filepath.Join(data, region.Name), 0o750))
	made, err := region.Load(t.Context())
	require.NoError(t, err)
	_, err = region.Fill(t.Context(), s.URL, made)
	require.NoError(t, err)
	return &it.Client{Stack: s.As(made.Token).In(made.Event), T: t}
}

// example is a query of the page with what follows it: a table of rows with the number of rows, or a message.
var example = regexp.MustCompile("(?s)```sql\n[^`]*```\n\n(?:\\|[^\n]*\n\\|[-|]*\n(?:\\|[^\n]*\n)*\n[^\n]*|```text\n[^`]*```)")

// answered returns an example with the present answer: the rows in the columns that the table has, or the message.
func answered(d *it.Client, shown string) string {
	d.T.Helper()
	text, rest, _ := strings.Cut(strings.TrimPrefix(shown, "```sql\n"), "```\n\n")
	if strings.HasPrefix(rest, "```text\n") {
		refused := d.Do(400, http.MethodPost, "/insights/execute", object{"query": text})
		return "```sql\n" + text + "```\n\n```text\n" + refused.Text("message") + "\n```"
	}
	got := d.Do(200, http.MethodPost, "/insights/execute", object{"query": text, "limit": mostShown})
	header := strings.Split(rest, "\n")[:2]
	lines := slices.Clone(header)
	for _, r := range got.List("results") {
		line := "|"
		for _, name := range strings.Split(strings.Trim(header[0], "| "), " | ") {
			require.Contains(d.T, r, name, text)
			line += " " + cell(r[name]) + " |"
		}
		lines = append(lines, line)
	}
	count := counted(len(got.List("results")), got.At("pagination.totalResults"))
	return "```sql\n" + text + "```\n\n" + strings.Join(lines, "\n") + "\n\n" + count
}

// counted says how many rows of an answer are shown.
func counted(shown int, all any) string {
	switch total := int(all.(float64)); {
	case total > shown:
		return fmt.Sprintf("The first %d of %d rows.", shown, total)
	case total == 1:
		return "One row."
	default:
		return fmt.Sprintf("All %d rows.", total)
	}
}

// cell returns a value in a table.
func cell(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return strings.ReplaceAll(fmt.Sprint(v), "|", `\|`)
	}
}

// withTables returns the page with the present tables of entities and joins.
func withTables(t *testing.T, d *it.Client, text string) string {
	t.Helper()
	entities := d.Do(200, http.MethodGet, "/insights/schema", nil).List("entities")
	var joins, fields strings.Builder
	joins.WriteString("| entity | JOIN adds |\n|---|---|\n")
	known := map[string]string{}
	for _, e := range entities {
		fmt.Fprintf(&joins, "| %s | %s |\n", e["name"], listOf(e["relationships"]))
		fmt.Fprintf(&fields, "### %s\n\n%s%s\n\n", e["name"], e["description"], aliases(e))
		table := fieldsOf(e)
		if same, ok := known[table]; ok {
			fmt.Fprintf(&fields, "The fields are those of %s.\n\n", same)
			continue
		}
		known[table] = e.Text("name")
		fields.WriteString("| field | type | personal data | meaning |\n|---|---|---|---|\n" + table + "\n")
	}
	text = replaced(t, text, "joins", joins.String())
	return replaced(t, text, "entities", strings.TrimSuffix(fields.String(), "\n"))
}

// aliases names an entity in singular, and its other names.
func aliases(e it.Entity) string {
	text := fmt.Sprintf(" Before a field: `%s`.", e["singular"])
	if others := e["aliases"].([]any); len(others) > 0 {
		text += " Other names: " + listOf(others) + "."
	}
	return text
}

// listOf returns names with commas between.
func listOf(names any) string {
	var all []string
	for _, name := range names.([]any) {
		all = append(all, fmt.Sprintf("`%s`", name))
	}
	return strings.Join(all, ", ")
}

// fieldsOf returns the rows of an entity's table.
func fieldsOf(e it.Entity) (rows string) {
	for _, f := range e.List("fields") {
		private := ""
		if f["contains_pii"].(bool) {
			private = "yes"
		}
		name := strings.TrimPrefix(f.Text("name"), e.Text("singular")+".")
		rows += fmt.Sprintf("| `%s` | %s | %s | %s |\n", name, f["type"], private, f["description"])
	}
	return rows
}

// replaced returns a text with other content between the marks of a name.
func replaced(t *testing.T, text, name, content string) string {
	t.Helper()
	begin, end := "<!-- "+name+": written by the test -->\n", "<!-- "+name+": end -->\n"
	before, rest, found := strings.Cut(text, begin)
	require.True(t, found, name)
	_, after, found := strings.Cut(rest, end)
	require.True(t, found, name)
	return before + begin + "\n" + content + "\n" + end + after
}

// TestThePageNamesTheLimits compares the limits of the page with the messages of queries above them.
func TestThePageNamesTheLimits(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for row, above := range map[string]string{
		"characters of a query": "FIND Session" + strings.Repeat(" ", 100_000),
		"joined entities":       "SELECT * FROM sessions" + strings.Repeat(" JOIN tracks", 500),
		"comparisons":           "FIND Session WHERE title = ''" + strings.Repeat(" OR title = ''", 500),
		"levels of brackets":    "FIND Session WHERE " + strings.Repeat("(", 1000),
		"values of IN":          "FIND Session WHERE title IN (''" + strings.Repeat(", ''", 1000) + ")",
		"fields of a list":      "SELECT title" + strings.Repeat(", title", 1000) + " FROM sessions",
		"digits of a number":    "FIND Session WHERE capacity = " + strings.Repeat("1", 100),
		"rows of LIMIT":         "FIND Session LIMIT 100000",
	} {
		found := regexp.MustCompile(`\| ` + regexp.QuoteMeta(row) + ` \| ([0-9,]+) \|`).FindStringSubmatch(string(text))
		require.NotNil(t, found, row)
		_, err := query.Parse(above)
		require.Regexp(t, `(at most|from 1 to) `+strings.ReplaceAll(found[1], ",", "")+`\b`, err.Error(), row)
	}
	require.Contains(t, string(text), "| records of an entity | 10,000 |")
	require.Equal(t, 10_000, insight.MostRows)
}
