package insights_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/querytest"
	"lectern/localstack/test/stacktest"
)

// hostile is a caller of one event who wants to see more. No answer may have any of the secrets: names and ids of another organization,
// of an event that the token does not cover, and of deleted records.
type hostile struct {
	*asker
	secrets []string
	// titles are those of the sessions that the caller may see.
	titles []string
	asked  int
}

func newHostile(t *testing.T) *hostile {
	t.Helper()
	a := newAsker(t)
	h := &hostile{titles: []string{"Alpha", "Beta", `O'Neil "50%" Zürich_日本`}}
	a.Create(200, object{"title": h.titles[2]})
	foreign := &asker{it.ProgrammeOf(&it.Client{Stack: a.NewOrganization(t, "sessions_2_0"), T: t})}
	for i, other := range []*asker{{it.ProgrammeOf(a.InNewEvent())}, foreign} {
		name := fmt.Sprint("Hidden", i)
		h.keep(other.Create(200, object{"title": name, "track_id": other.NewEntry("tracks", name+"track").ID()}))
		h.keep(other.NewContact(name+"@example.org", object{"first_name": name}))
		h.secrets = append(h.secrets, other.NewField(name+" field", "text"), name)
	}
	deleted := a.NewEntry("tracks", "Hidden track")
	session := a.Create(200, object{"title": "Hidden session", "track_id": deleted.ID()})
	contact, field := a.NewContact("hidden@example.org"), a.DefineField(200, object{"name": "Hidden too", "type": "text", "module_id": "session"})
	a.PutFields(200, session.ID(), object{"hidden_too": "Hidden value"})
	for kind, made := range map[string]it.Entity{"tracks": deleted, "sessions": session, "contacts": contact, "fields": field} {
		a.DeleteRecord(kind, made.ID())
		h.keep(made)
	}
	h.secrets = append(h.secrets, "Hidden track", "Hidden session", "hidden@example.org", "Hidden value", "hidden_too")
	h.asker = &asker{it.ProgrammeOf(a.WithToken(a.TokenWith(t, object{
		"scopes": []any{"read:insights", "read:contacts"}, "event_ids": []any{a.Event}, "limit": 1_000_000,
	})))}
	return h
}

func (h *hostile) keep(secret it.Entity) { h.secrets = append(h.secrets, secret.ID()) }

// maxTime ends a request that takes too long.
const maxTime = 10 * time.Second

