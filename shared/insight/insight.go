// Package insight answers queries about the records of events (spec.md section 4.8, gaps.md section 5). It knows the entities with
// their fields, fills tables in memory from the reads that the API uses, and lets the engine run the queries (docs/decisions/0055).
// It stores nothing. Read the files in this order:
//
//	insight.go  the questions and replies
//	reach.go    the events that a caller asks about
//	entity.go   the entities, their columns and relations
//	shape.go    the fields of records, as structs, and masked personal data
//	ask.go      one filling of the tables for several questions
//	visit.go    the tables of one event
//	sessions.go people.go lists.go  the records of an event
//	memory.go   the sessions that stay in memory
package insight

import (
	"cmp"
	"errors"
	"time"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/page"
	"lectern/shared/query"
	"lectern/shared/query/engine"
	"lectern/shared/query/result"
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
	// mostResult bounds the bytes of all results of a request, and timeOfAll the time for the tables and all queries of a request.
	mostResult = 32 << 20
	timeOfAll  = 20 * time.Second
	// mostEvents is how many events a query reads.
	mostEvents = 100
)

// Store answers queries.
type Store struct {
	Sessions *store.Store
	Tenancy  tenancy.Store
	memory   *memory
	// most is MostRows, or fewer in tests.
	most int
}

// NewStore returns the store of a group.
func NewStore(env api.Env, sessions *store.Store) *Store {
	return &Store{
		Sessions: sessions, Tenancy: tenancy.Store{Table: env.Table, Now: env.Now, Region: env.Region},
		memory: api.Shared(env, newMemory), most: int(cmp.Or(env.MostRecords, MostRows)),
	}
}

// Question is a query with the wanted page. Unmasked asks for personal data as it is, which counts only for a caller who may see
// the data (Reach.SeesPersonalData).
type Question struct {
	Query    string
	Unmasked bool
	Page     page.Query
}

// Options is the part of an input that all runs of a query share.
type Options struct {
	ObfuscatePII wire.Opt[bool] `json:"obfuscatePii,omitzero" nullable:"false" doc:"Whether to mask personal data; true without it."`
	Page         int            `json:"page,omitempty" minimum:"1" maximum:"999" default:"1" doc:"The page, from 1."`
	Limit        int            `json:"limit,omitempty" minimum:"1" maximum:"100" default:"25" doc:"How many results a page has."`
}

// Run is the body of a request that runs a saved query.
type Run struct {
	Options
	EventIDs []int64  `json:"eventIds,omitempty" minItems:"1" maxItems:"100" doc:"The events that a query of the organization reads; without it all that the caller may access, 100 at most. A query of an event ignores it."`
	_        struct{} `json:"-" additionalProperties:"true"`
}

// Wanted returns the wanted page, also for a request without a body.
func (a Options) Wanted() page.Query {
	return page.Query{Page: cmp.Or(a.Page, 1), PageSize: cmp.Or(a.Limit, 25)}
}

// Question returns the question with a query.
func (a Options) Question(query string) Question {
	return Question{Query: query, Unmasked: a.ObfuscatePII.Sent && !a.ObfuscatePII.Value, Page: a.Wanted()}
}

// Reply is the answer to a question: the rows of the page as a table, and the number of rows on all pages. Err is the error of this
// question alone, a 400 for the client that names the property query.
type Reply struct {
	result.Table
	Total int
	Err   error
}

// invalid returns the 400 of a query, or the error itself if it is no mistake of the query and no limit. field is the property of the
// request that has the query.
func invalid(field string, err error) error {
	var mistake *query.Error
	switch {
	case errors.As(err, &mistake):
		text := mistake.Error()
		if mistake.Nearest == "" {
			text += "."
		}
		refused := apierr.Invalid(field, "The query is not valid: %s", text)
		refused.Details["line"], refused.Details["column"] = mistake.Line, mistake.Column
		if mistake.Nearest != "" {
			refused.Details["did_you_mean"] = mistake.Nearest
		}
		return refused
	case errors.Is(err, engine.ErrMemory):
		return apierr.Invalid(field, "The query takes more than %d MB of memory. Name fewer fields, or add conditions to WHERE.", mostBytes>>20)
	case errors.Is(err, engine.ErrResult):
		return apierr.Invalid(field, "The results of the request have more than %d MB. Name fewer fields, or ask for fewer results.",
			mostResult>>20)
	case errors.Is(err, engine.ErrSteps):
		return apierr.Invalid(field, "The query takes too long: at most %d million steps. Join fewer entities, or add conditions to WHERE.",
			mostSteps/1_000_000)
	case errors.Is(err, errTime):
		return apierr.Invalid(field, "The query takes too long: at most %d seconds. Join fewer entities, or add conditions to WHERE.",
			int(mostTime.Seconds()))
	case errors.Is(err, errTimeOfAll):
		return apierr.Invalid(field, "The queries of the request take too long: at most %d seconds with the reading of the records. "+
			"Ask about fewer events or entities, or send fewer queries.", int(timeOfAll.Seconds()))
	}
	return err
}

// The errors of a query that takes more than mostTime, and of queries that take more than timeOfAll with the reading.
var (
	errTime      = errors.New("insight: the query takes too long")
	errTimeOfAll = errors.New("insight: the queries of the request take too long")
)
