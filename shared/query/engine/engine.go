// Package engine runs the statements of queries over tables in memory (docs/decisions/0052). A database is for one request, and for
// one goroutine at a time. SQLite runs in it as WebAssembly, in memory of its own: the garbage collector does not know it, and only
// Close gives it back.
package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"lectern/shared/query"
)

// Limits bound a database.
type Limits struct {
	// Bytes bound the memory of tables and of all that a statement keeps.
	Bytes int64
	// Steps bound the instructions of each statement.
	Steps int64
	// Result are the bytes that pages may still have. Databases may share it, one after the other.
	Result *int64
}

// The errors of a database at its limits, beside that of the context.
var (
	ErrMemory = errors.New("engine: the query takes too much memory")
	ErrSteps  = errors.New("engine: the query takes too many steps")
	ErrResult = errors.New("engine: the result has too many bytes")
)

// Database has tables in memory.
type Database struct {
	conn   *sqlite3.Conn
	limits Limits
	// steps are those of the present statement.
	steps steps
	// tables are those that a statement may read, by name.
	tables map[string]*Table
	// sealed reports whether the tables are full: then they no longer change.
	sealed bool
}

// stepsAtOnce is how many steps SQLite takes between two looks at the context.
const stepsAtOnce = 1000

// steps is a context that ends after a number of looks, too.
type steps struct {
	context.Context
	left int64
}

// Err returns the error of the context, or ErrSteps.
func (s *steps) Err() error {
	if s.left--; s.left < 0 {
		return ErrSteps
	}
	return s.Context.Err()
}

