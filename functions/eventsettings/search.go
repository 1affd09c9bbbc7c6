package eventsettings

import (
	"cmp"
	"context"
	"slices"

	"lectern/shared/api"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/page"
	"lectern/shared/record"
	"lectern/shared/search"
	"lectern/shared/settings/handler"
)

type searchInput struct {
	api.InEvent
	page.Query
	Body searchBody `required:"false"`
}

type searchBody struct {
	Filters search.Times                `json:"filters,omitzero" doc:"All of them must match."`
	Sort    search.Sort[search.ByTimes] `json:"sort,omitzero" doc:"Without it the results come by order, then createdAt."`
	Expand  []string                    `json:"expand,omitempty" enum:"translated_fields" doc:"What to add to each entry."`
	_       struct{}                    `json:"-" additionalProperties:"true"`
}

// search returns a page of the event's entries of the kind.
func (e entries) search(_ context.Context, s *handler.Settings, in *searchInput) (*page.Of[*metadata.View], error) {
	found := choose(s.Metadata[e.kind].List(), in.Body.Filters, in.Body.Sort)
	return page.New(in.Query, len(found), e.show(page.Slice(in.Query, found).Results, texts(s, in.Body.Expand))), nil
}

// searchStatuses returns a page of the event's custom statuses.
func searchStatuses(_ context.Context, s *handler.Settings, in *searchInput) (*page.Of[*metadata.Status], error) {
	found := choose(s.Statuses.Custom(), in.Body.Filters, in.Body.Sort)
	return page.New(in.Query, len(found), showStatuses(page.Slice(in.Query, found).Results, texts(s, in.Body.Expand))), nil
}

type fieldInput struct {
	api.InEvent
	page.Query
	Body fieldBody `required:"false"`
}

type fieldBody struct {
	Filters fieldFilter                 `json:"filters,omitzero" doc:"All of them must match."`
	Sort    search.Sort[search.ByTimes] `json:"sort,omitzero" doc:"Without it the results come by createdAt."`
	// Expand is checked and changes nothing, since a definition has no translations.
	Expand []string `json:"expand,omitempty" enum:"translated_fields" doc:"What other searches take; it adds nothing here."`
	_      struct{} `json:"-" additionalProperties:"true"`
}

type fieldFilter struct {
	Module field.Module `json:"module,omitempty" enum:"session,account,contact" doc:"Fields of this kind of record."`
	Source string       `json:"source,omitempty" enum:"standard,custom" doc:"Standard fields, or all others: those owned by a connector are among the custom ones."`
	Scope  field.Scope  `json:"scope,omitempty" enum:"global,event" doc:"Fields of the organization, or of the event."`
	search.Times
}

// searchFields returns a page of the event's field definitions.
func searchFields(_ context.Context, s *handler.Settings, in *fieldInput) (*page.Of[*field.Definition], error) {
	all := []*field.Definition{}
	for _, d := range s.Fields.List() {
		if in.Body.Filters.keeps(d) {
			all = append(all, d)
		}
	}
	return page.Slice(in.Query, choose(all, in.Body.Filters.Times, in.Body.Sort)), nil
}

func (f fieldFilter) keeps(d *field.Definition) bool {
	return (f.Module == "" || f.Module == d.Module) &&
		(f.Scope == "" || f.Scope == d.Scope) &&
		(f.Source == "" || (f.Source == field.SourceStandard) == d.IsStandard())
}

// setting is a record that can be searched by times.
type setting interface{ Head() record.Head }

// choose returns the records of all that times keeps, sorted if a sort is given.
func choose[R setting](all []R, times search.Times, sort search.Sort[search.ByTimes]) []R {
	kept := make([]R, 0, len(all))
	for _, r := range all {
		if head := r.Head(); times.Keeps(head.CreatedAt.UnixMilli(), head.UpdatedAt.UnixMilli()) {
			kept = append(kept, r)
		}
	}
	if order := search.Order(sort.Keys, timeOf[R], byID[R]); order != nil {
		slices.SortFunc(kept, order)
	}
	return kept
}

// timeOf returns the function that reads the time of a sort key.
func timeOf[R setting](name string) func(R) (ms int64, ok bool) {
	if name == "updatedAt" {
		return func(r R) (int64, bool) { return r.Head().UpdatedAt.UnixMilli(), true }
	}
	return func(r R) (int64, bool) { return r.Head().CreatedAt.UnixMilli(), true }
}

func byID[R setting](a, b R) int { return cmp.Compare(*a.Head().ID, *b.Head().ID) }
