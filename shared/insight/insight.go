// Package insight answers queries about the records of events (spec.md section 4.8, gaps.md section 5). It knows the entities with
// their fields, fills tables in memory from the reads that the API uses, and lets the engine run the queries (docs/decisions/0055).
// It stores nothing. Read the files in this order:
//
//	insight.go  the questions and replies
//	scope.go    the events that a caller asks about
//	entity.go   the entities, their columns and relations
//	shape.go    the fields of records, as structs
//	ask.go      one filling of the tables for several questions
//	visit.go    the tables of one event
//	sessions.go people.go lists.go  the records of an event
//	mask.go     masked personal data
package insight

import (
	"errors"
	"time"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/page"
	"lectern/shared/query"
	"lectern/shared/query/engine"
	"lectern/shared/session/store"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// Limits of a query (gaps.md section 5.2).
const (
	// MostRows is how many records of an entity a query reads.
	MostRows = 10_000
	// mostBytes bounds the memory of the tables and of a query, mostSteps the instructions of a query, and mostTime its time.
	mostBytes = 64 << 20
	mostSteps = 200_000_000
	mostTime  = 5 * time.Second
	// mostEvents is how many events a query reads.
	mostEvents = 100
)

// Store answers queries.
type Store struct {
	Sessions *store.Store
	Tenancy  tenancy.Store
	memory   *memory
}

// NewStore returns the store of a group.
func NewStore(env api.Env, sessions *store.Store) *Store {
	return &Store{
		Sessions: sessions, Tenancy: tenancy.Store{Table: env.Table, Now: env.Now, Region: env.Region},
		memory: api.Shared(env, newMemory),
	}
}

// Question is a query with the wanted page. Unmasked asks for personal data as it is, which counts only for a caller who may see
// the data (Scope.SeesPersonalData).
type Question struct {
	Query    string
	Unmasked bool
	Page     page.Query
}

// Reply is the answer to a question: the rows of the page, with a value for each column. Err is the error of this question alone, a
// 400 for the client that names the property query.
type Reply struct {
	Columns []query.Result
	Rows    []wire.Object
	// Values are the values of Rows in the order of Columns: texts, float64, bool and nil.
	Values [][]any
	Total  int
	Err    error
}

// invalid returns the 400 of a query, or the error itself if it is no mistake of the query and no limit. field is the property of the
// request that has the query.
func invalid(field string, err error) error {
	var mistake *query.Error
	switch {
	case errors.As(err, &mistake):
		refused := apierr.Invalid(field, "The query is not valid: %s.", mistake.Error())
		refused.Details["line"], refused.Details["column"] = mistake.Line, mistake.Column
		if mistake.Nearest != "" {
			refused.Details["did_you_mean"] = mistake.Nearest
		}
		return refused
	case errors.Is(err, engine.ErrMemory):
		return apierr.Invalid(field, "The query takes more than %d MB of memory. Name fewer fields, or add conditions to WHERE.", mostBytes>>20)
	case errors.Is(err, engine.ErrSteps), errors.Is(err, errTime):
		return apierr.Invalid(field, "The query takes more than %d seconds. Join fewer entities, or add conditions to WHERE.",
			int(mostTime.Seconds()))
	}
	return err
}

// errTime is the error of a query that takes more than mostTime.
var errTime = errors.New("insight: the query takes too long")
