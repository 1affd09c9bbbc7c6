package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/metadata"
	"lectern/shared/page"
	"lectern/shared/person"
	"lectern/shared/search"
	"lectern/shared/session"
	"lectern/shared/session/view"
	"lectern/shared/settings"
	"lectern/shared/table"
)

// Filter has the filters of a session search (spec.md section 4.2). A session must match all
// filters, and any entry of each filter.
type Filter struct {
	Status     string `json:"status,omitempty" enum:"accepted,accept_queue,pending,decline_queue,declined" doc:"Sessions with this status."`
	IsAbstract *bool  `json:"isAbstract,omitempty" doc:"Abstracts only, or programme sessions only."`
	Categories
	search.Times
}

// Categories are the filters by metadata, also of the searches of speakers and participants.
type Categories struct {
	TrackIDs    []string `json:"trackIds,omitempty" minItems:"1" format:"uuid" doc:"On any of these tracks."`
	TagIDs      []string `json:"tagIds,omitempty" minItems:"1" format:"uuid" doc:"With any of these tags."`
	LevelIDs    []string `json:"levelIds,omitempty" minItems:"1" format:"uuid" doc:"Of any of these levels."`
	FormatIDs   []string `json:"formatIds,omitempty" minItems:"1" format:"uuid" doc:"Of any of these formats."`
	LanguageIDs []string `json:"languageIds,omitempty" minItems:"1" format:"uuid" doc:"In any of these languages."`
}

// filters returns the categories with their kinds of metadata.
func (f *Categories) filters() []category {
	return []category{
		{metadata.Tracks, &f.TrackIDs}, {metadata.Tags, &f.TagIDs}, {metadata.Levels, &f.LevelIDs},
		{metadata.Formats, &f.FormatIDs}, {metadata.Languages, &f.LanguageIDs},
	}
}

type category struct {
	kind metadata.Kind
	ids  *[]string
}

// Empty reports whether there is no filter.
func (f *Categories) Empty() bool {
	return len(f.TrackIDs)+len(f.TagIDs)+len(f.LevelIDs)+len(f.FormatIDs)+len(f.LanguageIDs) == 0
}

// Keeps reports whether a row passes the filters, after Forget.
func (f *Categories) Keeps(r *session.Row) bool {
	tagged := len(f.TagIDs) == 0
	for _, tag := range r.Tags {
		tagged = tagged || slices.Contains(f.TagIDs, tag)
	}
	return tagged && anyOf(f.TrackIDs, r.Track) && anyOf(f.LevelIDs, r.Level) && anyOf(f.FormatIDs, r.Format) &&
		anyOf(f.LanguageIDs, r.Lang)
}

// keeps reports whether a row passes every filter.
func (f *Filter) keeps(r *session.Row) bool {
	return (f.Status == "" || f.Status == r.Status) && (f.IsAbstract == nil || *f.IsAbstract == r.Abstract) &&
		f.Categories.Keeps(r) && f.Times.Keeps(r.Created, r.Updated)
}

// anyOf reports whether id is wanted; an empty filter wants all.
func anyOf(wanted []string, id string) bool { return len(wanted) == 0 || slices.Contains(wanted, id) }

// noEntry is the id of no metadata.
const noEntry = "-"

// Forget drops duplicates and deleted metadata from the filters. A filter of deleted metadata
// alone matches nothing (gaps.md section 2.4).
func (f *Categories) Forget(set *settings.Snapshot) {
	for _, filter := range f.filters() {
		if len(*filter.ids) == 0 {
			continue
		}
		var known []string
		for _, id := range *filter.ids {
			if _, ok := set.Metadata[filter.kind].Get(id); ok {
				known = append(known, id)
			}
		}
		slices.Sort(known)
		if *filter.ids = slices.Compact(known); len(known) == 0 {
			*filter.ids = []string{noEntry}
		}
	}
}

// StatusFilter has the filters of the status search.
type StatusFilter struct {
	Filter
	DeletedAt search.Range `json:"deletedAt,omitzero" doc:"When the session was deleted; finds deleted ones only."`
}