// Open returns an empty database, whose tables are filled until the context ends. The caller closes the database.
func Open(ctx context.Context, l Limits) (d *Database, err error) {
	d = &Database{limits: l, steps: steps{ctx, math.MaxInt64}, tables: map[string]*Table{}}
	defer d.recover(&err)
	if d.conn, err = sqlite3.Open(":memory:"); err != nil {
		return nil, err
	}
	if err := d.prepare(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// once keeps temporary tables in memory, and fills all tables in one transaction without a journal: nothing is rolled back, because a
// database ends with its first error.
const once = "PRAGMA temp_store = MEMORY; PRAGMA journal_mode = OFF; BEGIN"

// prepare sets the limits, and adds the functions and the authorizer.
func (d *Database) prepare(ctx context.Context) error {
	d.conn.HardHeapLimit(d.limits.Bytes)
	d.conn.SetInterrupt(ctx)
	for _, f := range []struct {
		name string
		of   func(text, pattern string) bool
	}{{query.LikeFunction, like}, {query.ContainsFunction, strings.Contains}} {
		if err := d.conn.CreateFunction(f.name, 2, sqlite3.DETERMINISTIC, d.onText(f.of)); err != nil {
			return err
		}
	}
	if err := d.conn.Exec(once); err != nil {
		return err
	}
	if _, err := d.conn.Config(sqlite3.DBCONFIG_DEFENSIVE, true); err != nil {
		return err
	}
	return d.conn.SetAuthorizer(d.authorize)
}

// Close gives the memory back, also of tables that were not filled to the end. The database is closed once.
func (d *Database) Close() error {
	for _, s := range slices.Collect(d.conn.Stmts()) {
		_ = s.Close() // The error is that of its last run.
	}
	return d.conn.Close()
}

// recover turns a panic of SQLite without memory into an error. The database is of no use after it.
func (d *Database) recover(err *error) {
	if cause := recover(); cause != nil {
		if e, ok := cause.(error); !ok || !strings.Contains(e.Error(), "out of memory") {
			panic(cause)
		}
		*err = ErrMemory
	}
}

// refine returns the error of a limit for the error of SQLite that the limit has caused.
func (d *Database) refine(err error) error {
	switch {
	case errors.Is(err, sqlite3.INTERRUPT) && d.steps.left < 0:
		return ErrSteps
	case errors.Is(err, sqlite3.INTERRUPT):
		return d.steps.Context.Err()
	case errors.Is(err, sqlite3.NOMEM), errors.Is(err, sqlite3.TOOBIG), errors.Is(err, sqlite3.FULL):
		return ErrMemory
	default:
		return err
	}
}

// authorize allows statements to read the known tables and to call known functions, and nothing else. Until the first statement it
// allows to make and fill tables, too.
func (d *Database) authorize(action sqlite3.AuthorizerActionCode, first, second, _, _ string) sqlite3.AuthorizerReturnCode {
	allowed := false
	switch action {
	case sqlite3.AUTH_SELECT:
		allowed = true
	case sqlite3.AUTH_READ:
		allowed = d.tables[first] != nil
	case sqlite3.AUTH_FUNCTION:
		allowed = functions[second]
	}
	if allowed || !d.sealed {
		return sqlite3.AUTH_OK
	}
	return sqlite3.AUTH_DENY
}

// functions are the functions that statements call.
var functions = map[string]bool{
	"count": true, "sum": true, "avg": true, "min": true, "max": true, query.LikeFunction: true, query.ContainsFunction: true,
}

// Table is a table that is filled.
type Table struct {
	database *Database
	// into begins the statements that add rows. A row has so many values, and a statement adds so many rows.
	into            string
	columns, atOnce int
	// waiting has the values of rows that are not added yet, and insert adds the rows of a whole statement; nil before the first.
	waiting []any
	insert  *sqlite3.Stmt
	// last is run when the table is full; empty for nothing.
	last string
}

// rowsAtOnce is how many rows a statement adds, since one row at a time takes a third longer: fewer rows of many values, of which SQLite
// takes maxValues in a statement.
const (
	rowsAtOnce = 32
	maxValues  = 32_766
)

// Create makes a table with a column for the number of the row and the named columns.
func (d *Database) Create(name string, columns []string) (t *Table, err error) {
	made := query.Row + " INTEGER PRIMARY KEY"
	for _, c := range columns {
		made += ", " + query.Identifier(c)
	}
	return d.create(name, "("+made+")", len(columns)+1)
}

// CreatePairs makes a table of pairs. Its index is made at the end, which is faster than with each pair.
func (d *Database) CreatePairs(name string) (t *Table, err error) {
	t, err = d.create(name, fmt.Sprintf("(%s, %s, PRIMARY KEY (%s, %s)) WITHOUT ROWID", query.From, query.To, query.From, query.To), 2)
	if err == nil {
		t.last = "CREATE INDEX " + query.Identifier(name+" by "+query.To) + " ON " + query.Identifier(name) + " (" + query.To + ")"
	}
	return t, err
}

func (d *Database) create(name, definition string, columns int) (t *Table, err error) {
	defer d.recover(&err)
	if err := d.conn.Exec("CREATE TABLE " + query.Identifier(name) + " " + definition); err != nil {
		return nil, d.refine(err)
	}
	into := "INSERT OR IGNORE INTO " + query.Identifier(name) + " VALUES "
	t = &Table{database: d, into: into, columns: columns, atOnce: max(1, min(rowsAtOnce, maxValues/columns))}
	d.tables[name] = t
	return t, nil
}

// Insert adds a row: texts, float64, int64, bool and nil. The row is in the table after some others, or before the first statement.
func (t *Table) Insert(row ...any) error {
	if t.waiting = append(t.waiting, row...); len(t.waiting) < t.atOnce*t.columns {
		return nil
	}
	return t.flush()
}

// flush adds the rows that wait.
func (t *Table) flush() (err error) {
	defer t.database.recover(&err)
	n := len(t.waiting) / t.columns
	if t.insert == nil || n < t.atOnce {
		if err := t.insert.Close(); err != nil {
			return err
		}
		rows := strings.Repeat(", ("+query.Placeholders(t.columns)+")", n)
		if t.insert, _, err = t.database.conn.Prepare(t.into + rows[len(", "):]); err != nil {
			return t.database.refine(err)
		}
	}
	if err := bind(t.insert, t.waiting); err != nil {
		return t.database.refine(err)
	}
	t.waiting = t.waiting[:0]
	return t.database.refine(t.insert.Exec())
}

// Seal ends the filling of all tables; the first statement does it otherwise.
func (d *Database) Seal() (err error) {
	defer d.recover(&err)
	for _, t := range d.tables {
		if err := t.done(); err != nil {
			return err
		}
	}
	d.sealed = true
	return nil
}

// done adds the last rows and makes the index.
func (t *Table) done() error {
	if len(t.waiting) > 0 {
		if err := t.flush(); err != nil {
			return err
		}
	}
	if err := t.insert.Close(); err != nil {
		return err
	}
	return t.database.refine(t.database.conn.Exec(t.last))
}

// bind sets the values of a statement.
func bind(s *sqlite3.Stmt, values []any) (err error) {
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			err = s.BindNull(i + 1)
		case string:
			err = s.BindText(i+1, v)
		case float64:
			err = s.BindFloat(i+1, v)
		case int64:
			err = s.BindInt64(i+1, v)
		case bool:
			err = s.BindBool(i+1, v)
		default:
			err = fmt.Errorf("engine: a value of type %T", v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
