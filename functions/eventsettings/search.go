package eventsettings

import (
	"cmp"
	"context"
	"slices"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/page"
	"lectern/shared/search"
	"lectern/shared/settings/item"
	"lectern/shared/wire"
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

// searchEntries gives one page of the event's entries of one kind.
func (s *service) searchEntries(ctx context.Context, kind metadata.Kind, in *searchInput) (*page.Of[*metadata.View], error) {
	set, err := s.settings.Load(ctx, auth.From(ctx))
	if err != nil {
		return nil, err
	}
	found := choose(set.Metadata[kind].List(), in.Body.Filters, in.Body.Sort)
	return show(in.Query, found, func(e *metadata.Entry) *metadata.View { return e.Show(kind, texts(set, in.Body.Expand)) }), nil
}

// searchStatuses gives one page of the event's custom statuses.
func (s *service) searchStatuses(ctx context.Context, in *searchInput) (*page.Of[*metadata.Status], error) {
	set, err := s.settings.Load(ctx, auth.From(ctx))
	if err != nil {
		return nil, err
	}
	found := choose(set.Statuses.Custom(), in.Body.Filters, in.Body.Sort)
	return show(in.Query, found, func(status *metadata.Status) *metadata.Status {
		return status.Show(texts(set, in.Body.Expand))
	}), nil
}

type fieldInput struct {
	api.InEvent
	page.Query
	Body fieldBody `required:"false"`
}

type fieldBody struct {
	Filters fieldFilter                 `json:"filters,omitzero" doc:"All of them must match."`
	Sort    search.Sort[search.ByTimes] `json:"sort,omitzero" doc:"Without it the results come by createdAt."`
	// Expand is checked and changes nothing, as a definition has no translations.
	Expand []string `json:"expand,omitempty" enum:"translated_fields" doc:"What other searches take; it adds nothing here."`
	_      struct{} `json:"-" additionalProperties:"true"`
}

type fieldFilter struct {
	Module field.Module `json:"module,omitempty" enum:"session,account,contact" doc:"Fields of this kind of record."`
	Source string       `json:"source,omitempty" enum:"standard,custom" doc:"Standard fields, or all others: those owned by a connector are among the custom ones."`
	Scope  field.Scope  `json:"scope,omitempty" enum:"global,event" doc:"Fields of the organization, or of the event."`
	search.Times
}

// searchFields gives one page of the event's field definitions.
func (s *service) searchFields(ctx context.Context, in *fieldInput) (*page.Of[*field.Definition], error) {
	set, err := s.settings.Load(ctx, auth.From(ctx))
	if err != nil {
		return nil, err
	}
	kept := slices.DeleteFunc(slices.Clone(set.Fields.List()), func(d *field.Definition) bool { return !in.Body.Filters.keeps(d) })
	return page.Slice(in.Query, choose(kept, in.Body.Filters.Times, in.Body.Sort)), nil
}

func (f fieldFilter) keeps(d *field.Definition) bool {
	return (f.Module == "" || f.Module == d.Module) &&
		(f.Scope == "" || f.Scope == d.Scope) &&
		(f.Source == "" || (f.Source == field.SourceStandard) == d.IsStandard())
}

// setting is what can be searched by times.
type setting interface{ Head() item.Head }

// choose gives those of all that times keeps, sorted if a sort is given.
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

// timeOf reads the time that a sort key names.
func timeOf[R setting](name string) func(R) (ms int64, ok bool) {
	of := func(head item.Head) *wire.Time { return head.CreatedAt }
	if name == "updatedAt" {
		of = func(head item.Head) *wire.Time { return head.UpdatedAt }
	}
	return func(r R) (int64, bool) { return of(r.Head()).UnixMilli(), true }
}

func byID[R setting](a, b R) int { return cmp.Compare(*a.Head().ID, *b.Head().ID) }

// show is one page of all, of which only the page is made into what is shown.
func show[T, U any](q page.Query, all []T, view func(T) U) *page.Of[U] {
	return page.New(q, len(all), mapped(page.Slice(q, all).Results, view))
}