// send sends a body to a path, and requires an answer in time.
func (h *hostile) send(path string, body []byte) (status int, answer []byte) {
	h.T.Helper()
	h.asked++
	ctx, cancel := context.WithTimeout(h.T.Context(), maxTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL+path, bytes.NewReader(body))
	require.NoError(h.T, err)
	request.Header.Set(stacktest.TokenHeader, h.Token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(h.T, err, "%.300s", body)
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	require.NoError(h.T, err)
	return response.StatusCode, answer
}

// try sends a query. The answer must be right as far as any query tells, or a 400 that names query. try returns the titles of an answer,
// and whether there is one.
func (h *hostile) try(query string) (titles []string, ok bool) {
	h.T.Helper()
	path := []string{h.EventPath("/insights/execute"), "/v1/insights/execute"}[h.asked%2]
	body, err := json.Marshal(object{"query": query, "obfuscatePii": h.asked%3 == 0, "limit": 100})
	require.NoError(h.T, err)
	status, text := h.send(path, body)
	var answer it.Entity
	require.NoError(h.T, json.Unmarshal(text, &answer), "%.300s", query)
	for _, secret := range h.secrets {
		if status == http.StatusOK || !strings.Contains(strings.ToLower(query), strings.ToLower(secret)) {
			require.NotContains(h.T, string(text), secret, "%.300s", query)
		}
	}
	if status != http.StatusOK {
		require.Equal(h.T, http.StatusBadRequest, status, "%.300s: %s", query, text)
		require.Equal(h.T, "VALIDATION_ERROR", answer["code"], "%.300s", query)
		require.Equal(h.T, "query", answer.At("details.field"), "%.300s: %s", query, text)
		return nil, false
	}
	for _, row := range answer["results"].([]any) {
		if title, shown := row.(map[string]any)["session.title"]; shown && title != nil {
			require.Contains(h.T, h.titles, title, "%.300s", query)
			titles = append(titles, title.(string))
		}
	}
	slices.Sort(titles)
	return titles, true
}

// hostileTexts are contents of literals.
func (h *hostile) hostileTexts() []string {
	return append([]string{
		"'; DROP TABLE sessions; --", "' OR '1'='1", "' UNION SELECT sql FROM sqlite_master --", `" OR ""="`, "`", `\' OR 1=1 --`, "/*", "*/", "--",
		"%", "_", "%%", "%a%", "______", "", " ", "‘ OR ’1’=’1", "＇ OR ＇1＇=＇1", "ʼ OR 1=1", "Al\u200bpha", "Alpha\u202e", "\ufeffAlpha", "Аlpha", "ALPHA",
		"alpha", "O'Neil", `"50%"`, "zürich_", "ZÜRICH", "日本", "?", "?1", ":a", "@a", "$1", "{{.}}", "\n", "\r\n\t", "NaN", "1e999", "NULL", "0",
		"sqlite_master", "\u2028", "\U0001f600", "e\u0301", strings.Repeat("%", 3_000), strings.Repeat("%a", 2_000), strings.Repeat("_", 2_000),
		strings.Repeat("x", 5_000), strings.Repeat("日", 3_000),
	}, h.secrets...)
}

// places are conditions with a literal, and what they say of a title.
var places = map[string]func(title, text string) bool{
	"session.title = %s":                               func(a, b string) bool { return a == b },
	"NOT title <> %s":                                  func(a, b string) bool { return a == b },
	"session.title != %s":                              func(a, b string) bool { return a != b },
	"session.title < %s":                               func(a, b string) bool { return a < b },
	"sessions.title >= %s":                             func(a, b string) bool { return a >= b },
	"session.title IN ('Beta', %s)":                    func(a, b string) bool { return a == b || a == "Beta" },
	"session.title NOT IN (%s)":                        func(a, b string) bool { return a != b },
	"session.title BETWEEN %s AND 'B'":                 func(a, b string) bool { return a >= b && a <= "B" },
	"session.title LIKE %s":                            matches,
	"session.title NOT LIKE %s":                        func(a, b string) bool { return !matches(a, b) },
	"session.title CONTAINS %s":                        mentions,
	"session.status = 'none' OR title CONTAINS %s":     mentions,
	"session.id = %s OR session.track_id = 'no'":       func(string, string) bool { return false },
	"session.title IS NOT NULL AND session.id != %s":   func(string, string) bool { return true },
	"(title CONTAINS 'alpha' AND NOT (title LIKE %s))": func(a, b string) bool { return a == "Alpha" && !matches(a, b) },
}

func mentions(title, text string) bool {
	return strings.Contains(strings.ToLower(title), strings.ToLower(text))
}

// matches compares by a regular expression.
func matches(title, pattern string) bool {
	short := regexp.MustCompile("%+").ReplaceAllString(strings.ToLower(pattern), "%")
	if len(short) > 1000 {
		return false // No title is so long.
	}
	expression := strings.NewReplacer("%", ".*", "_", ".").Replace(regexp.QuoteMeta(short))
	return regexp.MustCompile("(?s)^" + expression + "$").MatchString(strings.ToLower(title))
}

// TestHostileLiterals are values, whatever is in them: each answer is right.
func TestHostileLiterals(t *testing.T) {
	h := newHostile(t)
	for _, text := range h.hostileTexts() {
		for place, holds := range places {
			query := "SELECT session.title FROM sessions WHERE " + fmt.Sprintf(place, "'"+strings.ReplaceAll(text, "'", "''")+"'")
			var want []string
			for _, title := range h.titles {
				if holds(title, text) {
					want = append(want, title)
				}
			}
			got, ok := h.try(query)
			require.True(t, ok, "%.300s", query)
			slices.Sort(want)
			require.Equal(t, want, got, "%.300s", query)
		}
	}
	require.Greater(t, h.asked, 300)
}

// hostileParts stand where a query has names, numbers and values.
var hostileParts = []string{
	"'; DROP TABLE sessions; --", "1; SELECT 1", "x UNION SELECT name FROM sqlite_master", "(SELECT 1)", "(SELECT sql FROM sqlite_schema LIMIT 1)",
	"sqlite_master", "sqlite_schema", "sqlite_temp_master", "pragma_table_info('sessions')", "_row", `"_row"`, "session._row", "session._from", "_to",
	`"sessions speakers"`, "sessions speakers", "[title]", "`title`", "session.title /* x */", "/**/ session.title", "session.title -- x", "# x",
	"rowid", "session.rowid", "oid", "_rowid_", "t0.title", "main.sessions", "1e999", "-1e999", "NaN", "Infinity", "-1", "99999999999999999999", "0x10",
	"1.5.5", "NULL", "?", "?1", ":a", "@a", "CAST(session.title AS BLOB)", "session.title || 'x'", "load_extension('x')", "randomblob(1000000000)",
	"lectern_like(session.title, 'a')", "session.title COLLATE BINARY", "CASE WHEN 1 THEN 1 END", "COUNT(COUNT(*))", "MAX(*)", "COUNT(*)", "MIN(session.title)", "1 = 1", "EXISTS (SELECT 1)",
	"ſession.title", "session.tıtle", "session\u200b.title", "session．title", "ｓession.title", "session.custom.hidden_too", "session.custom.hidden_to",
	"session.custom.hidden0_field", "session.custom.hidden1_fiel", "custom.hidden1_field", "session.custom", "session.custom.", "session..title", ".title",
	strings.Repeat("a", 9_000), strings.Repeat("a.", 3_000), strings.Repeat("(", 3_000), "\U0001f600", "’", "\\", "\u202e", "[", "{", "''''", "'", `"`, ";",
}

// positions are queries with a part.
var positions = []string{
	"%s", "SELECT %s FROM sessions", "SELECT session.title FROM %s", "SELECT session.title FROM sessions JOIN %s", "SELECT session.title AS %s FROM sessions",
	"SELECT session.title FROM sessions WHERE %s = 'x'", "SELECT session.title FROM sessions WHERE session.title = %s",
	"SELECT session.title FROM sessions WHERE session.title IN (%s)", "SELECT session.title FROM sessions WHERE session.title LIKE %s ESCAPE 'x'",
	"SELECT COUNT(%s) FROM sessions", "SELECT COUNT(*) FROM sessions GROUP BY %s", "SELECT COUNT(*) FROM sessions HAVING %s > 1",
	"SELECT session.title FROM sessions ORDER BY %s", "SELECT session.title FROM sessions LIMIT %s", "SELECT session.title FROM sessions LIMIT 1 OFFSET %s",
	"FIND %s", "FIND Session WITH %s", "FIND Session WHERE %s", "SELECT session.title FROM sessions; %s",
}

// TestHostileParts are refused, or are what the language says.
func TestHostileParts(t *testing.T) {
	h, answered := newHostile(t), 0
	for _, part := range hostileParts {
		for _, position := range positions {
			if _, ok := h.try(fmt.Sprintf(position, part)); ok {
				answered++
			}
		}
	}
	require.Greater(t, h.asked, 300)
	require.Less(t, answered, 70, "names of results, values, and an empty statement")
}

// TestHostileStatements are refused.
func TestHostileStatements(t *testing.T) {
	h, wide := newHostile(t), func(n int, of, between string) string {
		return strings.TrimSuffix(strings.Repeat(of+between, n), between)
	}
	for _, query := range []string{
		"PRAGMA table_info(sessions)", "PRAGMA temp_store = FILE", "ATTACH ':memory:' AS x", "DETACH x", "VACUUM INTO '/tmp/x'", "EXPLAIN SELECT 1",
		"WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r", "SELECT 1", "VALUES (1)", "SELECT session.title FROM sessions, contacts",
		"SELECT session.title FROM sessions UNION SELECT contact.email FROM contacts", "SELECT session.title FROM (SELECT * FROM sessions)",
		"SELECT session.title FROM sessions WHERE title = (SELECT email FROM contacts)", "SELECT session.title FROM sessions WHERE title IN (SELECT email FROM contacts)",
		"SELECT session.title FROM sessions; SELECT contact.email FROM contacts", "SELECT session.title FROM sessions;; ", "INSERT INTO sessions VALUES (1)",
		"UPDATE sessions SET title = 'x'", "DELETE FROM sessions", "CREATE TABLE x (y)", "SELECT session.title INTO x FROM sessions", "BEGIN", "COMMIT",
		"SELECT session.title FROM sessions JOIN contacts ON 1 = 1", "SELECT session.title FROM sessions NATURAL JOIN contacts",
		"SELECT session.title FROM sessions CROSS JOIN contacts", "SELECT session.title FROM sessions LIMIT -1", "SELECT session.title FROM sessions LIMIT 1e3",
		"SELECT session.title FROM sessions LIMIT 99999999999999999999", "SELECT session.title FROM sessions LIMIT 1, 5",
		"FIND Session WHERE " + strings.Repeat("(", 3_000) + "title = 'x'" + strings.Repeat(")", 3_000), "FIND Session WHERE " + strings.Repeat("NOT ", 2_000) + "title = 'x'",
		"FIND Session WHERE " + strings.Repeat(strings.Repeat("NOT ", 50)+"(", 40) + "title = 'x'" + strings.Repeat(")", 40),
		"FIND Session WHERE " + wide(500, "title = 'x'", " AND "), "FIND Session WHERE " + wide(500, "title = 'x'", " OR "),
		"FIND Session WHERE title IN (" + wide(3_000, "1", ",") + ")", "SELECT session.title FROM sessions ORDER BY " + wide(500, "title", ","),
		"SELECT " + wide(900, "COUNT(*)", ",") + " FROM sessions", "SELECT session.title FROM sessions" + strings.Repeat(" JOIN contacts", 300),
		"FIND Session WHERE capacity = 1" + strings.Repeat("0", 400), "FIND Session WHERE capacity = NaN", "FIND Session WHERE capacity > 1e999",
		"FIND Session WHERE capacity BETWEEN -1e9 AND Infinity", "FIND " + strings.Repeat("session", 1_400), "SELECT " + strings.Repeat("é", 4_990) + " FROM sessions",
		"FIND Session WHERE starts_at > '99999-01-01T00:00:00Z'", "FIND Session WHERE starts_at = '2027-13-01'",
	} {
		_, ok := h.try(query)
		require.False(t, ok, "%.300s", query)
	}
	for _, body := range []string{
		"{\"query\": \"FIND Session WHERE title = '\xff\xfe'\"}", "{\"query\": \"FIND Session WHERE title = '\\u0000'\"}", "{\"query\": \"FIND\x00Session\"}",
		"{\"query\": \"FIND \xc0\xafSession\"}", `{"query": "FIND Session", "query": "FIND Contact"}`, `{"query": ["FIND Session"]}`, `{"query": {"a": 1}}`,
		`{"query": null}`, `{"query": "FIND Session", "page": 1e999}`, `{"query": "FIND Session", "limit": -1}`, `{"query": "FIND Session", "page": 99999999999999999999}`,
		"{\"query\": \"FIND Session WHERE title = '\\ud800'\"}", `{"query": "` + strings.Repeat("x", 10_001) + `"}`, strings.Repeat("[", 10_000),
	} {
		status, answer := h.send(h.EventPath("/insights/execute"), []byte(body))
		require.Equal(t, http.StatusBadRequest, status, "%.200s: %s", body, answer)
	}
}

// heavy combines all entries of five lists of the event.
const heavy = "SELECT event.name, tag.name, track.name, room.name, level.name, format.name FROM events JOIN tags JOIN tracks JOIN rooms " +
	"JOIN levels JOIN formats ORDER BY format.name DESC"

// TestHostileQueriesLeaveNoMemory, whether they are answered, refused, or end at a limit.
func TestHostileQueriesLeaveNoMemory(t *testing.T) {
	a := newAsker(t)
	a.Inside(t, "reads the memory of the process")
	for _, kind := range []string{"tags", "tracks", "rooms", "levels", "formats"} {
		for i := range 14 {
			a.NewEntry(kind, fmt.Sprint(kind, i))
		}
	}
	h := &hostile{asker: a, titles: []string{"Alpha", "Beta"}}
	run := func(n int) {
		for i := range n {
			switch {
			case i%200 == 0:
				_, ok := h.try(heavy)
				require.False(t, ok)
			case i%3 == 0:
				h.try("SELECT session.title FROM sessions WHERE title = '" + fmt.Sprint(i))
			default:
				_, ok := h.try("SELECT session.title, speaker.email FROM sessions JOIN speakers WHERE session.title CONTAINS '" + fmt.Sprint(i) + "'")
				require.True(t, ok)
			}
		}
	}
	run(100)
	before := querytest.Resident()
	run(it.Size(1_000, 5_000))
	// The caches of other tests, which run beside, stay. Without its end each database would keep a MB or more.
	require.Eventually(t, func() bool { return querytest.Resident() < before+400 }, time.Minute, time.Second)
}
