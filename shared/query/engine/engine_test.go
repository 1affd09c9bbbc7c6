package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/querytest"
	"lectern/shared/query"
	"lectern/shared/query/engine"
)

// numbers returns a database with a table "t" of n rows with a number and a text.
func numbers(ctx context.Context, t *testing.T, n int, l engine.Limits) *engine.Database {
	t.Helper()
	db, err := engine.Open(ctx, l)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	table, err := db.Create("t", []string{"n", "text"})
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, table.Insert(int64(i), float64(i), strings.Repeat("x", 100)))
	}
	return db
}

// sql is a statement with one text as the result.
func sql(text string, args ...any) *query.Statement {
	return &query.Statement{SQL: text, Args: args, Results: []query.Result{{Name: "x", Type: query.String}}}
}

// heavy combines all rows of t with each other three times.
const heavy = "SELECT a.n FROM t AS a, t AS b, t AS c ORDER BY a.n + b.n + c.n"

// TestLimits end a statement with an error that names the limit.
func TestLimits(t *testing.T) {
	plenty := engine.Limits{Bytes: 64 << 20, Steps: 1 << 40, Result: new(int64(64 << 20))}
	_, err := numbers(t.Context(), t, 2_000, engine.Limits{Bytes: 64 << 20, Steps: 1_000_000, Result: new(int64(64 << 20))}).Select(t.Context(), sql(heavy), 0, 10)
	require.ErrorIs(t, err, engine.ErrSteps)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = numbers(t.Context(), t, 2_000, plenty).Select(ctx, sql(heavy), 0, 10)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	memory := engine.Limits{Bytes: 8 << 20, Steps: 1 << 40, Result: new(int64(64 << 20))}
	_, err = numbers(t.Context(), t, 10_000, memory).Select(t.Context(), sql("SELECT a.text || b.n FROM t AS a, t AS b ORDER BY 1"), 0, 10)
	require.ErrorIs(t, err, engine.ErrMemory)
	db, err := engine.Open(t.Context(), memory)
	require.NoError(t, err)
	defer db.Close()
	table, err := db.Create("t", []string{"text"})
	require.NoError(t, err)
	for i := int64(0); err == nil && i < 100; i++ {
		err = table.Insert(i, strings.Repeat("x", 1<<20))
	}
	require.ErrorIs(t, err, engine.ErrMemory)
}

// TestLongResults end at the bytes of all pages together. A page that is refused counts nothing.
func TestLongResults(t *testing.T) {
	db := numbers(t.Context(), t, 100, engine.Limits{Bytes: 64 << 20, Steps: 1 << 40, Result: new(int64(10_000))})
	for range 5 {
		_, err := db.Select(t.Context(), sql("SELECT text FROM t"), 0, 200)
		require.ErrorIs(t, err, engine.ErrResult)
		page, err := db.Select(t.Context(), sql("SELECT text FROM t"), 50, 10)
		require.NoError(t, err)
		require.Equal(t, 100, page.Total)
	}
	_, err := db.Select(t.Context(), sql("SELECT text FROM t"), 0, 60)
	require.ErrorIs(t, err, engine.ErrResult)
}

// TestLongNames count with each value, as an answer has them.
func TestLongNames(t *testing.T) {
	db := numbers(t.Context(), t, 100, engine.Limits{Bytes: 64 << 20, Steps: 1 << 40, Result: new(int64(10_000))})
	named := &query.Statement{SQL: "SELECT n FROM t", Results: []query.Result{{Name: strings.Repeat("n", 200), Type: query.Float}}}
	_, err := db.Select(t.Context(), named, 0, 47)
	require.ErrorIs(t, err, engine.ErrResult)
	page, err := db.Select(t.Context(), named, 0, 46)
	require.NoError(t, err)
	require.Len(t, page.Rows, 46)
}

// TestTablesAreFullOnce: Seal may be called before the first statement, and then changes nothing any more.
func TestTablesAreFullOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	db := numbers(ctx, t, 1_000, limits())
	require.NoError(t, db.Seal())
	cancel()
	page, err := db.Select(t.Context(), sql("SELECT n FROM t"), 0, 10)
	require.NoError(t, err)
	require.Equal(t, 1_000, page.Total)

	ctx, cancel = context.WithCancel(t.Context())
	late := numbers(ctx, t, 1_000, limits())
	cancel()
	require.ErrorIs(t, late.Seal(), context.Canceled, "the time of the filling counts")
}

// TestManyRows take steps of the statement, and none for each row.
func TestManyRows(t *testing.T) {
	db := numbers(t.Context(), t, 1_000, engine.Limits{Bytes: 64 << 20, Steps: 20_000_000, Result: new(int64(64 << 20))})
	page, err := db.Select(t.Context(), sql("SELECT a.n FROM t AS a, t AS b"), 0, 10)
	require.NoError(t, err)
	require.Equal(t, 1_000_000, page.Total)
}

// TestTheMemoryComesBack after many databases: those of statements with too little memory, and those whose filling was not ended.
func TestTheMemoryComesBack(t *testing.T) {
	small := engine.Limits{Bytes: 8 << 20, Steps: 1 << 30, Result: new(int64(64 << 20))}
	use := func() {
		db := numbers(t.Context(), t, 1_000, small)
		_, err := db.Select(t.Context(), sql("SELECT a.text || b.text || c.text FROM t AS a, t AS b, t AS c ORDER BY 1"), 0, 10)
		require.ErrorIs(t, err, engine.ErrMemory)
		require.NoError(t, db.Close())

		db, err = engine.Open(t.Context(), small)
		require.NoError(t, err)
		table, err := db.Create("t", []string{"text"})
		require.NoError(t, err)
		_, err = db.CreatePairs("t t")
		require.NoError(t, err)
		for i := int64(0); err == nil; i++ {
			err = table.Insert(i, strings.Repeat("x", 1<<20))
		}
		require.ErrorIs(t, err, engine.ErrMemory)
		require.NoError(t, db.Close())
	}
	use()
	before := querytest.Resident()
	for range 50 {
		use()
	}
	require.Less(t, querytest.Resident(), before+100)
}

