// Package page has the pagination of searches and lists: the parameters of the query and the
// shape of the answer (spec.md section 2.2).
package page

import "lectern/shared/size"

// Query is the part of an input that selects a page. Embed it.
type Query struct {
	Page     int `query:"page" minimum:"1" maximum:"999" default:"1" doc:"The page, from 1."`
	PageSize int `query:"pageSize" minimum:"1" maximum:"100" default:"25" doc:"How many results a page has. A page over 5 MB is refused with a 400 that names a size that fits; for a client that sends Accept-Encoding: gzip the limit is 30 MB."`
}

// ListQuery is Query with the parameter names of a GET list.
type ListQuery struct {
	Page     int `query:"page" minimum:"1" maximum:"999" default:"1" doc:"The page, from 1."`
	PageSize int `query:"page_size" minimum:"1" maximum:"100" default:"25" doc:"How many results a page has. A page over 5 MB is refused with a 400 that names a size that fits; for a client that sends Accept-Encoding: gzip the limit is 30 MB."`
}

// Query returns the same page as a Query.
func (q ListQuery) Query() Query { return Query(q) }

// Offset returns the number of results before the page.
func (q Query) Offset() int { return (q.Page - 1) * q.PageSize }

// Of is one page of results. Results is never nil.
type Of[T any] struct {
	Results    []T        `json:"results"`
	Pagination Pagination `json:"pagination"`
}

// Pagination describes the position of a page in all results. After the last page the results
// are empty. Without results, TotalPages is 0.
type Pagination struct {
	CurrentPage  int `json:"currentPage" doc:"The page asked for."`
	PageSize     int `json:"pageSize" doc:"How many results a full page has."`
	TotalPages   int `json:"totalPages" doc:"How many pages there are."`
	TotalResults int `json:"totalResults" doc:"How many results all pages have together."`
}

// New returns a page with the given results, out of total results.
func New[T any](q Query, total int, results []T) *Of[T] {
	if results == nil {
		results = []T{}
	}
	return &Of[T]{Results: results, Pagination: Pagination{
		CurrentPage:  q.Page,
		PageSize:     q.PageSize,
		TotalPages:   (total + q.PageSize - 1) / q.PageSize,
		TotalResults: total,
	}}
}

// Slice returns the page q of all results.
func Slice[T any](q Query, all []T) *Of[T] { return New(q, len(all), Cut(q, all)) }

// Cut returns the results of all that the page q has.
func Cut[T any](q Query, all []T) []T {
	start := min(q.Offset(), len(all))
	return all[start:min(start+q.PageSize, len(all))]
}

// Items returns the results (size.Page).
func (o *Of[T]) Items() []any {
	items := make([]any, len(o.Results))
	for i := range o.Results {
		if items[i] = o.Results[i]; !isReducer(items[i]) {
			items[i] = &o.Results[i]
		}
	}
	return items
}

func isReducer(result any) bool {
	_, ok := result.(size.Reducer)
	return ok
}

// List is one page of a list with the envelope of transcriptions and recordings. Data is never
// nil.
type List[T any] struct {
	Data       []T      `json:"data"`
	Pagination Position `json:"pagination"`
}

// Position is a Pagination with names in snake case (spec.md section 2.2).
type Position struct {
	CurrentPage  int `json:"current_page" doc:"The page asked for."`
	PageSize     int `json:"page_size" doc:"How many results a full page has."`
	TotalPages   int `json:"total_pages" doc:"How many pages there are."`
	TotalResults int `json:"total_results" doc:"How many results all pages have together."`
}

// NewList returns a page with the given results, out of total results.
func NewList[T any](q Query, total int, results []T) *List[T] {
	of := New(q, total, results)
	return &List[T]{Data: of.Results, Pagination: Position(of.Pagination)}
}

// Items returns the results (size.Page).
func (l *List[T]) Items() []any { return (&Of[T]{Results: l.Data}).Items() }

// One is a record in the envelope of transcriptions and recordings.
type One[T Record] struct {
	Data T `json:"data"`
}

// Record is a record with an id and a version.
type Record interface {
	RecordID() string
	Revision() int64
}

// Show puts a record into its envelope, or returns the error.
func Show[T Record](record T, err error) (*One[T], error) {
	if err != nil {
		return nil, err
	}
	return &One[T]{Data: record}, nil
}

// Revision returns the version that an ETag names.
func (o *One[T]) Revision() int64 { return o.Data.Revision() }
