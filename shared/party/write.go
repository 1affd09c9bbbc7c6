package party

import (
	"context"
	"maps"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/field"
	"lectern/shared/settings"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// What is done to a party: the second word of actions and published kinds.
const (
	created       = "created"
	updated       = "updated"
	deleted       = "deleted"
	restored      = "restored"
	associated    = "associated"
	onEvent       = ".event."
	disassociated = "disassociated"
)

// Writing is one write in the making. All that it reads it reads before it plans, in
// the two batches of its operation.
type Writing struct {
	Request
	Set *settings.Snapshot
	// Edit is what is sent; nil for a deletion and a restoration.
	Edit  *Edit
	Guard write.Guard
	// Answer shows the party once it is written, by what was read.
	Answer func(got write.Items, p Party) (any, error)
	// Reads, More and Touches are what the kind adds to those of the operation. before
	// is the party as it was read, without a Body where it was not.
	Reads   []table.Key
	More    func(got write.Items, before Party) []table.Key
	Touches func(got write.Items, before Party) []string
	// Verify holds what is wrong with the body by what was read. Prepare completes the
	// edit by it once the party is found, and Also gives what is written beside it. All
	// may be nil.
	Verify  func(ctx context.Context, got write.Items) error
	Prepare func(got write.Items, before Party) error
	Also    func(ctx context.Context, got write.Items, before, after Party) ([]table.Write, error)

	store   *Store
	members map[string]table.Key
}

// Writing begins a write, with a draft that is checked as far as nothing stored is needed;
// a nil draft is none.
func (st *Store) Writing(ctx context.Context, r Request, d *Draft, ifMatch string) (*Writing, error) {
	guard := write.Guard{IfMatch: ifMatch}
	if d != nil {
		guard.UpdatedAt = d.UpdatedAt
	}
	if err := guard.Validate(); err != nil {
		return nil, err
	}
	set, err := st.Settings.Load(ctx, r.Caller)
	if err != nil {
		return nil, err
	}
	w := &Writing{Request: r, Set: set, Guard: guard, store: st}
	if d == nil {
		return w, nil
	}
	w.Edit = &Edit{Caller: r.Caller, Set: set, Draft: d, kind: st.Kind}
	if err := w.Edit.check(); err != nil {
		return nil, err
	}
	w.members = set.Fields.Members(r.Caller.Org.ID, st.Kind.Module, d.CustomFields.Value)
	w.Reads = slices.Collect(maps.Values(w.members))
	return w, nil
}

// verify holds what is wrong with the body by what was read, and then what the event
// lacks: all that is refused before it is known whether the party is there.
func (w *Writing) verify(ctx context.Context, got write.Items) error {
	if err := field.CheckMembers(got, w.members); err != nil {
		return err
	}
	if w.Verify != nil {
		if err := w.Verify(ctx, got); err != nil {
			return err
		}
	}
	if w.Edit == nil {
		return nil
	}
	return w.Edit.checkFeatures()
}

// Create gives a party a role. find says which; one without a Body is made, with
// the id and the number that number gives. taken is the error where the
// party holds the role, or held it and it was deleted.
func (w *Writing) Create(id string, number func(context.Context) (int64, error), find func(context.Context, write.Items) (Party, error), taken func(p Party, deleted bool) error) write.Op {
	return w.op(id, func(ctx context.Context, got write.Items) (*step, error) {
		before, err := find(ctx, got)
		if err != nil {
			return nil, err
		}
		if before.Here != nil {
			if role, ok := before.Here.Roles[w.Role]; ok {
				return nil, taken(before, role.DeletedAt != nil)
			}
		}
		if before.Body != nil {
			if err := before.Guarded(w.Guard); err != nil {
				return nil, err
			}
		}
		after, err := w.taker(ctx, before, id, number)
		if err != nil {
			return nil, err
		}
		s := &step{before: before, after: after, verb: associated, now: w.now(before), edits: true}
		after.Here.Roles[w.Role] = Role{Since: s.now}
		s.published = w.taking(after.Body)
		if before.Body == nil {
			s.verb = created
		}
		return s, w.edit(got, before, after, s.now)
	})
}

// taker is the party that takes a role, before it does: a copy of the one that is
// there, or a new one.
func (w *Writing) taker(ctx context.Context, before Party, id string, number func(context.Context) (int64, error)) (after Party, err error) {
	if before.Body != nil {
		after = before.clone()
	} else {
		after = Party{Body: &Body{ID: id, Values: map[string]string{}}}
		if after.Number, err = number(ctx); err != nil {
			return Party{}, err
		}
	}
	if after.Here == nil {
		after.Here = &Association{ID: after.ID, Event: w.Caller.Event.ID, Roles: map[string]Role{}}
	}
	return after, nil
}

// taking counts a role taken and gives what is published of it: it is created
// where it is the first of its kind in the organization.
func (w *Writing) taking(b *Body) (published []string) {
	if b.Active[w.Role] == 0 {
		published = []string{w.Role + "." + created}
	}
	b.count(w.Role, 1)
	return append(published, w.Role+onEvent+associated)
}

// leaving is the reverse of taking.
func (w *Writing) leaving(b *Body) (published []string) {
	published = []string{w.Role + onEvent + disassociated}
	if b.count(w.Role, -1); b.Active[w.Role] == 0 {
		published = append(published, w.Role+"."+deleted)
	}
	return published
}

// Update changes the party with an id, which must hold the role.
func (w *Writing) Update(id string) write.Op {
	return w.op(id, func(_ context.Context, got write.Items) (*step, error) {
		s, err := w.step(got, id, updated)
		if err != nil {
			return nil, err
		}
		s.edits = true
		if err := w.edit(got, s.before, s.after, s.now); err != nil {
			return nil, err
		}
		return s, s.before.Guarded(w.Guard)
	})
}

// Delete takes the role from the party with an id, which must hold it.
func (w *Writing) Delete(id string) write.Op { return w.setDeleted(id, deleted) }

// Restore gives a deleted role back; 404 where it is not deleted.
func (w *Writing) Restore(id string) write.Op { return w.setDeleted(id, restored) }

// setDeleted builds the operation that deletes or restores the role.
func (w *Writing) setDeleted(id, verb string) write.Op {
	return w.op(id, func(_ context.Context, got write.Items) (*step, error) {
		s, err := w.step(got, id, verb)
		if err != nil {
			return nil, err
		}
		role := Role{Since: s.before.Here.Roles[w.Role].Since}
		if verb == deleted {
			role.DeletedAt, s.published = &s.now, w.leaving(s.after.Body)
		} else {
			s.published = w.taking(s.after.Body)
		}
		s.after.Here.Roles[w.Role] = role
		return s, s.before.Guarded(w.Guard)
	})
}

// step begins the change of the party with an id, which must hold the role or, for a
// restoration, have it deleted.
func (w *Writing) step(got write.Items, id, verb string) (*step, error) {
	before, err := w.store.Found(w.Caller, got, id)
	if err != nil {
		return nil, err
	}
	there := before.Holds(w.Role)
	if verb == restored {
		there = before.Here != nil && before.Here.Roles[w.Role].DeletedAt != nil
	}
	if !there {
		return nil, NotFound(w.Role)
	}
	return &step{before: before, after: before.clone(), verb: verb, now: w.now(before)}, nil
}

// op is the operation that plans a step for the party of an id.
func (w *Writing) op(id string, plan func(context.Context, write.Items) (*step, error)) write.Op {
	before := func(got write.Items) Party {
		p, err := w.store.Found(w.Caller, got, id)
		if err != nil {
			return Party{} // The plan comes upon the error.
		}
		return p
	}
	op := write.Op{Reads: append(w.store.Keys(w.Caller, id), w.Reads...)}
	if w.More != nil {
		op.More = func(got write.Items) []table.Key { return w.More(got, before(got)) }
	}
	op.Touches = func(got write.Items) []string {
		if w.Touches == nil {
			return []string{id}
		}
		return append([]string{id}, w.Touches(got, before(got))...)
	}
	op.Plan = func(ctx context.Context, got write.Items) (*write.Plan, error) {
		if err := w.verify(ctx, got); err != nil {
			return nil, err
		}
		s, err := plan(ctx, got)
		if err != nil {
			return nil, err
		}
		return w.plan(ctx, got, s)
	}
	return op
}

func (w *Writing) plan(ctx context.Context, got write.Items, s *step) (*write.Plan, error) {
	writes, err := w.writes(ctx, s)
	if err != nil {
		return nil, err
	}
	if w.Also != nil {
		also, err := w.Also(ctx, got, s.before, s.after)
		if err != nil {
			return nil, err
		}
		writes = append(writes, also...)
	}
	answer, err := w.Answer(got, s.after)
	return &write.Plan{Writes: writes, Answer: answer}, err
}

// edit writes what was sent into a party, its own copy.
func (w *Writing) edit(got write.Items, before, after Party, now wire.Time) error {
	if w.Prepare != nil {
		if err := w.Prepare(got, before); err != nil {
			return err
		}
	}
	return w.Edit.apply(after, now)
}

// now is the time of a write: later than the last one of the party, on any event.
func (w *Writing) now(before Party) wire.Time {
	if before.Body == nil {
		return wire.At(w.store.Now())
	}
	return wire.After(before.WrittenAt, w.store.Now())
}

// NotFound is the 404 of a party that does not hold a role.
func NotFound(role string) *apierr.Error { return apierr.NotFound(title(role)) }
