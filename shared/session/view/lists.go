package view

import (
	"context"
	"slices"

	"lectern/shared/session"
)

// Statuses renders the rows of the status search, without any people.
func Statuses(ctx context.Context, r Request, bodies []*session.Body) ([]StatusRow, error) {
	if err := r.loadOthers(ctx, bodies); err != nil {
		return nil, err
	}
	rows := make([]StatusRow, len(bodies))
	for i, b := range bodies {
		rows[i] = r.statusRow(b)
	}
	return rows, nil
}

func (r *Request) statusRow(b *session.Body) StatusRow {
	row := StatusRow{
		StatusCore: r.statusCore(b), FriendlyIDRaw: b.Number, IsAbstract: b.IsAbstract,
		CompositionStatus: r.compositionStatus(r.family(b)), DeletedAt: b.DeletedAt, Subsessions: []StatusCore{},
	}
	if row.CustomStatus != nil {
		row.CustomStatusID = &row.CustomStatus.ID
	}
	for _, sub := range r.subsessions(b) {
		row.Subsessions = append(row.Subsessions, r.statusCore(sub))
	}
	return row
}

func (r *Request) statusCore(b *session.Body) StatusCore {
	return StatusCore{
		ID: b.ID, FriendlyID: b.FriendlyID(), Status: b.Status, CustomStatus: r.customStatus(b),
		CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt,
	}
}

// Briefs renders the list of a contact's sessions on the caller's event.
func Briefs(ctx context.Context, r Request, bodies []*session.Body) ([]Brief, error) {
	if err := r.loadTargets(ctx, bodies); err != nil {
		return nil, err
	}
	all := make([]Brief, len(bodies))
	for i, b := range bodies {
		all[i] = Brief{
			ID: b.ID, Title: b.Title, Status: b.Status, IsAbstract: b.IsAbstract, CompositionStatus: r.compositionStatus(r.family(b)),
		}
		if status := r.customStatus(b); status != nil {
			all[i].CustomStatus = &status.Name
		}
	}
	return all, nil
}

// loadTargets reads the sessions that a composition status shows: the parents of
// subsessions, then the targets of all these sessions.
func (r *Request) loadTargets(ctx context.Context, bodies []*session.Body) error {
	r.Others = map[string]*session.Body{}
	var parents, targets []string
	for _, b := range bodies {
		r.Others[b.ID] = b
		if b.Parent != "" {
			parents = append(parents, b.Parent)
		}
	}
	if err := r.fetch(ctx, distinct(parents), nil); err != nil {
		return err
	}
	for _, b := range r.Others {
		if b.Target != nil {
			targets = append(targets, b.Target.SessionID)
		}
	}
	return r.fetch(ctx, distinct(targets), nil)
}

func distinct(ids []string) []string {
	slices.Sort(ids)
	return slices.Compact(ids)
}
