package store

import (
	"context"
	"slices"

	"lectern/shared/auth"
	"lectern/shared/metadata"
	"lectern/shared/session"
	"lectern/shared/session/view"
	"lectern/shared/settings"
	"lectern/shared/table"
	"lectern/shared/write"
)

// The operator changes compositions; no public route does (gaps.md section 2.6).

// Link composes the session sourceID into the session targetID, and returns the source.
// Relationship is session.MergedSession, session.MergedAbstract or
// session.ComposedIntoSession.
func (st *Store) Link(ctx context.Context, c *auth.Caller, targetID, sourceID, relationship string) (*view.Session, error) {
	if err := session.CheckPair(targetID, sourceID); err != nil {
		return nil, err
	}
	r, err := st.request(ctx, c, view.Expand{Composition: true})
	if err != nil {
		return nil, err
	}
	link := &session.Link{CompositionID: st.NewID(), Relationship: relationship}
	return write.Run[*view.Session](ctx, st.Table, &linkSessions{r, targetID, sourceID, link})
}

// Unlink takes a source out of its target, and returns the source.
func (st *Store) Unlink(ctx context.Context, c *auth.Caller, sourceID string) (*view.Session, error) {
	source, err := st.read(ctx, c, sourceID, session.Place.Live)
	if err != nil {
		return nil, err
	}
	if err := source.CheckSource(); err != nil {
		return nil, err
	}
	r, err := st.request(ctx, c, view.Expand{Composition: true})
	if err != nil {
		return nil, err
	}
	return write.Run[*view.Session](ctx, st.Table, &linkSessions{r, source.Target.SessionID, sourceID, nil})
}

// linkSessions links a source into a target, or unlinks the two if link is nil.
type linkSessions struct {
	req            *request
	target, source string
	link           *session.Link
}

func (o *linkSessions) Reads() []table.Key { return o.req.place.Bodies([]string{o.target, o.source}) }

func (o *linkSessions) More(write.Items) []table.Key { return nil }

func (o *linkSessions) Touches(write.Items) []string { return []string{o.target, o.source} }

func (o *linkSessions) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	before, err := o.req.place.Live(got, o.target)
	if err != nil {
		return nil, err
	}
	target := session.Updated(before)
	if before, err = o.req.place.Live(got, o.source); err != nil {
		return nil, err
	}
	source, now := session.Updated(before), o.req.now(before)
	if o.link == nil {
		err = session.Unlink(target.After, source.After)
	} else {
		err = session.Compose(target.After, source.After, *o.link, now)
	}
	if err != nil {
		return nil, err
	}
	return o.req.plan(ctx, got, o.req.people(), now, source, target)
}

// Withdraw notes that a session was withdrawn, in place of an earlier note; 409 for a
// composition source. The status stays the same.
func (st *Store) Withdraw(ctx context.Context, c *auth.Caller, id, who, why string) (*view.Session, error) {
	return st.withdraw(ctx, c, id, &session.Withdrawal{Who: who, Why: why})
}

// Unwithdraw removes the note of a withdrawal, if there is a note.
func (st *Store) Unwithdraw(ctx context.Context, c *auth.Caller, id string) (*view.Session, error) {
	return st.withdraw(ctx, c, id, nil)
}

func (st *Store) withdraw(ctx context.Context, c *auth.Caller, id string, note *session.Withdrawal) (*view.Session, error) {
	r, err := st.request(ctx, c, view.Expand{})
	if err != nil {
		return nil, err
	}
	return write.Run[*view.Session](ctx, st.Table, &withdrawSession{r, id, note})
}

// Withdrawal returns the note of a withdrawal; nil for a session that is not withdrawn.
func (st *Store) Withdrawal(ctx context.Context, c *auth.Caller, id string) (*session.Withdrawal, error) {
	b, err := st.read(ctx, c, id, session.Place.Live)
	if err != nil {
		return nil, err
	}
	return b.Withdrawn, nil
}

// withdrawSession notes a withdrawal; a nil note removes it.
type withdrawSession struct {
	req  *request
	id   string
	note *session.Withdrawal
}

func (o *withdrawSession) Reads() []table.Key { return []table.Key{o.req.place.Body(o.id)} }

func (o *withdrawSession) More(write.Items) []table.Key { return nil }

func (o *withdrawSession) Touches(write.Items) []string { return []string{o.id} }

func (o *withdrawSession) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	before, err := o.req.place.Live(got, o.id)
	if err != nil {
		return nil, err
	}
	if err := before.CheckWithdraw(); err != nil {
		return nil, err
	}
	change, now := session.Updated(before), o.req.now(before)
	change.Action, change.After.Withdrawn = "session.unwithdrawn", nil
	if o.note != nil {
		change.Action, change.After.Withdrawn = "session.withdrawn", &session.Withdrawal{Who: o.note.Who, Why: o.note.Why, At: now}
	}
	return o.req.plan(ctx, got, o.req.people(), now, change)
}

// Duplicate copies a top-level session without subsessions, composition and withdrawal. The
// copy is pending. It returns 409 for a composition source and at the cap of sessions, 403
// for an abstract on an event without abstracts.
func (st *Store) Duplicate(ctx context.Context, c *auth.Caller, id string) (*view.Session, error) {
	r, err := st.request(ctx, c, view.Expand{})
	if err != nil {
		return nil, err
	}
	newID := st.NewID()
	return write.Run[*view.Session](ctx, st.Table, &copySession{r, id, newID, st.counters(c).numbers.Next(newID)})
}

// copySession creates a copy of a session.
type copySession struct {
	req       *request
	id, newID string
	number    *write.Number
}

func (o *copySession) Reads() []table.Key { return []table.Key{o.req.place.Body(o.id)} }

func (o *copySession) More(write.Items) []table.Key { return nil }

func (o *copySession) Touches(write.Items) []string { return []string{o.id, o.newID} }

func (o *copySession) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	original, err := o.req.place.Live(got, o.id)
	if err != nil {
		return nil, err
	}
	if err := original.CheckCopy(o.req.caller); err != nil {
		return nil, err
	}
	number, err := o.number.Take(ctx)
	if err != nil {
		return nil, err
	}
	created := session.Change{
		After: duplicate(original, o.req.store.NewID), Action: "session.duplicated", Kind: session.KindCreated,
		Fields: fieldNames(o.req.set, original),
	}
	created.After.ID, created.After.Number = o.newID, number
	return o.req.plan(ctx, got, o.req.people(), o.req.now(nil), created)
}

// fieldNames returns the internal names of the custom fields with a value on b.
func fieldNames(set *settings.Snapshot, b *session.Body) (names []string) {
	for id := range b.CustomFields {
		if d, ok := set.Fields.Get(id); ok {
			names = append(names, d.InternalName)
		}
	}
	slices.Sort(names)
	return names
}

// duplicate returns the copy of a session, without id and number.
func duplicate(original *session.Body, newID func() string) *session.Body {
	pending := metadata.Pending
	b := original.Duplicate()
	b.Status, b.CustomStatusID = &pending, nil
	b.Subsessions, b.LastNumber, b.Sources, b.Withdrawn, b.Content = nil, 0, nil, nil, nil
	b.Source, b.Sequence = session.SourceAdmin, 0
	for i := range b.Participants {
		b.Participants[i].ID = newID()
	}
	return b
}