func (f *StatusFilter) keeps(r *session.Row) bool {
	if f.DeletedAt.Before.Has() || f.DeletedAt.After.Has() {
		return r.Deleted != 0 && f.DeletedAt.Contains(r.Deleted) && f.Filter.keeps(r)
	}
	return f.Filter.keeps(r)
}

// rows are the rows of an event in memory.
type rows = catalogue.View[session.Row]

// Query is a search or list of sessions.
type Query struct {
	Filter Filter
	// Text is part of the title or the friendly id, in any case.
	Text   string
	Sort   []search.Key
	Page   page.Query
	Expand view.Expand
	// Bare writes unassigned metadata as {}, not as null.
	Bare bool
}

// Search returns a page of the top-level sessions that match, without composition sources
// unless LinkedSources is set.
func (st *Store) Search(ctx context.Context, c *auth.Caller, q Query) (*page.Of[*view.Session], error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	q.Filter.Forget(set)
	shown := st.view(c, set, q.Expand)
	shown.Fetch, shown.Bare = reader{st, session.At(c)}.fromMemory, q.Bare
	var bodies []*session.Body
	var total int
	sources := slices.Concat([]catalogue.Source{st.Source(c)}, st.Parties.Contacts.Sources(c), st.Parties.Accounts.Sources(c))
	g, together := errgroup.WithContext(catalogue.ShareVersions(ctx, sources...))
	g.Go(table.Safely(func() (err error) {
		bodies, total, err = st.find(together, c, &q)
		return err
	}))
	g.Go(table.Safely(func() (err error) {
		shown.People, err = st.Parties.Validated(together, c, q.Expand.TranslatedFields)
		return err
	}))
	if err := g.Wait(); err != nil {
		return nil, err
	}
	loaded, err := view.Load(ctx, shown, bodies...)
	if err != nil {
		return nil, err
	}
	return page.New(q.Page, total, loaded.Sessions()), nil
}

// find returns the sessions of a page, and the number of sessions on all pages.
func (st *Store) find(ctx context.Context, c *auth.Caller, q *Query) (bodies []*session.Body, total int, err error) {
	text := strings.ToLower(q.Text)
	keep := func(_ *rows, r *session.Row) bool {
		return r.Deleted == 0 && r.Parent == "" && (q.Expand.LinkedSources || !r.Source) && q.Filter.keeps(r) && mentions(r, text)
	}
	return st.Catalogue.Search(ctx, st.Source(c), catalogue.Query[session.Row]{
		Keep: keep, Order: ordered(q.Sort), Offset: q.Page.Offset(), Limit: q.Page.PageSize,
	})
}

// mentions reports whether the text, in lower case, is part of title or friendly id.
func mentions(r *session.Row, text string) bool {
	return text == "" || strings.Contains(strings.ToLower(r.Title), text) || strings.Contains(strings.ToLower(r.FriendlyID()), text)
}

// StatusQuery is a status search.
type StatusQuery struct {
	Filter        StatusFilter
	Sort          []search.Key
	Page          page.Query
	LinkedSources bool
}

// Statuses returns a page of the flat list of sessions and subsessions, deleted sessions too.
func (st *Store) Statuses(ctx context.Context, c *auth.Caller, q StatusQuery) (*page.Of[view.StatusRow], error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	q.Filter.Forget(set)
	keep := func(all *rows, r *session.Row) bool {
		return q.Filter.keeps(r) && (q.LinkedSources || !ofSource(all, r))
	}
	bodies, total, err := st.Catalogue.Search(ctx, st.Source(c), catalogue.Query[session.Row]{
		Keep: keep, Order: ordered(q.Sort), Offset: q.Page.Offset(), Limit: q.Page.PageSize,
	})
	if err != nil {
		return nil, err
	}
	shown := st.view(c, set, view.Expand{})
	shown.Fetch = reader{st, session.At(c)}.fromMemory
	statuses, err := view.Statuses(ctx, shown, bodies)
	if err != nil {
		return nil, err
	}
	return page.New(q.Page, total, statuses), nil
}

