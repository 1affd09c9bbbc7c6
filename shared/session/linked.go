package session

import (
	"context"
	"slices"

	"lectern/shared/auth"
	"lectern/shared/settings"
)

// Brief is a session as the list of a contact's sessions shows it (gaps.md section
// 2.2).
type Brief struct {
	ID                string            `json:"id" format:"uuid"`
	Title             string            `json:"title"`
	Status            *string           `json:"status" enum:"accepted,accept_queue,pending,decline_queue,declined"`
	CustomStatus      *string           `json:"custom_status" doc:"The name of the event's own status."`
	IsAbstract        bool              `json:"is_abstract"`
	CompositionStatus CompositionStatus `json:"composition_status"`
	EventID           int64             `json:"event_id,omitempty" doc:"Only on the organization's level."`
}

// OfContact gives the sessions of the caller's event on which a contact has a role,
// subsessions and composition sources too, oldest first.
func (st *Store) OfContact(ctx context.Context, c *auth.Caller, set *settings.Snapshot, contactID string) ([]Brief, error) {
	view, err := st.View(ctx, c)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, row := range view.All() {
		if row.Deleted == 0 && row.has(contactID) {
			ids = append(ids, row.ID)
		}
	}
	var all []Brief
	for chunk := range slices.Chunk(ids, maxChunk) {
		bodies, err := st.Catalogue.Related(ctx, at(c).source(), chunk)
		if err != nil {
			return nil, err
		}
		// A body may be newer than its row.
		bodies = slices.DeleteFunc(bodies, func(b *Body) bool { return b.DeletedAt != nil || !b.has(contactID) })
		f := st.formatter(c, set, Expand{})
		if err := f.families(ctx, st.remembered(c), bodies); err != nil {
			return nil, err
		}
		for _, b := range bodies {
			all = append(all, f.brief(b))
		}
	}
	return all, nil
}

// has is whether the contact has a role on the session.
func (r *Row) has(contactID string) bool {
	return slices.ContainsFunc(r.Cast, func(cast Cast) bool { return slices.Contains(cast.Contacts, contactID) })
}

func (b *Body) has(contactID string) bool {
	return slices.ContainsFunc(b.Participants, func(p Participant) bool { return p.ContactID == contactID })
}

// families reads what the composition status of bodies needs: the parents of
// subsessions, and what all of these are linked into.
func (f *formatter) families(ctx context.Context, fetch fetcher, bodies []*Body) error {
	var parents, targets []string
	for _, b := range bodies {
		f.others[b.ID] = b
		if b.Parent != "" {
			parents = append(parents, b.Parent)
		}
	}
	if err := f.read(ctx, fetch, once(parents)); err != nil {
		return err
	}
	for _, b := range f.others {
		if b.Target != nil {
			targets = append(targets, b.Target.SessionID)
		}
	}
	return f.read(ctx, fetch, once(targets))
}

func once(ids []string) []string {
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (f *formatter) brief(b *Body) Brief {
	family := b
	if parent, ok := f.others[b.Parent]; ok {
		family = parent
	}
	shown := Brief{
		ID: b.ID, Title: b.Title, Status: b.Status, IsAbstract: b.IsAbstract, CompositionStatus: f.compositionStatus(family),
	}
	if status := f.customStatus(b); status != nil {
		shown.CustomStatus = &status.Name
	}
	return shown
}
