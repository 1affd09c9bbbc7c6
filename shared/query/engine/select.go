package engine

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"lectern/shared/query"
)

// Page is a part of a result.
type Page struct {
	// Rows have the values of the results: texts, float64, bool and nil.
	Rows [][]any
	// Total is the number of rows of the whole result.
	Total int
}

// Select runs a statement until the context ends, and returns the rows of a page: at most some, after some others. After the first
// statement the tables no longer change. With an error the page has no meaning, and counts nothing of Limits.Result.
func (d *Database) Select(ctx context.Context, s *query.Statement, after, most int) (page Page, err error) {
	before := *d.limits.Result
	defer func() {
		if err != nil {
			*d.limits.Result = before
		}
	}()
	defer d.recover(&err)
	if !d.sealed {
		if err := d.Seal(); err != nil {
			return page, err
		}
	}
	d.steps = steps{ctx, d.limits.Steps / stepsAtOnce}
	d.conn.SetInterrupt(&d.steps)
	sql := s.SQL
	if s.Limit > 0 {
		sql += fmt.Sprintf(" LIMIT %d", s.Limit)
	}
	err = d.each(sql, s.Args, func(found *sqlite3.Stmt) error {
		page.Total++
		d.steps.left++ // SQLite looks at the context for each row, too.
		if page.Total <= after || len(page.Rows) >= most {
			return nil
		}
		for i := range s.Results {
			*d.limits.Result -= bytesOf(found, i, s.Results[i].Name)
		}
		if *d.limits.Result < 0 {
			return ErrResult
		}
		page.Rows = append(page.Rows, rowOf(found, s.Results))
		return nil
	})
	return page, err
}

// bytesOf returns the bytes that a value of a row takes in a page, where each value has the name of its column.
func bytesOf(found *sqlite3.Stmt, column int, name string) int64 {
	const alone = 16
	bytes := alone + len(name)
	if found.ColumnType(column) == sqlite3.TEXT {
		bytes += len(found.ColumnRawText(column))
	}
	return int64(bytes)
}

// rowOf returns the values of a row.
func rowOf(found *sqlite3.Stmt, results []query.Result) []any {
	row := make([]any, len(results))
	for i, r := range results {
		row[i] = valueOf(found, i, r.Type)
	}
	return row
}

// each calls a function for each row of a statement, until it returns an error.
func (d *Database) each(sql string, args []any, do func(*sqlite3.Stmt) error) error {
	found, tail, err := d.conn.Prepare(sql)
	if err != nil {
		return d.refine(fmt.Errorf("%w: %s", err, sql))
	}
	defer found.Close()
	if strings.TrimSpace(tail) != "" {
		return fmt.Errorf("engine: more than one statement: %s", sql)
	}
	if err := bind(found, args); err != nil {
		return d.refine(err)
	}
	for found.Step() {
		if err := do(found); err != nil {
			return err
		}
	}
	return d.refine(found.Err())
}

// valueOf returns a value of a row.
func valueOf(s *sqlite3.Stmt, i int, typ query.Type) any {
	switch s.ColumnType(i) {
	case sqlite3.NULL:
		return nil
	case sqlite3.TEXT:
		return s.ColumnText(i)
	default:
		if typ == query.Bool {
			return s.ColumnBool(i)
		}
		if number := s.ColumnFloat(i); !math.IsInf(number, 0) {
			return number
		}
		return nil // A sum beyond all numbers: JSON has no infinity.
	}
}

// onText returns a function of SQLite that asks a function for a text and a pattern in small letters. Without a text the result is
// NULL. A call with long texts takes long, so each call looks at the context.
func (d *Database) onText(of func(text, pattern string) bool) sqlite3.ScalarFunction {
	return func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		if d.steps.Context.Err() != nil {
			ctx.ResultError(sqlite3.INTERRUPT)
			return
		}
		if arg[0].Type() == sqlite3.NULL {
			ctx.ResultNull()
			return
		}
		ctx.ResultBool(of(strings.ToLower(arg[0].Text()), arg[1].Text()))
	}
}

// like reports whether a text has the form of a pattern: % stands for any characters, _ for one. The time is at most the product of
// both lengths.
func like(text, pattern string) bool {
	t, p := []rune(text), []rune(pattern)
	i, j, star, mark := 0, 0, -1, 0
	for i < len(t) {
		switch {
		case j < len(p) && p[j] == '%':
			star, mark = j, i
			j++
		case j < len(p) && (p[j] == '_' || p[j] == t[i]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = mark, star+1
		default:
			return false
		}
	}
	for j < len(p) && p[j] == '%' {
		j++
	}
	return j == len(p)
}
