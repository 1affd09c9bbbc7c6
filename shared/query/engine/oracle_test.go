package engine_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/querytest"
	"lectern/shared/query"
	"lectern/shared/query/engine"
)

// limits are those of a request.
var limits = engine.Limits{Bytes: 64 << 20, Steps: 100_000_000}

// fill returns a database with the tables that a statement needs.
func fill(t *testing.T, d querytest.Data, s *query.Statement) *engine.Database {
	t.Helper()
	db, err := engine.Open(t.Context(), limits)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for _, n := range s.Needs {
		names := make([]string, len(n.Columns))
		for i, c := range n.Columns {
			names[i] = c.Name
		}
		table, err := db.Create(n.Entity.Name, names)
		require.NoError(t, err)
		for number, record := range d.Records[n.Entity.Name] {
			row := []any{int64(number)}
			for _, name := range names {
				row = append(row, record[name])
			}
			require.NoError(t, table.Insert(row...))
		}
		require.NoError(t, table.Done())
		for _, name := range n.Pairs {
			pairs, err := db.CreatePairs(name)
			require.NoError(t, err)
			for _, p := range d.Pairs[name] {
				require.NoError(t, pairs.Insert(int64(p[0]), int64(p[1])))
			}
			require.NoError(t, pairs.Done())
		}
	}
	return db
}

// TestRandomQueries give what the evaluator of querytest gives, in pages. A text of each query makes the same query.
func TestRandomQueries(t *testing.T) {
	seed := it.Seed(t)
	right, wrong, rows := 0, map[string]int{}, 0
	for i := range it.Size(1_000, 20_000) {
		r := it.Source(seed, i)
		d, text := querytest.Draw(r), querytest.Query(r)
		q, err := query.Parse(text)
		require.NoError(t, err, text)
		again, err := query.Parse(q.String())
		require.NoError(t, err, q.String())
		require.Equal(t, q.String(), again.String())
		s, err := querytest.Schema.Compile(q, false)
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
		rows += requireRows(t, r, fill(t, d, s), s, want, text)
	}
	t.Log(right, wrong, rows)
	require.Greater(t, right, it.Size(1_000, 20_000)/5)
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
