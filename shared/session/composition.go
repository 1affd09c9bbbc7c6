package session

import (
	"context"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/metadata"
	"lectern/shared/settings"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Composition is reached by the operator, not by a public route (gaps.md
// section 2.6).

// linked is the refusal of what a composition forbids.
func linked() error {
	return apierr.Conflict("COMPOSITION_LINKED", "The session is linked with another one. Unlink it first.")
}

// Link composes source into target. Both must be live top-level sessions of the
// event, of the kinds the relationship joins; a source has one target and no
// sources of its own.
func (st *Store) Link(ctx context.Context, c *auth.Caller, targetID, sourceID, relationship string) (*Session, error) {
	if targetID == sourceID {
		return nil, apierr.Invalid("source_id", "A session cannot be linked with itself.")
	}
	compositionID := st.NewID()
	return st.pair(ctx, c, targetID, sourceID, func(target, source *Body, now wire.Time) error {
		if err := linkable(target, source, relationship); err != nil {
			return err
		}
		link := Link{CompositionID: compositionID, Relationship: relationship, CreatedAt: now}
		link.SessionID = source.ID
		target.Sources = append(target.Sources, link)
		link.SessionID = target.ID
		source.Target = &link
		return nil
	})
}

// linkable holds the rules of a link (spec.md section 2.5).
func linkable(target, source *Body, relationship string) error {
	switch {
	case target.Parent != "":
		return apierr.Invalid("target_id", "A subsession cannot be part of a composition.")
	case source.Parent != "":
		return apierr.Invalid("source_id", "A subsession cannot be part of a composition.")
	case source.Target != nil || target.Target != nil || len(source.Sources) > 0:
		return linked()
	case len(target.Sources) >= maxSources:
		return apierr.Invalid("target_id", "A session can have at most %d sources.", maxSources)
	}
	joins := map[string][2]bool{ // whether target and source are abstracts
		MergedSession: {false, false}, MergedAbstract: {true, true}, ComposedIntoSession: {false, true},
	}
	if kinds, known := joins[relationship]; !known || kinds != [2]bool{target.IsAbstract, source.IsAbstract} {
		return apierr.Invalid("relationship_type", "%q does not join these two sessions.", relationship)
	}
	return nil
}

// Unlink takes a source out of its target; both are then as before the link.
func (st *Store) Unlink(ctx context.Context, c *auth.Caller, sourceID string) (*Session, error) {
	source, err := st.one(ctx, at(c).body(sourceID), live)
	if err != nil {
		return nil, err
	}
	if source.Target == nil {
		return nil, apierr.Conflict("NOT_LINKED", "The session is not a composition source.")
	}
	return st.pair(ctx, c, source.Target.SessionID, sourceID, func(target, source *Body, _ wire.Time) error {
		if source.Target == nil || source.Target.SessionID != target.ID {
			return apierr.Conflict("NOT_LINKED", "The session is not a source of this target.")
		}
		source.Target = nil
		target.Sources = slices.DeleteFunc(target.Sources, func(l Link) bool { return l.SessionID == source.ID })
		return nil
	})
}

// pair changes two sessions in one transaction and answers the source.
func (st *Store) pair(ctx context.Context, c *auth.Caller, targetID, sourceID string,
	to func(target, source *Body, now wire.Time) error) (*Session, error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	keys := []table.Key{at(c).body(targetID), at(c).body(sourceID)}
	return st.run(ctx, write.Op{Reads: keys, Plan: func(ctx context.Context, got write.Items) (*write.Plan, error) {
		target, err := live(got, keys[0])
		if err != nil {
			return nil, err
		}
		source, err := live(got, keys[1])
		if err != nil {
			return nil, err
		}
		newTarget, newSource, now := target.clone(), source.clone(), st.now(source)
		if err := to(newTarget, newSource, now); err != nil {
			return nil, err
		}
		return st.plan(ctx, st.formatter(c, set, Expand{Composition: true}), now,
			step{before: source, after: newSource, action: kindUpdated, kind: kindUpdated},
			step{before: target, after: newTarget, action: kindUpdated, kind: kindUpdated})
	}})
}

// Withdraw notes who withdrew a session and why, in place of what was noted
// before. It leaves the status alone and is refused for a composition source.
func (st *Store) Withdraw(ctx context.Context, c *auth.Caller, id, who, why string) (*Session, error) {
	return st.withdrawal(ctx, c, id, "session.withdrawn", func(now wire.Time) *Withdrawal {
		return &Withdrawal{Who: who, Why: why, At: now}
	})
}

// Unwithdraw undoes a withdrawal; a session that is not withdrawn stays so.
func (st *Store) Unwithdraw(ctx context.Context, c *auth.Caller, id string) (*Session, error) {
	return st.withdrawal(ctx, c, id, "session.unwithdrawn", func(wire.Time) *Withdrawal { return nil })
}

func (st *Store) withdrawal(ctx context.Context, c *auth.Caller, id, action string, noted func(now wire.Time) *Withdrawal) (*Session, error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	key := at(c).body(id)
	return st.run(ctx, write.Op{Reads: []table.Key{key}, Plan: func(ctx context.Context, got write.Items) (*write.Plan, error) {
		before, err := unlinked(got, key)
		if err != nil {
			return nil, err
		}
		after, now := before.clone(), st.now(before)
		after.Withdrawn = noted(now)
		return st.plan(ctx, st.formatter(c, set, Expand{}), now,
			step{before: before, after: after, action: action, kind: kindUpdated})
	}})
}

// Withdrawal is what was noted when a session was withdrawn; nil when it is not.
func (st *Store) Withdrawal(ctx context.Context, c *auth.Caller, id string) (*Withdrawal, error) {
	b, err := st.one(ctx, at(c).body(id), live)
	if err != nil {
		return nil, err
	}
	return b.Withdrawn, nil
}

// unlinked is live for a session that must not be a composition source.
func unlinked(got write.Items, key table.Key) (*Body, error) {
	b, err := live(got, key)
	if err != nil {
		return nil, err
	}
	return b, b.free()
}

// free refuses a composition source.
func (b *Body) free() error {
	if b.Target != nil {
		return linked()
	}
	return nil
}

// Duplicate copies a top-level session without its subsessions, composition and
// withdrawal; the copy is pending. It is refused for a composition source, for an abstract
// of an event that could not create one, and at the cap on sessions.
func (st *Store) Duplicate(ctx context.Context, c *auth.Caller, id string) (*Session, error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	key, newID := at(c).body(id), st.NewID()
	take := st.request(c, Expand{}).running.Reserve(newID)
	return st.run(ctx, write.Op{Reads: []table.Key{key}, Plan: func(ctx context.Context, got write.Items) (*write.Plan, error) {
		original, err := live(got, key)
		if err == nil {
			err = allowed(c, original)
		}
		if err != nil {
			return nil, err
		}
		if original.Parent != "" {
			return nil, apierr.Invalid("session_id", "A subsession cannot be duplicated.")
		}
		number, err := take(ctx)
		if err != nil {
			return nil, err
		}
		return st.plan(ctx, st.formatter(c, set, Expand{}), st.now(nil),
			step{after: st.copy(original, newID, number), action: "session.duplicated", kind: kindCreated,
				fields: valued(set, original)})
	}})
}

// allowed is whether a session may be copied, but for being a subsession.
func allowed(c *auth.Caller, original *Body) error {
	if err := abstractAllowed(c, original.IsAbstract); err != nil {
		return err
	}
	return original.free()
}

// valued are the internal names of the custom fields that b has a value of.
func valued(set *settings.Snapshot, b *Body) (names []string) {
	for id := range b.CustomFields {
		if d, ok := set.Fields.Get(id); ok {
			names = append(names, d.InternalName)
		}
	}
	slices.Sort(names)
	return names
}

// copy is what Duplicate makes of a session.
func (st *Store) copy(original *Body, id string, number int64) *Body {
	pending := metadata.Pending
	b := original.clone()
	b.ID, b.Number, b.Status, b.CustomStatusID = id, number, &pending, nil
	b.Subsessions, b.LastNumber, b.Sources, b.Withdrawn = nil, 0, nil, nil
	b.Source, b.Sequence = sourceAdmin, 0
	for i := range b.Participants {
		b.Participants[i].ID = st.NewID()
	}
	return b
}
