package session

import (
	"context"
	"slices"

	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/page"
	"lectern/shared/search"
	"lectern/shared/settings"
	"lectern/shared/wire"
)

// StatusFilter is what the status search filters by: a session search's
// filters, and when a session was deleted.
type StatusFilter struct {
	Filter
	DeletedAt search.Range `json:"deletedAt,omitzero" doc:"When the session was deleted; finds deleted ones only."`
}

func (f *StatusFilter) keeps(r *Row) bool {
	if f.DeletedAt.Before.Has() || f.DeletedAt.After.Has() {
		return r.Deleted != 0 && f.DeletedAt.Contains(r.Deleted) && f.Filter.keeps(r)
	}
	return f.Filter.keeps(r)
}

// StatusRow is a session or subsession on the status search (gaps.md section 2.2).
type StatusRow struct {
	StatusCore
	FriendlyIDRaw     int64             `json:"friendly_id_raw"`
	IsAbstract        bool              `json:"is_abstract"`
	CompositionStatus CompositionStatus `json:"composition_status"`
	CustomStatusID    *string           `json:"custom_status_id" format:"uuid"`
	DeletedAt         *wire.Time        `json:"deleted_at"`
	Subsessions       []StatusCore      `json:"subsessions" doc:"Of a top-level session; empty on a subsession."`
}

// StatusCore is a subsession within its parent's row.
type StatusCore struct {
	ID           string        `json:"id" format:"uuid"`
	FriendlyID   string        `json:"friendly_id"`
	Status       *string       `json:"status" enum:"accepted,accept_queue,pending,decline_queue,declined"`
	CustomStatus *CustomStatus `json:"custom_status"`
	CreatedAt    wire.Time     `json:"created_at"`
	UpdatedAt    wire.Time     `json:"updated_at"`
}

// StatusQuery is one status search.
type StatusQuery struct {
	Filter        StatusFilter
	Sort          []search.Key
	Page          page.Query
	LinkedSources bool
}

// Statuses gives one page of the flat list of sessions and subsessions, deleted
// ones among them.
func (st *Store) Statuses(ctx context.Context, c *auth.Caller, q StatusQuery) (*page.Of[StatusRow], error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	q.Filter.Forget(set)
	bodies, total, err := st.Catalogue.Search(ctx, at(c).source(), func(view *catalogue.View[Row], r *Row) bool {
		return q.Filter.keeps(r) && (q.LinkedSources || !ofSource(view, r))
	}, ordered(q.Sort), q.Page.Offset(), q.Page.PageSize)
	if err != nil {
		return nil, err
	}
	f := st.formatter(c, set, Expand{})
	f.page = "pageSize"
	if err := f.gather(ctx, st.remembered(c), bodies...); err != nil {
		return nil, err
	}
	rows := make([]StatusRow, len(bodies))
	for i, b := range bodies {
		rows[i] = f.statusRow(b)
	}
	return page.New(q.Page, total, rows), nil
}

// ofSource is whether a session is a composition source or a subsession of one.
func ofSource(view *catalogue.View[Row], r *Row) bool {
	if r.Parent == "" {
		return r.Source
	}
	parent, ok := view.Get(r.Parent)
	return ok && parent.Source
}

func (f *formatter) statusRow(b *Body) StatusRow {
	core := f.core(b)
	row := StatusRow{
		StatusCore: f.statusCore(b), FriendlyIDRaw: core.FriendlyIDRaw, IsAbstract: core.IsAbstract,
		CompositionStatus: core.CompositionStatus, DeletedAt: core.DeletedAt, Subsessions: []StatusCore{},
	}
	if row.CustomStatus != nil {
		row.CustomStatusID = &row.CustomStatus.ID
	}
	for _, sub := range f.subsessions(b) {
		row.Subsessions = append(row.Subsessions, f.statusCore(sub))
	}
	return row
}

func (f *formatter) statusCore(b *Body) StatusCore {
	return StatusCore{
		ID: b.ID, FriendlyID: b.FriendlyID(), Status: b.Status, CustomStatus: f.customStatus(b),
		CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt,
	}
}

// customStatus is null when none is set or the one that is was deleted.
func (f *formatter) customStatus(b *Body) *CustomStatus {
	status, ok := f.set.Statuses.Get(value(b.CustomStatusID))
	if !ok {
		return nil
	}
	return &CustomStatus{ID: status.ID, Name: status.Name}
}

// nobody stands for metadata that is deleted or never was: no session has it.
const nobody = "-"

// Forget drops from the filters what the event has no more, and what stands
// there twice. A filter by deleted metadata alone matches nothing (gaps.md
// section 2.4).
func (f *Categories) Forget(set *settings.Snapshot) {
	for _, filter := range f.filters() {
		if len(*filter.ids) == 0 {
			continue
		}
		known := slices.DeleteFunc(slices.Clone(*filter.ids), func(id string) bool {
			_, ok := set.Metadata[filter.kind].Get(id)
			return !ok
		})
		slices.Sort(known)
		if *filter.ids = slices.Compact(known); len(known) == 0 {
			*filter.ids = []string{nobody}
		}
	}
}
