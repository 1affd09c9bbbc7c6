package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/querytest"
	"lectern/shared/query"
)

// compile returns the statement of a text for a caller who sees personal data, or the error.
func compile(text string, masked bool) (*query.Statement, error) {
	q, err := query.Parse(text)
	if err != nil {
		return nil, err
	}
	return querytest.Schema.Compile(q, masked)
}

// TestTexts of queries, and the text that the query prints.
func TestTexts(t *testing.T) {
	for text, want := range map[string]string{
		"select talk.title from Talks;":             "SELECT talk.title FROM talks",
		"SELECT DISTINCT\n  talks.title\nFROM talk": "SELECT DISTINCT talks.title FROM talk",
		"SELECT * FROM talks JOIN people LEFT JOIN stages WHERE a.b = 'O''Neil' AND NOT (x=1 OR y<>-2.50)":                                             "SELECT * FROM talks JOIN people LEFT JOIN stages WHERE a.b = 'O''Neil' AND NOT (x = 1 OR y != -2.50)",
		"select count(*) as n, SUM ( distinct talk.minutes ) from talks group by talk.custom.level having n > 1 order by n desc, talk.id asc limit 10": "SELECT COUNT(*) AS n, SUM(DISTINCT talk.minutes) FROM talks GROUP BY talk.custom.level HAVING n > 1 ORDER BY n DESC, talk.id LIMIT 10",
		"FIND Talk WITH people, stages WHERE title NOT LIKE 'x%' or open = true and day not between '2027-05-10' and '2027-05-11'":                     "FIND talk WITH people, stages WHERE title NOT LIKE 'x%' OR (open = TRUE AND day NOT BETWEEN '2027-05-10' AND '2027-05-11')",
		"FIND talks WHERE NOT not title IS NOT NULL AND title NOT IN ('a', 'b') AND name CONTAINS '日本'":                                                "FIND talks WHERE NOT " + "NOT title IS NOT NULL AND title NOT IN ('a', 'b') AND name CONTAINS '日本'",
		"SELECT count FROM talks ORDER BY sum": "SELECT count FROM talks ORDER BY sum",
	} {
		q, err := query.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, q.String())
		again, err := query.Parse(want)
		require.NoError(t, err)
		require.Equal(t, want, again.String())
	}
}