// TestWideTables have more values in 32 rows than a statement takes.
func TestWideTables(t *testing.T) {
	db, err := engine.Open(t.Context(), limits())
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	columns := make([]string, 1_900)
	row := make([]any, 1, len(columns)+1)
	for i := range columns {
		columns[i], row = fmt.Sprint("c", i), append(row, float64(i))
	}
	table, err := db.Create("t", columns)
	require.NoError(t, err)
	for i := range int64(100) {
		row[0] = i
		require.NoError(t, table.Insert(row...))
	}
	page, err := db.Select(t.Context(), sql("SELECT c1899 FROM t"), 0, 1)
	require.NoError(t, err)
	require.Equal(t, engine.Page{Rows: [][]any{{1899.0}}, Total: 100}, page)
}

// TestOnlySelectsOfTables: a statement that reads or does anything else is refused by the authorizer, should one ever get so far.
func TestOnlySelectsOfTables(t *testing.T) {
	for _, text := range []string{
		"SELECT name FROM sqlite_schema", "SELECT sql FROM sqlite_master", "SELECT name FROM pragma_table_info('t')", "SELECT * FROM json_each('[1]')",
		"WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r", "SELECT randomblob(10)", "SELECT hex(n) FROM t",
		"SELECT sqlite_version()", "SELECT load_extension('x')", "SELECT n FROM other",
	} {
		_, err := numbers(t.Context(), t, 3, limits()).Select(t.Context(), sql(text), 0, 10)
		require.Error(t, err, text)
	}
	for _, text := range []string{"PRAGMA table_info(t)", "ATTACH ':memory:' AS x", "DROP TABLE t", "DELETE FROM t", "SELECT n FROM t; SELECT n FROM t", "VACUUM"} {
		_, err := numbers(t.Context(), t, 3, limits()).Select(t.Context(), sql(text), 0, 10)
		require.Error(t, err, text)
	}
	db := numbers(t.Context(), t, 3, limits())
	_, err := db.Select(t.Context(), sql("SELECT n FROM t"), 0, 10)
	require.NoError(t, err)
	_, err = db.Create("late", nil)
	require.Error(t, err, "tables do not change after the first statement")
}

// TestTextsOfAnyForm go in and out as values.
func TestTextsOfAnyForm(t *testing.T) {
	db, err := engine.Open(t.Context(), limits())
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	table, err := db.Create(`a "table"`, []string{`col"umn`})
	require.NoError(t, err)
	texts := []string{"", "'; DROP TABLE t; --", "a\x00b", "日本", `"`, "\xff"}
	for i, text := range texts {
		require.NoError(t, table.Insert(int64(i), text))
	}
	for _, text := range texts {
		page, err := db.Select(t.Context(), sql(`SELECT "col""umn" FROM "a ""table""" WHERE "col""umn" = ?`, text), 0, 10)
		require.NoError(t, err)
		require.Equal(t, engine.Page{Rows: [][]any{{text}}, Total: 1}, page)
	}
}

// BenchmarkQueries measures filling tables with 10,000 sessions and people, and the statements of the figures.
func BenchmarkQueries(b *testing.B) {
	for b.Loop() {
		db, err := engine.Open(context.Background(), limits())
		require.NoError(b, err)
		table, err := db.Create("t", []string{"a", "b", "c", "d"})
		require.NoError(b, err)
		for i := range int64(10_000) {
			require.NoError(b, table.Insert(i, "a text of some length", float64(i%7), "another", nil))
		}
		_, err = db.Select(context.Background(), &query.Statement{SQL: "SELECT a FROM t WHERE b = 3 ORDER BY a COLLATE NOCASE, c", Results: []query.Result{{Type: query.String}}}, 0, 25)
		require.NoError(b, err)
		require.NoError(b, db.Close())
	}
}

// TestLongPatterns end with the context, too: a single call of LIKE takes long.
func TestLongPatterns(t *testing.T) {
	db, err := engine.Open(t.Context(), limits())
	require.NoError(t, err)
	defer db.Close()
	table, err := db.Create("t", []string{"text"})
	require.NoError(t, err)
	for i := range int64(500) {
		require.NoError(t, table.Insert(i, strings.Repeat("a", 64<<10)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	pattern := "%" + strings.Repeat("a", 5_000) + "b%"
	_, err = db.Select(ctx, sql("SELECT text FROM t WHERE lectern_like(text, ?)", pattern), 0, 10)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// TestSumsBeyondNumbers have no value: JSON has no infinity.
func TestSumsBeyondNumbers(t *testing.T) {
	db, err := engine.Open(t.Context(), limits())
	require.NoError(t, err)
	defer db.Close()
	table, err := db.Create("t", []string{"n"})
	require.NoError(t, err)
	for i := range int64(3) {
		require.NoError(t, table.Insert(i, 1e308))
	}
	page, err := db.Select(t.Context(), &query.Statement{SQL: "SELECT SUM(n), MAX(n) FROM t", Results: make([]query.Result, 2)}, 0, 10)
	require.NoError(t, err)
	require.Equal(t, [][]any{{nil, 1e308}}, page.Rows)
}
