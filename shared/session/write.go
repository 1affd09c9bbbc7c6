package session

import (
	"context"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/metadata"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Create makes a session, an abstract or a subsession (gaps.md section 2.3).
func (st *Store) Create(ctx context.Context, c *auth.Caller, d *Create, x Expand) (*Session, error) {
	if made := write.Ref(ctx); made != "" {
		return st.show(ctx, c, made, x, stored)
	}
	r := st.request(c, x)
	e, err := r.start(ctx, &d.Draft)
	if err != nil {
		return nil, err
	}
	return st.run(ctx, r.create(e, st.NewID()))
}

// create is the operation that makes the session id. A subsession is numbered by its
// parent; any other session takes a number once nothing else refuses it.
func (r *request) create(e *edit, id string) write.Op {
	if parent := e.draft.ParentSessionID; parent.Has() {
		key := at(r.caller).body(parent.Value)
		op := r.making(e, id, func(ctx context.Context, e *edit, got write.Items, made step) ([]step, error) {
			steps, err := e.adopted(got, key, made)
			if err == nil {
				err = r.places.Admit(ctx, id)
			}
			return steps, err
		})
		op.Reads = append(op.Reads, key)
		op.More = func(got write.Items) []table.Key { return append(r.more(e, got), r.partners(got, key)...) }
		op.Touches = func(write.Items) []string { return []string{id, parent.Value} }
		return op
	}
	number := r.running.Reserve(id)
	return r.making(e, id, func(ctx context.Context, e *edit, _ write.Items, made step) ([]step, error) {
		return e.numbered(ctx, made, number)
	})
}

// making is create, where steps gives the steps of the making of a session that has
// no number yet.
func (r *request) making(e *edit, id string, steps func(context.Context, *edit, write.Items, step) ([]step, error)) write.Op {
	return write.Op{
		Reads:   r.keys(e),
		More:    func(got write.Items) []table.Key { return r.more(e, got) },
		Touches: func(write.Items) []string { return []string{id} },
		Plan: func(ctx context.Context, got write.Items) (*write.Plan, error) {
			e, err := r.found(e, got)
			if err != nil {
				return nil, err
			}
			now := r.now(nil)
			made, err := e.at(now).fresh(id)
			if err != nil {
				return nil, err
			}
			all, err := steps(ctx, e, got, made)
			if err != nil {
				return nil, err
			}
			return r.plan(ctx, e.set, e.roster, got, now, all...)
		},
	}
}

// fresh is the step that makes the session id, which has no number yet.
func (e *edit) fresh(id string) (made step, err error) {
	b := &Body{ID: id, Parent: e.draft.ParentSessionID.Value, IsAbstract: e.draft.IsAbstract.Value, Source: sourceAPI}
	if b.Parent == "" {
		pending := metadata.Pending
		b.Status = &pending
	}
	fields, err := e.apply(b)
	if err != nil {
		return step{}, err
	}
	_, err = encode(b) // What is too large takes no number.
	return step{after: b, action: kindCreated, kind: kindCreated, fields: fields}, err
}

// numbered is the making of a session that has a number of its own.
func (e *edit) numbered(ctx context.Context, made step, take func(context.Context) (int64, error)) (steps []step, err error) {
	if err := e.checkFeatures(made.after.IsAbstract); err != nil {
		return nil, err
	}
	made.after.Number, err = take(ctx)
	return []step{made}, err
}

// adopted is the making of a subsession of the parent at key, which changes too.
func (e *edit) adopted(got write.Items, key table.Key, made step) ([]step, error) {
	before, after, err := e.adopt(got, key, made.after)
	return []step{made, {before: before, after: after, action: kindUpdated, kind: kindUpdated}}, err
}

// adopt makes b a subsession of the parent at key, which must be a live
// top-level session with room for it. What is wrong with the body is refused
// before what the event lacks, and that before the state of the parent. It gives
// the parent before and after.
func (e *edit) adopt(got write.Items, key table.Key, b *Body) (before, after *Body, err error) {
	const name = "parent_session_id"
	before, err = stored(got, key)
	switch {
	case err != nil:
		return nil, nil, apierr.Invalid(name, "There is no such session on this event.")
	case before.Parent != "":
		return nil, nil, apierr.Invalid(name, "A subsession cannot have subsessions.")
	case len(before.Subsessions) >= maxSubsessions:
		return nil, nil, tooManySubsessions(name)
	case e.draft.IsAbstract.Sent && e.draft.IsAbstract.Value != before.IsAbstract:
		return nil, nil, apierr.Invalid("is_abstract", "A subsession has the is_abstract of its parent.")
	}
	if err := e.checkFeatures(before.IsAbstract); err != nil {
		return nil, nil, err
	}
	if before.DeletedAt != nil {
		return nil, nil, parentDeleted()
	}
	after = before.clone()
	after.LastNumber++
	after.Subsessions = append(after.Subsessions, b.ID)
	b.Parent, b.ParentNumber, b.Number, b.IsAbstract = before.ID, before.Number, after.LastNumber, before.IsAbstract
	return before, after, nil
}

func parentDeleted() error {
	return apierr.Conflict("PARENT_DELETED", "The parent session is deleted. Restore it first.")
}

func tooManySubsessions(name string) error {
	return apierr.Invalid(name, "A session can have at most %d subsessions.", maxSubsessions)
}

// Update changes what the draft sends. A composition source may be updated as
// any other session (spec.md section 7).
func (st *Store) Update(ctx context.Context, c *auth.Caller, id string, d *Draft, guard write.Guard, x Expand) (*Session, error) {
	op, err := st.request(c, x).update(ctx, id, d, guard)
	if err != nil {
		return nil, err
	}
	return st.run(ctx, op)
}

func (r *request) update(ctx context.Context, id string, d *Draft, guard write.Guard) (write.Op, error) {
	if err := guard.Validate(); err != nil {
		return write.Op{}, err
	}
	e, err := r.start(ctx, d)
	if err != nil {
		return write.Op{}, err
	}
	key := at(r.caller).body(id)
	return write.Op{
		Reads:   append(r.keys(e), key),
		More:    func(got write.Items) []table.Key { return append(r.more(e, got), r.company(got, key)...) },
		Touches: func(write.Items) []string { return []string{id} },
		Plan: func(ctx context.Context, got write.Items) (*write.Plan, error) {
			e, err := r.found(e, got)
			if err == nil {
				err = e.checkFeatures(false)
			}
			if err != nil {
				return nil, err
			}
			changed, now, err := r.revise(e, got, key, guard)
			if err != nil {
				return nil, err
			}
			return r.plan(ctx, e.set, e.roster, got, now, changed)
		},
	}, nil
}

// revise is the step by which the edit changes the session at key, and when.
func (r *request) revise(e *edit, got write.Items, key table.Key, guard write.Guard) (changed step, now wire.Time, err error) {
	before, err := live(got, key)
	if err != nil {
		return step{}, now, err
	}
	if err := e.roster.learn(got, before); err != nil {
		return step{}, now, err
	}
	after := before.clone()
	now = r.now(before)
	fields, err := e.at(now).apply(after)
	if err != nil {
		return step{}, now, err
	}
	// What is wrong in itself is refused before what is out of date.
	return step{before: before, after: after, action: kindUpdated, kind: kindUpdated, fields: fields},
		now, guard.Check(before.Version, before.UpdatedAt)
}

// Delete hides a session until it is restored. It is a 409 while the session
// has subsessions or is part of a composition (gaps.md section 2.6).
func (st *Store) Delete(ctx context.Context, c *auth.Caller, id string, guard write.Guard, x Expand) (*Session, error) {
	op, err := st.request(c, x).remove(ctx, id, guard)
	if err != nil {
		return nil, err
	}
	return st.run(ctx, op)
}

func (r *request) remove(ctx context.Context, id string, guard write.Guard) (write.Op, error) {
	if err := guard.Validate(); err != nil {
		return write.Op{}, err
	}
	return r.turn(ctx, id, kindDeleted, kindDeleted, func(got write.Items, key table.Key) (*Body, error) {
		b, err := guarded(got, key, guard)
		switch {
		case err != nil:
			return nil, err
		case len(b.partners()) > 0:
			return nil, linked()
		case len(b.Subsessions) > 0:
			return nil, apierr.Conflict("HAS_SUBSESSIONS", "The session has subsessions. Delete them first.")
		}
		return b, nil
	}, func(b *Body, now wire.Time) { b.DeletedAt = &now })
}

// Restore brings a deleted session back. It is a 404 when the session is not
// deleted, a 409 while its parent is, a 400 while the parent has no room for it.
func (st *Store) Restore(ctx context.Context, c *auth.Caller, id string, guard write.Guard, x Expand) (*Session, error) {
	if made := write.Ref(ctx); made != "" {
		return st.show(ctx, c, made, x, stored)
	}
	if err := guard.Validate(); err != nil {
		return nil, err
	}
	op, err := st.request(c, x).turn(ctx, id, "session.restored", kindUpdated, func(got write.Items, key table.Key) (*Body, error) {
		b, err := stored(got, key)
		if err == nil && b.DeletedAt == nil {
			err = notFound()
		}
		if err != nil {
			return nil, err
		}
		return b, guard.Check(b.Version, b.UpdatedAt)
	}, func(b *Body, _ wire.Time) { b.DeletedAt = nil })
	if err != nil {
		return nil, err
	}
	return st.run(ctx, op)
}

// turn deletes or restores: pick finds the session and says whether it may be
// done, to does it. A subsession's parent changes along.
func (r *request) turn(ctx context.Context, id, action, kind string,
	pick func(write.Items, table.Key) (*Body, error), to func(*Body, wire.Time)) (write.Op, error) {
	set, err := r.Settings.Load(ctx, r.caller)
	if err != nil {
		return write.Op{}, err
	}
	key := at(r.caller).body(id)
	return write.Op{
		Reads:   []table.Key{key},
		More:    func(got write.Items) []table.Key { return r.company(got, key) },
		Touches: func(got write.Items) []string { return family(got, key, id) },
		Plan: func(ctx context.Context, got write.Items) (*write.Plan, error) {
			before, err := pick(got, key)
			if err != nil {
				return nil, err
			}
			after, now := before.clone(), r.now(before)
			to(after, now)
			steps := []step{{before: before, after: after, action: action, kind: kind}}
			if before.Parent != "" {
				parent, err := parentStep(got, at(r.caller).body(before.Parent), after)
				if err != nil {
					return nil, err
				}
				steps = append(steps, parent)
			}
			return r.plan(ctx, set, r.roster(r.caller, r.expand), got, now, steps...)
		},
	}, nil
}

// family are the sessions that a delete changes: the one, and its parent.
func family(got write.Items, key table.Key, id string) []string {
	if b, err := stored(got, key); err == nil && b.Parent != "" {
		return []string{id, b.Parent}
	}
	return []string{id}
}

// parentStep takes a deleted subsession from the list of its parent, which is at key,
// or puts a restored one back.
func parentStep(got write.Items, key table.Key, sub *Body) (step, error) {
	before, err := stored(got, key)
	if err != nil {
		return step{}, err
	}
	after := before.clone()
	after.Subsessions = slices.DeleteFunc(after.Subsessions, func(id string) bool { return id == sub.ID })
	if sub.DeletedAt == nil {
		if before.DeletedAt != nil {
			return step{}, parentDeleted()
		}
		if len(after.Subsessions) >= maxSubsessions {
			return step{}, tooManySubsessions("parent_session_id")
		}
		after.Subsessions = append(after.Subsessions, sub.ID)
	}
	return step{before: before, after: after, action: kindUpdated, kind: kindUpdated}, nil
}