// TestMistakes are refused with the place, what stands there and what may stand there.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                             `line 1, column 1: found the end of the query, expected SELECT or FIND`,
		"UPDATE talks":                                                 `line 1, column 1: found "UPDATE", expected SELECT or FIND`,
		"SELECT talk.title\nFORM talks":                                `line 2, column 1: found "FORM", expected FROM`,
		"SELECT talk.titel FROM talks":                                 `line 1, column 8: found 'talk.titel', expected a field; did you mean talk.title?`,
		"SELECT titel FROM talks":                                      `line 1, column 8: found 'titel', expected a field; did you mean talk.title?`,
		"SELECT stage.name FROM talks":                                 `line 1, column 8: found 'stage.name', expected a field of an entity of the query: talks`,
		"SELECT id FROM talks JOIN stages":                             `line 1, column 8: found 'id', expected a field with the entity, such as stage.id`,
		"SELECT * FROM talk WHERE title = \"x\"":                       `line 1, column 34: found the character '"', expected a name without quotes, or a text in single quotes`,
		"SELECT * FROM talk WHERE title = 'x":                          `line 1, column 34: found a text without an end, expected a single quote after the text`,
		"SELECT * FROM talk WHERE title = 5":                           `line 1, column 34: found the number 5, expected a text in single quotes`,
		"SELECT * FROM talk WHERE title = NULL":                        `line 1, column 34: found "NULL", expected a value; IS NULL finds what has no value`,
		"SELECT * FROM talk WHERE minutes = 'x'":                       `line 1, column 36: found the text 'x', expected a number`,
		"SELECT * FROM talk WHERE open > TRUE":                         `line 1, column 26: found 'open', expected a field that has an order before >`,
		"SELECT * FROM talk WHERE minutes LIKE 'x'":                    `line 1, column 26: found 'minutes', expected a text field before LIKE`,
		"SELECT * FROM talk WHERE starts_at > 'monday'":                `line 1, column 38: found the text 'monday', expected a time such as '2027-05-10T09:00:00Z', or a date`,
		"SELECT * FROM talk WHERE day = '2027-02-30'":                  `line 1, column 32: found the text '2027-02-30', expected a date such as '2027-05-10'`,
		"SELECT * FROM talk WHERE COUNT(*) > 1":                        `line 1, column 26: found 'COUNT(*)', expected a field; HAVING compares aggregates`,
		"SELECT * FROM talk WHERE title":                               `line 1, column 31: found the end of the query, expected an operator: =, !=, <, <=, >, >=, IN, IS NULL, BETWEEN, LIKE or CONTAINS`,
		"SELECT SUM(title) FROM talk":                                  `line 1, column 8: found 'SUM(title)', expected a number field in SUM`,
		"SELECT MAX(open) FROM talk":                                   `line 1, column 8: found 'MAX(open)', expected a field that has an order in MAX`,
		"SELECT title, COUNT(*) FROM talk":                             `line 1, column 8: found 'title', expected an aggregate, or a field of GROUP BY`,
		"SELECT * FROM talk GROUP BY title":                            `line 1, column 15: found all fields, expected the fields of GROUP BY and aggregates in SELECT`,
		"SELECT title, COUNT(*) FROM talk GROUP BY title ORDER BY day": `line 1, column 58: found 'day', expected an aggregate, or a field of GROUP BY`,
		"SELECT COUNT(*) FROM talk HAVING day = '2027-05-10'":          `line 1, column 34: found 'day', expected an aggregate, or a field of GROUP BY`,
		"SELECT title, title FROM talk":                                `line 1, column 15: found 'talk.title' again, expected another name with AS`,
		"SELECT DISTINCT title FROM talk ORDER BY day":                 `line 1, column 42: found 'day', expected a field of SELECT, since the query is DISTINCT`,
		"SELECT title FROM talk ORDER BY COUNT(*)":                     `line 1, column 33: found 'COUNT(*)', expected a field; only a query with GROUP BY or aggregates has an order by aggregates`,
		"SELECT * FROM talkz":                                          `line 1, column 15: found 'talkz', expected an entity: talks, stages, people; did you mean talks?`,
		"SELECT * FROM people JOIN stages":                             `line 1, column 27: found 'stages', expected an entity that is related to people: talks`,
		"SELECT * FROM talks JOIN talks":                               `line 1, column 26: found 'talks' again, expected each entity once`,
		"SELECT * FROM talks LIMIT 0":                                  `line 1, column 27: found the number 0, expected a whole number from 1 to 10000`,
		"SELECT * FROM talks LIMIT 1.5":                                `line 1, column 27: found the number 1.5, expected a whole number from 1 to 10000`,
		"SELECT * FROM talks -- x":                                     `line 1, column 21: found the character '-', expected a word, a number, a text in single quotes or an operator`,
		"SELECT * FROM talks; DROP":                                    `line 1, column 22: found "DROP", expected the end of the query`,
		"SELECT * FROM talks WHERE minutes = 1234567890123456":         `line 1, column 37: found a number of 16 digits, expected at most 15 digits`,
		"SELECT title AS select FROM talks":                            `line 1, column 17: found "select", expected a name that is no keyword`,
		"FIND talks GROUP BY title":                                    `line 1, column 12: found "GROUP", expected the end of the query`,
		"SELECT ｔitle FROM talks":                                      `line 1, column 8: found 'ｔitle', expected a field; did you mean talk.title?`,
	} {
		_, err := compile(text, false)
		require.EqualError(t, err, want, text)
		require.IsType(t, &query.Error{}, err)
	}
}

// TestBounds of a query: the largest is accepted, more is refused.
func TestBounds(t *testing.T) {
	repeat := func(n int, of, between string) string {
		return strings.TrimSuffix(strings.Repeat(of+between, n), between)
	}
	for _, bound := range []struct {
		most int
		text func(n int) string
	}{
		{50, func(n int) string {
			return "FIND talks WHERE " + strings.Repeat("(", n-1) + "open = TRUE" + strings.Repeat(")", n-1)
		}},
		{50, func(n int) string { return "FIND talks WHERE " + strings.Repeat("NOT ", n) + "open = TRUE" }},
		{200, func(n int) string { return "FIND talks WHERE " + repeat(n, "open = TRUE", " AND ") }},
		{200, func(n int) string { return "FIND talks WHERE minutes IN (" + repeat(n, "1", ",") + ")" }},
		{100, func(n int) string { return "SELECT * FROM talks ORDER BY " + repeat(n, "title", ",") }},
		{5, func(n int) string { return "SELECT * FROM talks" + strings.Repeat(" JOIN stages", n) }},
		{10_000, func(n int) string { return "FIND talks" + strings.Repeat(" ", n-10) }},
	} {
		_, err := query.Parse(bound.text(bound.most))
		require.NoError(t, err)
		_, err = query.Parse(bound.text(bound.most + 1))
		require.ErrorContains(t, err, "at most")
	}
}

