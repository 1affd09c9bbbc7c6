// Package page holds the pagination of searches and lists: what they take from
// the query and the envelope that they answer (spec.md section 2.2). It does
// not know how the records are found.
package page

import (
	"encoding/json"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/size"
)

// Query is the part of an input that chooses a page. Embed it.
type Query struct {
	Page     int `query:"page" minimum:"1" maximum:"999" default:"1" doc:"The page, from 1."`
	PageSize int `query:"pageSize" minimum:"1" maximum:"100" default:"25" doc:"How many results a page has. A page over 5 MB is refused with a 400 that names a size that fits; for a client that sends Accept-Encoding: gzip the limit is 30 MB."`
}

// ListQuery is Query as a GET list spells it.
type ListQuery struct {
	Page     int `query:"page" minimum:"1" maximum:"999" default:"1" doc:"The page, from 1."`
	PageSize int `query:"page_size" minimum:"1" maximum:"100" default:"25" doc:"How many results a page has. A page over 5 MB is refused with a 400 that names a size that fits; for a client that sends Accept-Encoding: gzip the limit is 30 MB."`
}

// Query is the page that a list chooses.
func (q ListQuery) Query() Query { return Query(q) }

// Offset is how many results stand before the page.
func (q Query) Offset() int { return (q.Page - 1) * q.PageSize }

// Of is one page of results. Results is never nil.
type Of[T any] struct {
	Results    []T        `json:"results"`
	Pagination Pagination `json:"pagination"`
}

// Pagination says where in the whole a page stands. Beyond the last page the
// results are empty; without any result there are no pages.
type Pagination struct {
	CurrentPage  int `json:"currentPage" doc:"The page asked for."`
	PageSize     int `json:"pageSize" doc:"How many results a full page has."`
	TotalPages   int `json:"totalPages" doc:"How many pages there are."`
	TotalResults int `json:"totalResults" doc:"How many results all pages have together."`
}

// New is the envelope of a page whose results were already chosen from total.
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

// Slice is the page of all that q chooses.
func Slice[T any](q Query, all []T) *Of[T] {
	start := min(q.Offset(), len(all))
	return New(q, len(all), all[start:min(start+q.PageSize, len(all))])
}

// Fits is the largest page size with which any choice of these results stays
// within limit bytes of JSON, and at least 1.
func (o *Of[T]) Fits(limit int) (int, error) {
	sizes := make([]int, len(o.Results))
	for i, result := range o.Results {
		text, err := json.Marshal(result)
		if err != nil {
			return 0, err
		}
		sizes[i] = len(text) + len(",")
	}
	return Fit(sizes, limit), nil
}

// Fit is how many of any choice of these sizes stay within the limit together, and
// at least 1.
func Fit(sizes []int, limit int) int {
	slices.SortFunc(sizes, func(a, b int) int { return b - a })
	fits, sum := 0, 0
	for fits < len(sizes) && sum+sizes[fits] <= limit {
		sum += sizes[fits]
		fits++
	}
	return max(fits, 1)
}

// TooLong is the 400 for a page that is longer than limit (size.Limit). It names the size
// that fits; name is the parameter of the size.
func TooLong(name string, fits, limit int) *apierr.Error {
	return apierr.Invalid(name, "%s Ask again with a %s of %d or less.", size.Message(limit), name, fits)
}

// Shrink shows less of the result of a page of one, since no smaller page can be asked
// for. It reports whether there was anything left to leave out.
func (o *Of[T]) Shrink() bool {
	if len(o.Results) != 1 {
		return false
	}
	for _, result := range []any{o.Results[0], &o.Results[0]} {
		if record, ok := result.(size.Shrinker); ok {
			return record.Shrink()
		}
	}
	return false
}
