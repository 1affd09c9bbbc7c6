package session

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/metadata"
	"lectern/shared/page"
	"lectern/shared/search"
)

// Filter is what a session search filters by (spec.md section 4.2): within one
// filter any entry matches, all filters must match.
type Filter struct {
	Status     string `json:"status,omitempty" enum:"accepted,accept_queue,pending,decline_queue,declined" doc:"Sessions with this status."`
	IsAbstract *bool  `json:"isAbstract,omitempty" doc:"Abstracts only, or programme sessions only."`
	Categories
	search.Times
}

// Categories are the filters by metadata. The searches of speakers and participants
// have them too.
type Categories struct {
	TrackIDs    []string `json:"trackIds,omitempty" minItems:"1" format:"uuid" doc:"On any of these tracks."`
	TagIDs      []string `json:"tagIds,omitempty" minItems:"1" format:"uuid" doc:"With any of these tags."`
	LevelIDs    []string `json:"levelIds,omitempty" minItems:"1" format:"uuid" doc:"Of any of these levels."`
	FormatIDs   []string `json:"formatIds,omitempty" minItems:"1" format:"uuid" doc:"Of any of these formats."`
	LanguageIDs []string `json:"languageIds,omitempty" minItems:"1" format:"uuid" doc:"In any of these languages."`
}

// filters are the categories with the kind of metadata that each names.
func (f *Categories) filters() []idFilter {
	return []idFilter{
		{metadata.Tracks, &f.TrackIDs}, {metadata.Tags, &f.TagIDs}, {metadata.Levels, &f.LevelIDs},
		{metadata.Formats, &f.FormatIDs}, {metadata.Languages, &f.LanguageIDs},
	}
}

type idFilter struct {
	kind metadata.Kind
	ids  *[]string
}

// Empty is whether there is no filter.
func (f *Categories) Empty() bool {
	return !slices.ContainsFunc(f.filters(), func(filter idFilter) bool { return len(*filter.ids) > 0 })
}

// Keeps is whether a row passes. Forget must have been called before.
func (f *Categories) Keeps(r *Row) bool {
	return anyOf(f.TrackIDs, r.Track) && anyOf(f.LevelIDs, r.Level) && anyOf(f.FormatIDs, r.Format) &&
		anyOf(f.LanguageIDs, r.Lang) && (len(f.TagIDs) == 0 || slices.ContainsFunc(r.Tags, func(tag string) bool {
		return slices.Contains(f.TagIDs, tag)
	}))
}

// keeps is whether a row passes every filter but search.
func (f *Filter) keeps(r *Row) bool {
	return (f.Status == "" || f.Status == r.Status) && (f.IsAbstract == nil || *f.IsAbstract == r.Abstract) &&
		f.Categories.Keeps(r) && f.Times.Keeps(r.Created, r.Updated)
}

// anyOf is whether id is among the wanted; no filter wants all.
func anyOf(wanted []string, id string) bool { return len(wanted) == 0 || slices.Contains(wanted, id) }

// Query is one search or list.
type Query struct {
	Filter Filter
	// Text is looked for in title and friendly id, whatever the case.
	Text string
	Sort []search.Key
	Page page.Query
	Expand
	// Bare writes unassigned metadata as {}, as the search does, not as null.
	Bare bool
}

// Search gives one page of the top-level sessions that match. Composition
// sources are left out unless LinkedSources is set.
func (st *Store) Search(ctx context.Context, c *auth.Caller, q Query) (*page.Of[*Session], error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	q.Filter.Forget(set)
	text := strings.ToLower(q.Text)
	var bodies []*Body
	var total int
	together := catalogue.Together(ctx, slices.Concat([]catalogue.Source{st.Source(c)}, st.Contacts.Sources(c), st.Accounts.Sources(c))...)
	met, err := st.refresh(together, c, q.Expand, func(ctx context.Context) (err error) {
		bodies, total, err = st.Catalogue.Search(ctx, at(c).source(), func(_ *catalogue.View[Row], r *Row) bool {
			return r.Deleted == 0 && r.Parent == "" && (q.LinkedSources || !r.Source) && q.Filter.keeps(r) && r.mentions(text)
		}, ordered(q.Sort), q.Page.Offset(), q.Page.PageSize)
		return err
	})
	if err != nil {
		return nil, err
	}
	f := st.formatter(c, set, q.Expand)
	f.bare, f.page, f.roster = q.Bare, "page_size", met
	if q.Bare {
		f.page = "pageSize"
	}
	if err := f.gather(ctx, st.remembered(c), bodies...); err != nil {
		return nil, err
	}
	if err := f.meet(ctx, bodies...); err != nil {
		return nil, err
	}
	shown := make([]*Session, len(bodies))
	for i, b := range bodies {
		shown[i] = f.single(b)
	}
	return page.New(q.Page, total, shown), nil
}

// remembered reads bodies through the catalogue, which has most of them in
// memory.
func (st *Store) remembered(c *auth.Caller) fetcher {
	return func(ctx context.Context, ids []string) (map[string]*Body, error) {
		bodies, err := st.Catalogue.Related(ctx, at(c).source(), ids)
		if err != nil {
			return nil, err
		}
		byID := make(map[string]*Body, len(bodies))
		for _, b := range bodies {
			byID[b.ID] = b
		}
		return byID, nil
	}
}

// mentions is whether the text, in lower case, is in title or friendly id.
func (r *Row) mentions(text string) bool {
	return text == "" || strings.Contains(strings.ToLower(r.Title), text) ||
		strings.Contains(strings.ToLower(friendlyPrefix+r.Number), text)
}

// ByTimes are the keys that a session search sorts by.
type ByTimes struct{ search.ByTimes }

// ByStatusTimes are the keys that the status search sorts by.
type ByStatusTimes struct{ search.ByTimes }

// SortKeys adds startsAt to the times of every search.
func (k ByTimes) SortKeys() []string { return append(k.ByTimes.SortKeys(), "startsAt") }

// SortKeys adds startsAt and deletedAt.
func (k ByStatusTimes) SortKeys() []string {
	return append(k.ByTimes.SortKeys(), "startsAt", "deletedAt")
}

// ordered is the order of a search, nil for the default one.
func ordered(keys []search.Key) func(a, b *Row) int {
	return search.Order(keys, sortField, func(a, b *Row) int { return cmp.Compare(a.ID, b.ID) })
}

func sortField(name string) func(*Row) (int64, bool) {
	switch name {
	case "updatedAt":
		return func(r *Row) (int64, bool) { return r.Updated, true }
	case "startsAt":
		return func(r *Row) (int64, bool) {
			if r.Starts == nil {
				return 0, false
			}
			return *r.Starts, true
		}
	case "deletedAt":
		return func(r *Row) (int64, bool) { return r.Deleted, r.Deleted != 0 }
	}
	return func(r *Row) (int64, bool) { return r.Created, true }
}