// TestMaskedFields can be shown and counted, and nothing else, by a caller who sees them masked.
func TestMaskedFields(t *testing.T) {
	for _, text := range []string{
		"SELECT person.email FROM people", "SELECT * FROM people", "FIND person", "SELECT COUNT(person.email) AS n FROM people ORDER BY n",
		"SELECT person.name, COUNT(person.email) FROM people GROUP BY person.name HAVING COUNT(person.email) > 0",
	} {
		_, err := compile(text, true)
		require.NoError(t, err, text)
	}
	for _, text := range []string{
		"FIND person WHERE email = 'ada@example.org'", "FIND person WHERE email IS NULL", "FIND person WHERE email LIKE 'a%'",
		"FIND person WHERE email CONTAINS 'a'", "FIND person WHERE email IN ('a')", "FIND person WHERE NOT (name = 'x' OR email > 'a')",
		"FIND person WHERE email BETWEEN 'a' AND 'b'", "FIND person ORDER BY email", "SELECT person.name FROM people ORDER BY person.email DESC",
		"SELECT email AS e FROM people ORDER BY e", "SELECT person.email, COUNT(*) FROM people GROUP BY person.email",
		"SELECT COUNT(*) FROM people GROUP BY email", "SELECT MIN(email) FROM people", "SELECT MAX(person.email) FROM talks JOIN people",
		"SELECT COUNT(DISTINCT email) FROM people", "SELECT MIN(email) AS m, COUNT(*) FROM people HAVING m > 'b'",
		"SELECT name FROM people GROUP BY name HAVING MAX(email) > 'b'", "FIND talk WITH people WHERE person.email LIKE '%@%'",
		"SELECT name FROM people GROUP BY name ORDER BY MIN(email)",
	} {
		_, err := compile(text, true)
		require.ErrorContains(t, err, "mail", text)
		require.ErrorContains(t, err, "which the caller sees masked", text)
		_, err = compile(text, false)
		require.NoError(t, err, text)
	}
}

// FuzzParse: whatever the text, the parser ends with a query that prints to itself, or with an error.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"SELECT DISTINCT a.b AS c, COUNT(*) FROM t LEFT JOIN u WHERE a.b IN ('x', 1) OR NOT c IS NULL GROUP BY a HAVING n > 1 ORDER BY c DESC LIMIT 5;",
		"FIND t WITH u, v WHERE a.custom.b BETWEEN -1 AND 2.5 AND x NOT LIKE '%''_' AND y CONTAINS 'z'", "select", "'", "((((",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := query.Parse(text)
		if err != nil {
			require.IsType(t, &query.Error{}, err)
			return
		}
		again, err := query.Parse(q.String())
		require.NoError(t, err, q.String())
		require.Equal(t, q.String(), again.String())
		_, _ = querytest.Schema.Compile(q, true)
	})
}

// wide has an entity with so many fields, and with fields whose names begin with digits.
func wide(columns int) *query.Schema {
	e := &query.Entity{Name: "talks", Singular: "talk", Key: []string{"custom.0"}}
	for i := range columns {
		e.Columns = append(e.Columns, &query.Column{Name: fmt.Sprint("custom.", i), Type: query.Float})
	}
	return &query.Schema{Entities: []*query.Entity{e}}
}

// TestManyFields: all fields of an entity with more than SQLite takes are refused, some of them are not.
func TestManyFields(t *testing.T) {
	for _, columns := range []int{1_900, 1_901, 50_000} {
		q, err := query.Parse("FIND talks")
		require.NoError(t, err)
		_, err = wide(columns).Compile(q, false)
		if columns == 1_900 {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "more than 1900 fields")
		q, err = query.Parse("SELECT talk.custom.1, custom.25 FROM talks WHERE talk.custom.3 > 1.5 ORDER BY custom.7")
		require.NoError(t, err)
		s, err := wide(columns).Compile(q, false)
		require.NoError(t, err)
		require.Equal(t, "talk.custom.25", s.Results[1].Name)
		q, err = query.Parse("SELECT " + strings.Repeat("x", 9_000) + " FROM talks")
		require.NoError(t, err)
		_, err = wide(columns).Compile(q, false)
		require.ErrorContains(t, err, "xxx...', expected a field")
		require.Less(t, len(err.Error()), 200)
	}
}

// TestNestedNegations count as nested conditions: SQLite takes 1,000.
func TestNestedNegations(t *testing.T) {
	_, err := query.Parse("FIND talks WHERE " + strings.Repeat(strings.Repeat("NOT ", 45)+"(", 40) + "open = TRUE" + strings.Repeat(")", 40))
	require.ErrorContains(t, err, "nested conditions, expected at most 50")
}
