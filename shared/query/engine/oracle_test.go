package engine_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/querytest"
	"lectern/shared/query"
	"lectern/shared/query/engine"
)

// limits are those of a request.
func limits() engine.Limits {
	return engine.Limits{Bytes: 64 << 20, Steps: 100_000_000, Result: new(int64(64 << 20))}
}

// fill returns a database with the tables that a statement needs, without the records that its filters do not allow, and how many these
// are. The caller closes the database: many queries leave no room for those of all.
func fill(t *testing.T, d querytest.Data, s *query.Statement) (filled *engine.Database, left int) {
	t.Helper()
	db, err := engine.Open(t.Context(), limits())
	require.NoError(t, err)
	allowed := map[string]map[int]bool{}
	for _, n := range s.Needs {
		allowed[n.Entity.Name] = map[int]bool{}
	}
	for _, n := range s.Needs {
		names := make([]string, len(n.Columns))
		for i, c := range n.Columns {
			names[i] = c.Name
		}
		table, err := db.Create(n.Entity.Name, names)
		require.NoError(t, err)
		for number, record := range d.Records[n.Entity.Name] {
			if slices.ContainsFunc(n.Filters, func(f query.Filter) bool { return !f.Allows(record[f.Column.Name]) }) {
				left++
				continue
			}
			allowed[n.Entity.Name][number] = true
			row := []any{int64(number)}
			for _, name := range names {
				row = append(row, record[name])
			}
			require.NoError(t, table.Insert(row...))
		}
	}
	for _, n := range s.Needs {
		for _, name := range n.Pairs {
			pairs, err := db.CreatePairs(name)
			require.NoError(t, err)
			for _, p := range d.Pairs[name] {
				if allowed["talks"][p[0]] && allowed["people"][p[1]] {
					require.NoError(t, pairs.Insert(int64(p[0]), int64(p[1])))
				}
			}
		}
	}
	return db, left
}

// TestRandomQueries give what the evaluator of querytest gives, in pages. A text of each query makes the same query. A query compiles if
// querytest finds no mistake, for a caller who sees personal data and for a caller who sees it masked.
func TestRandomQueries(t *testing.T) {
	seed := it.Seed(t)
	right, wrong, rows, left := 0, map[string]int{}, 0, 0
	for i := range it.Size(1_000, 20_000) {
		r := it.Source(seed, i)
		d, text := querytest.Draw(r), querytest.Query(r)
		q, err := query.Parse(text)
		require.NoError(t, err, text)
		again, err := query.Parse(q.String())
		require.NoError(t, err, q.String())
		require.Equal(t, q.String(), again.String())
		_, err = querytest.Schema.Compile(q, true)
		require.Equal(t, querytest.Mistake(q, true) == "", err == nil, "%s: %v, %s", text, err, querytest.Mistake(q, true))
		s, err := querytest.Schema.Compile(q, false)
		require.Equal(t, querytest.Mistake(q, false) == "", err == nil, "%s: %v, %s", text, err, querytest.Mistake(q, false))
		var mistake *query.Error
		if errors.As(err, &mistake) {
			wrong[mistake.Expected[:min(12, len(mistake.Expected))]]++
			continue
		}
		require.NoError(t, err)
		right++
		want := querytest.Evaluate(d, q)
		if q.Limit > 0 {
			want = want[:min(q.Limit, len(want))]
		}
		db, without := fill(t, d, s)
		rows, left = rows+requireRows(t, r, db, s, want, text), left+without
		require.NoError(t, db.Close())
	}
	t.Log(right, wrong, rows, left)
	require.Greater(t, right, it.Size(1_000, 20_000)/2)
	require.Greater(t, left, right/4, "filters that allow everything prove nothing")
}

// requireRows reads the result in pages and compares it.
func requireRows(t *testing.T, r *rand.Rand, db *engine.Database, s *query.Statement, want [][]any, text string) int {
	t.Helper()
	limit := 1 + r.IntN(10)
	var got [][]any
	for {
		page, err := db.Select(t.Context(), s, len(got), limit)
		require.NoError(t, err, text)
		require.Equal(t, len(want), page.Total, text)
		if len(page.Rows) == 0 {
			break
		}
		require.LessOrEqual(t, len(page.Rows), limit)
		got = append(got, page.Rows...)
	}
	require.Len(t, got, len(want), text)
	for i := range want {
		for j, v := range want[i] {
			if f, ok := v.(float64); ok {
				g, ok := got[i][j].(float64)
				require.True(t, ok && math.Abs(f-g) < 1e-9, "%s\nrow %d: %v, want %v", text, i, got[i], want[i])
				continue
			}
			require.Equal(t, v, got[i][j], "%s\nrow %d", text, i)
		}
	}
	return len(got)
}
