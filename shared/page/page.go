// Package page has the pagination of searches and lists: the parameters of the query and the
// shape of the answer (spec.md section 2.2).
package page

import (
	"encoding/json"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/size"
)

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
func Slice[T any](q Query, all []T) *Of[T] {
	start := min(q.Offset(), len(all))
	return New(q, len(all), all[start:min(start+q.PageSize, len(all))])
}

// Fits returns the largest page size at which any selection of the results has at most limit
// bytes of JSON; at least 1.
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

// Fit returns the largest number of sizes that stay within the limit for any selection of the
// sizes; at least 1.
func Fit(sizes []int, limit int) int {
	slices.SortFunc(sizes, func(a, b int) int { return b - a })
	fits, sum := 0, 0
	for fits < len(sizes) && sum+sizes[fits] <= limit {
		sum += sizes[fits]
		fits++
	}
	return max(fits, 1)
}

// TooLong returns the 400 for a page that is larger than limit (size.Limit). fits is the page
// size to ask for, name is the parameter of the page size.
func TooLong(name string, fits, limit int) *apierr.Error {
	return apierr.Invalid(name, "%s Ask again with a %s of %d or less.", size.Message(limit), name, fits)
}

// Shrink shrinks the result of a page with one result, since a client cannot ask for a smaller
// page. It reports whether the result became smaller (size.Shrinker).
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