// ofSource reports whether a session is a composition source or a subsession of a source.
func ofSource(all *rows, r *session.Row) bool {
	if r.Parent == "" {
		return r.Source
	}
	parent, ok := all.Get(r.Parent)
	return ok && parent.Source
}

// ByTimes has the keys that a session search sorts by.
type ByTimes struct{ search.ByTimes }

// ByStatusTimes has the keys that the status search sorts by.
type ByStatusTimes struct{ search.ByTimes }

// SortKeys returns the times of every search and startsAt.
func (k ByTimes) SortKeys() []string { return append(k.ByTimes.SortKeys(), "startsAt") }

// SortKeys returns the times of every search, startsAt and deletedAt.
func (k ByStatusTimes) SortKeys() []string {
	return append(k.ByTimes.SortKeys(), "startsAt", "deletedAt")
}

// ordered returns the order of a search; nil for the default order.
func ordered(keys []search.Key) func(a, b *session.Row) int {
	return search.Order(keys, sortField, func(a, b *session.Row) int { return cmp.Compare(a.ID, b.ID) })
}

// sortField returns the time of a row that a sort key names, and whether the row has the time.
func sortField(name string) func(*session.Row) (int64, bool) {
	switch name {
	case "updatedAt":
		return updated
	case "deletedAt":
		return deleted
	case "startsAt":
		return starts
	}
	return created
}

func created(r *session.Row) (int64, bool) { return r.Created, true }

func updated(r *session.Row) (int64, bool) { return r.Updated, true }

func deleted(r *session.Row) (int64, bool) { return r.Deleted, r.Deleted != 0 }

func starts(r *session.Row) (int64, bool) {
	if r.Starts == nil {
		return 0, false
	}
	return *r.Starts, true
}

// Named returns the sessions of a contact's items, in the order of the items, deleted
// sessions too; nil for a session without the contact, because the body decides. Current
// reports whether every body has the roles of its item, or any role if the item announces a
// write. Otherwise a session was written between the two reads: the contact may have moved
// from one session to another.
func (st *Store) Named(
	ctx context.Context, org int64, contactID string, items []person.Item,
) (bodies []*session.Body, current bool, err error) {
	keys := make([]table.Key, len(items))
	for i, item := range items {
		keys[i] = session.Of(org, item.Event).Body(item.Session)
	}
	got, err := st.Table.GetMany(ctx, keys)
	if err != nil {
		return nil, false, err
	}
	bodies, current = make([]*session.Body, len(items)), true
	for i, item := range items {
		var roles []string
		if stored, found := got[keys[i]]; found {
			b, err := session.Decode(stored)
			if err != nil {
				return nil, false, err
			}
			if roles = b.Roles()[contactID]; len(roles) > 0 {
				bodies[i] = b
			}
		}
		current = current && len(roles) > 0 && (len(item.Roles) == 0 || slices.Equal(item.Roles, roles))
	}
	return bodies, current, nil
}

// ItemsByRows returns the items of a contact on the caller's event from the rows of the whole
// event, deleted sessions too: for organizations without items. The version of an item is the
// version of the row.
func (st *Store) ItemsByRows(ctx context.Context, c *auth.Caller, contactID string) (items []person.Item, err error) {
	rows, err := st.View(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, row := range rows.All() {
		if roles := row.RolesOf(contactID); len(roles) > 0 {
			items = append(items, person.Item{Event: c.Event.ID, Session: row.ID, Version: row.Version, Created: row.Created, Roles: roles})
		}
	}
	return items, nil
}

// Briefs renders sessions of the caller's event for the list of a contact's sessions.
func (st *Store) Briefs(ctx context.Context, c *auth.Caller, set *settings.Snapshot, bodies []*session.Body) ([]view.Brief, error) {
	return view.Briefs(ctx, st.view(c, set, view.Expand{}), bodies)
}
