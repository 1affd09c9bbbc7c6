package session

import (
	"context"
	"slices"

	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/settings"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Check returns the Edit of a draft, or the error of a broken rule of draftRules.
func Check(c *auth.Caller, set *settings.Snapshot, d *Draft, newID func() string) (*Edit, error) {
	e := &Edit{
		caller: c, set: set, draft: d, newID: newID, refs: d.refs(),
		members: set.Fields.Members(c.Org.ID, field.Session, d.CustomFields.Value),
	}
	if err := e.check(draftRules, &Body{}); err != nil {
		return nil, err
	}
	return e, nil
}

// Parent returns the id of the parent that the draft names; empty for a top-level session.
func (e *Edit) Parent() string { return e.draft.ParentSessionID.Value }

// Reads returns the keys of the members and addresses that the draft names.
func (e *Edit) Reads() (keys []table.Key) {
	for _, key := range e.members {
		keys = append(keys, key)
	}
	return append(keys, e.refs.Keys(e.caller)...)
}

// More returns the keys of the contacts and accounts that the draft names.
func (e *Edit) More(p Parties, got write.Items) []table.Key {
	keys := e.refs.More(p.Contacts, e.caller, got)
	for _, list := range e.draft.accounts(&Body{}) {
		for _, id := range list.sent.Value {
			keys = append(keys, p.Accounts.Keys(e.caller, id)...)
		}
	}
	return keys
}

// Resolve finds the contacts and accounts of the draft among the read items and adds them to
// people. It returns the error of a broken rule of foundRules.
func (e *Edit) Resolve(people *People, got write.Items) (*Resolved, error) {
	r := &Resolved{edit: e, participants: slices.Clone(e.participants), People: people}
	for _, rule := range foundRules {
		if err := rule(r, got); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Update returns the change that writes the draft into a session, at the time now. It refuses
// a session that becomes too large.
func (r *Resolved) Update(got write.Items, before *Body, now wire.Time) (Change, error) {
	if err := r.People.AddFrom(got, before); err != nil {
		return Change{}, err
	}
	c := Updated(before)
	var err error
	if c.Fields, err = r.apply(c.After, now); err != nil {
		return Change{}, err
	}
	_, err = encode(c.After) // A session that is too large is refused before an old version.
	return c, err
}

// CheckFeatures refuses the draft of an update with 403 for a feature that the event lacks.
// is_abstract never changes, so an update of an abstract needs no feature.
func (r *Resolved) CheckFeatures() error { return r.edit.check(updateFeatureRules, &Body{}) }

// Unnumbered is a new session without a number. Only Create returns an Unnumbered.
type Unnumbered struct {
	edit   *Edit
	change Change
}

// Create returns the session that the draft creates under id at the time now.
func (r *Resolved) Create(id string, now wire.Time) (*Unnumbered, error) {
	d := r.edit.draft
	b := &Body{ID: id, Parent: d.ParentSessionID.Value, IsAbstract: d.IsAbstract.Value, Source: SourceAPI}
	if b.Parent == "" {
		pending := metadata.Pending
		b.Status = &pending
	}
	fields, err := r.apply(b, now)
	if err != nil {
		return nil, err
	}
	if _, err := encode(b); err != nil { // A session that is too large takes no number.
		return nil, err
	}
	return &Unnumbered{edit: r.edit, change: Change{After: b, Action: KindCreated, Kind: KindCreated, Fields: fields}}, nil
}

// Number returns the change that creates a top-level session with that number; 403
// for a feature that the event lacks.
func (u *Unnumbered) Number(ctx context.Context, number *write.Number) (c Change, err error) {
	if err := u.edit.check(featureRules, u.change.After); err != nil {
		return c, err
	}
	u.change.After.Number, err = number.Take(ctx)
	return u.change, err
}

// Adopt returns the change that creates a subsession with the next number of the parent, and
// the change of the parent. Parent is nil if no such session exists.
func (u *Unnumbered) Adopt(parent *Body) ([]Change, error) {
	if err := u.edit.check(parentRules, parent); err != nil {
		return nil, err
	}
	made, adopting := u.change, Updated(parent)
	adopting.After.LastNumber++
	adopting.After.Subsessions = append(adopting.After.Subsessions, made.After.ID)
	made.After.Parent, made.After.ParentNumber, made.After.IsAbstract = parent.ID, parent.Number, parent.IsAbstract
	made.After.Number = adopting.After.LastNumber
	return []Change{made, adopting}, nil
}

func (b *Body) has(id string) bool { return b.ID == id }

// Relist takes a deleted subsession from the list of the parent b, or puts a restored
// subsession back.
func (b *Body) Relist(sub *Body) error {
	b.Subsessions = slices.DeleteFunc(b.Subsessions, sub.has)
	if sub.DeletedAt != nil {
		return nil
	}
	if err := (*Edit)(nil).check(restoreRules, b); err != nil {
		return err
	}
	b.Subsessions = append(b.Subsessions, sub.ID)
	return nil
}

// apply writes the draft into b. It returns the internal names of the changed custom fields.
func (r *Resolved) apply(b *Body, now wire.Time) (fields []string, err error) {
	d := r.edit.draft
	if err := r.edit.check(recordRules, b); err != nil {
		return nil, err
	}
	if d.Title.Has() {
		b.Title = d.Title.Value
	}
	for _, ref := range d.references(b) {
		ref.sent.IntoPointer(ref.stored)
	}
	r.edit.status(b)
	d.location(b)
	d.StartsAt.IntoPointer(&b.StartsAt)
	d.EndsAt.IntoPointer(&b.EndsAt)
	d.Description.IntoPointer(&b.Description)
	d.ExternalURL.IntoPointer(&b.ExternalURL)
	d.ClientSessionID.IntoPointer(&b.ClientID)
	d.CEUCredits.IntoPointer(&b.CEUCredits)
	d.Capacity.IntoPointer(&b.Capacity)
	if d.IsPublic.Has() {
		b.IsPublic = d.IsPublic.Value
	}
	if d.TagIDs.Sent {
		b.TagIDs = slices.Clone(d.TagIDs.Value)
	}
	r.lists(b)
	return r.edit.values(b, now)
}

// status writes the status. A custom status sets its category; a status sent alone clears
// the custom status.
func (e *Edit) status(b *Body) {
	if e.draft.Status.Sent {
		b.CustomStatusID = nil
	}
	e.draft.Status.IntoPointer(&b.Status)
	e.draft.CustomStatusID.IntoPointer(&b.CustomStatusID)
	if e.draft.CustomStatusID.Has() {
		entry, _ := e.set.Statuses.Get(e.draft.CustomStatusID.Value)
		b.Status = &entry.Status
	}
}

// location writes the location. A room sent without a location sets it.
func (d *Draft) location(b *Body) {
	d.Location.IntoPointer(&b.Location)
	if d.Location.Sent || !d.RoomID.Sent {
		return
	}
	switch room := LocationRoom; {
	case b.RoomID != nil:
		b.Location = &room
	case Value(b.Location) == LocationRoom:
		b.Location = nil
	}
}

// Compose links source into target at the time now.
func Compose(target, source *Body, link Link, now wire.Time) error {
	if err := checkLink(target, source, link.Relationship); err != nil {
		return err
	}
	link.SessionID, link.CreatedAt = source.ID, now
	target.Sources = append(target.Sources, link)
	link.SessionID = target.ID
	source.Target = &link
	return nil
}

// Unlink takes source out of target.
func Unlink(target, source *Body) error {
	if err := checkUnlink(target, source); err != nil {
		return err
	}
	source.Target = nil
	target.Sources = slices.DeleteFunc(target.Sources, func(l Link) bool { return l.SessionID == source.ID })
	return nil
}
