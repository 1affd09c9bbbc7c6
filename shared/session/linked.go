package session

import (
	"context"
	"slices"

	"lectern/shared/auth"
	"lectern/shared/person"
	"lectern/shared/settings"
	"lectern/shared/table"
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

// Named returns the sessions that items beside a contact name, in their order, deleted ones
// too, and nil for one that does not have the contact: the body decides. current is whether
// the bodies say what the items say, and have the contact where these announce a write;
// otherwise sessions may have been written between the two reads, and the contact may have
// moved from one to another.
func (st *Store) Named(ctx context.Context, org int64, contactID string, items []person.Item) (bodies []*Body, current bool, err error) {
	keys := make([]table.Key, len(items))
	for i, item := range items {
		keys[i] = place{org: org, event: item.Event}.body(item.Session)
	}
	got, err := st.Table.GetMany(ctx, keys)
	if err != nil {
		return nil, false, err
	}
	bodies, current = make([]*Body, len(items)), true
	for i, item := range items {
		var roles []string
		if stored, found := got[keys[i]]; found {
			b, err := decode(stored)
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

// ItemsByRows returns what a contact's items on the caller's event would be, by the rows
// of the whole event, deleted ones too: for organizations whose people have no items yet. The
// version of such an item is that of the row.
func (st *Store) ItemsByRows(ctx context.Context, c *auth.Caller, contactID string) (items []person.Item, err error) {
	view, err := st.View(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, row := range view.All() {
		if roles := row.rolesOf(contactID); len(roles) > 0 {
			items = append(items, person.Item{Event: c.Event.ID, Session: row.ID, Version: row.Version, Created: row.Created, Roles: roles})
		}
	}
	return items, nil
}

// rolesOf returns the sorted ids of the contact's roles on the session.
func (r *Row) rolesOf(contactID string) []string {
	number, known := r.Index.Contacts.Of(contactID)
	if !known {
		return nil
	}
	roles := person.Roles{}
	for role, contacts := range r.People() {
		if slices.Contains(contacts, number) {
			roles.Add(contactID, r.Index.Roles.IDs()[role])
		}
	}
	return roles[contactID]
}

// Briefs shows sessions of the caller's event.
func (st *Store) Briefs(ctx context.Context, c *auth.Caller, set *settings.Snapshot, bodies []*Body) ([]Brief, error) {
	f := st.formatter(c, set, Expand{})
	if err := f.families(ctx, st.fetch(at(c)), bodies); err != nil {
		return nil, err
	}
	all := make([]Brief, len(bodies))
	for i, b := range bodies {
		all[i] = f.brief(b)
	}
	return all, nil
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
