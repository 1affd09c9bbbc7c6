package party

import (
	"context"
	"maps"
	"slices"

	"lectern/shared/api/check"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/bulk"
	"lectern/shared/field"
	"lectern/shared/settings"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Rules has what differs between contacts and accounts in a write. D is the draft that a
// client sends. The Writer calls Check and Keys before the operation reads, and Stored for a request
// that was done before; the operation calls the others. Sent is nil for a delete and a restore.
type Rules[D any] interface {
	// Check refuses a draft that no record allows, and returns the part of the draft that
	// every party has. Its Existing names the party to which a create gives the role.
	Check(d *D, create bool) (*Draft, error)
	// Keys returns more keys to read. It returns a 400 for a draft that names records wrongly.
	Keys(o *Operation[D]) ([]table.Key, error)
	// More returns the keys that follow from the items of the first batch.
	More(o *Operation[D], got write.Items) []table.Key
	// Touches returns names to wait for, beside the party's id (write.Op).
	Touches(o *Operation[D], got write.Items) []string
	// Verify returns the list of contacts in a draft, nil for a draft without a list, and the
	// 400 of a draft that the items contradict. It runs before the operation knows whether the
	// party exists.
	Verify(ctx context.Context, o *Operation[D], got write.Items) (Contacts, error)
	// Taker returns the party to which a create gives the role, without a Body for a new
	// record. It returns the 409 of a party that has the role, or had it and was deleted.
	Taker(ctx context.Context, o *Operation[D], got write.Items) (Party, error)
	// Also returns the writes of other items in the same transaction.
	Also(ctx context.Context, o *Operation[D], got write.Items, before, after Party) ([]table.Write, error)
	// Show renders the party as it is after the write.
	Show(o *Operation[D], got write.Items, after Party) (any, error)
	// Stored renders parties that were ever associated with the event, deleted or not, by
	// id. It answers a request that was done before.
	Stored(ctx context.Context, ids []string) (map[string]any, error)
}

// Contacts is the list of contacts in the draft of an account. After returns the contacts of
// the account after the write.
type Contacts interface {
	After(before Party) ([]Relation, error)
}

// Request is a request that writes parties of one kind in one role.
type Request struct {
	Caller  *auth.Caller
	Role    string
	Expand  Expand
	store   *Store
	numbers *write.Numbers
}

// NewRequest begins a request.
func (st *Store) NewRequest(c *auth.Caller, role string, x Expand) Request {
	room := st.Caps.Request(st.Kind.Rows(c.Org.ID, 0), st.Kind.Cap)
	return Request{c, role, x, st, write.NewNumbers(st.Table, st.Kind.NumberKey(c.Org.ID), room.Admit)}
}

// Writer does the writes of one request, singly and in bulk. T is the record as answered.
type Writer[T, D any] struct {
	Request
	Rules Rules[D]
}

// Create gives the role to the party that the draft describes.
func (w *Writer[T, D]) Create(ctx context.Context, d *D) (*T, error) {
	return w.run(ctx, created, w.store.NewID(), d, "")
}

// Update changes the sent values of a party, which must hold the role.
func (w *Writer[T, D]) Update(ctx context.Context, id string, d *D, ifMatch string) (*T, error) {
	return w.run(ctx, updated, id, d, ifMatch)
}

// Delete takes the role from a party until it is restored. Other roles stay.
func (w *Writer[T, D]) Delete(ctx context.Context, id, ifMatch string) (*T, error) {
	return w.run(ctx, deleted, id, nil, ifMatch)
}

// Restore gives a deleted role back; 404 if the role is not deleted.
func (w *Writer[T, D]) Restore(ctx context.Context, id, ifMatch string) (*T, error) {
	return w.run(ctx, restored, id, nil, ifMatch)
}

// run does one operation, unless an earlier request with the Idempotency-Key did: then run
// shows the record of that request.
func (w *Writer[T, D]) run(ctx context.Context, verb, id string, d *D, ifMatch string) (*T, error) {
	if before := write.Ref(ctx); before != "" {
		return w.shown(ctx, before)
	}
	op, err := w.operation(ctx, verb, id, d, ifMatch)
	if err != nil {
		return nil, err
	}
	return write.Run[*T](ctx, w.store.Table, op)
}

// shown renders the record that an earlier request wrote.
func (w *Writer[T, D]) shown(ctx context.Context, id string) (*T, error) {
	stored, err := w.Rules.Stored(ctx, []string{id})
	if err != nil {
		return nil, err
	}
	shown, ok := stored[id].(*T)
	if !ok {
		return nil, NotFound(w.Role)
	}
	return shown, nil
}

// Bulk does up to 100 operations in one role (gaps.md section 3). fail renders an error.
func Bulk[T, D, E any](ctx context.Context, w *Writer[T, D], req bulk.Request, fail func(*apierr.Error) E) (*bulk.Response[T, E], error) {
	return bulk.Run[T](ctx, w.store.Table, req, bulk.Maker{
		NewID: w.store.NewID, Create: w.create, Update: w.update, Delete: w.delete, Again: w.Rules.Stored,
	}, fail)
}

func (w *Writer[T, D]) create(ctx context.Context, id string, data bulk.Data) (write.Op, error) {
	return w.decoded(ctx, created, id, data)
}

func (w *Writer[T, D]) update(ctx context.Context, id string, data bulk.Data) (write.Op, error) {
	return w.decoded(ctx, updated, id, data)
}

func (w *Writer[T, D]) delete(ctx context.Context, id string) (write.Op, error) {
	return w.operation(ctx, deleted, id, nil, "")
}

func (w *Writer[T, D]) decoded(ctx context.Context, verb, id string, data bulk.Data) (write.Op, error) {
	d, err := check.Decode[D](data)
	if err != nil {
		return nil, err
	}
	return w.operation(ctx, verb, id, d, "")
}

// operation builds one operation and makes the checks that need no stored item.
func (w *Writer[T, D]) operation(ctx context.Context, verb, id string, d *D, ifMatch string) (write.Op, error) {
	o := &Operation[D]{Request: w.Request, ID: id, Sent: d, rules: w.Rules, verb: verb, guard: write.Guard{IfMatch: ifMatch}}
	draft := &Draft{}
	var err error
	if d != nil {
		if draft, err = w.Rules.Check(d, o.Creates()); err != nil {
			return nil, err
		}
		o.guard.UpdatedAt = draft.UpdatedAt
	}
	if err := o.guard.Validate(); err != nil {
		return nil, err
	}
	if o.Set, err = w.store.Settings.Load(ctx, w.Caller); err != nil {
		return nil, err
	}
	o.edit = edit{w.Caller, o.Set, draft, w.store.Kind}
	if err := o.edit.check(); err != nil {
		return nil, err
	}
	if o.Creates() && draft.Existing != "" {
		o.ID = draft.Existing
	}
	others, err := w.Rules.Keys(o)
	if err != nil {
		return nil, err
	}
	if o.Creates() && draft.Existing == "" {
		o.number = w.numbers.Next(id)
	}
	o.members = o.Set.Fields.Members(w.Caller.Org.ID, w.store.Kind.Module, draft.CustomFields.Value)
	o.keys = slices.Concat(w.store.Keys(w.Caller, o.ID), slices.Collect(maps.Values(o.members)), others)
	return o, nil
}

// Operation is one write of one party (write.Op). Sent is nil for a delete and a restore.
type Operation[D any] struct {
	Request
	ID      string
	Sent    *D
	Set     *settings.Snapshot
	rules   Rules[D]
	verb    string
	guard   write.Guard
	edit    edit
	members map[string]table.Key
	keys    []table.Key
	number  *write.Number
}

// Creates reports whether the operation creates a record or gives the role to another.
func (o *Operation[D]) Creates() bool { return o.verb == created }

// Reads returns the keys of the party and of the members and contacts that the draft names.
func (o *Operation[D]) Reads() []table.Key { return o.keys }

// More returns the keys that follow from these items.
func (o *Operation[D]) More(got write.Items) []table.Key { return o.rules.More(o, got) }

// Touches returns the party's id and the names that the rules add.
func (o *Operation[D]) Touches(got write.Items) []string {
	return append([]string{o.ID}, o.rules.Touches(o, got)...)
}

// Before decodes the party as it was read; without a Body if it was not read, or cannot be
// used. Plan returns the error.
func (o *Operation[D]) Before(got write.Items) Party {
	p, err := o.store.Found(o.Caller, got, o.ID)
	if err != nil {
		return Party{}
	}
	return p
}

// Plan checks the draft by the items, changes the party and returns the transaction with
// the party as the answer.
func (o *Operation[D]) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	if err := field.CheckMembers(got, o.members); err != nil {
		return nil, err
	}
	contacts, err := o.rules.Verify(ctx, o, got)
	if err != nil {
		return nil, err
	}
	if err := o.edit.checkFeatures(); err != nil {
		return nil, err
	}
	s, err := o.step(ctx, got, contacts)
	if err != nil {
		return nil, err
	}
	writes, err := s.writes(ctx)
	if err != nil {
		return nil, err
	}
	if s.before.Body != nil {
		if err := s.before.guarded(o.guard); err != nil {
			return nil, err
		}
	}
	also, err := o.rules.Also(ctx, o, got, s.before, s.after)
	if err != nil {
		return nil, err
	}
	answer, err := o.rules.Show(o, got, s.after)
	return &write.Plan{Writes: append(writes, also...), Answer: answer}, err
}

// step changes the party in memory.
func (o *Operation[D]) step(ctx context.Context, got write.Items, contacts Contacts) (*step, error) {
	if o.Creates() {
		return o.enroll(ctx, got, contacts)
	}
	before, err := o.store.Found(o.Caller, got, o.ID)
	if err != nil {
		return nil, err
	}
	found := before.Holds(o.Role)
	if o.verb == restored {
		found = before.Association != nil && before.Association.Roles[o.Role].DeletedAt != nil
	}
	if !found {
		return nil, NotFound(o.Role)
	}
	s := o.newStep(before, before.clone())
	role := Role{Since: before.Association.Roles[o.Role].Since}
	switch o.verb {
	case updated:
		err = o.apply(s, contacts)
	case deleted:
		role.DeletedAt = &s.now
		s.leave(role)
	case restored:
		s.take(role)
	}
	return s, err
}

// enroll gives the role to the party that the rules find, or to a new record.
func (o *Operation[D]) enroll(ctx context.Context, got write.Items, contacts Contacts) (*step, error) {
	before, err := o.rules.Taker(ctx, o, got)
	if err != nil {
		return nil, err
	}
	after := Party{Body: &Body{ID: o.ID, Values: map[string]string{}}}
	if before.Body != nil {
		after = before.clone()
	} else if after.Number, err = o.number.Take(ctx); err != nil {
		return nil, err
	}
	if after.Association == nil {
		after.Association = &Association{ID: after.ID, Event: o.Caller.Event.ID, Roles: map[string]Role{}}
	}
	s := o.newStep(before, after)
	if before.Body != nil {
		s.verb = associated
	}
	s.take(Role{Since: s.now})
	return s, o.apply(s, contacts)
}

func (o *Operation[D]) newStep(before, after Party) *step {
	s := &step{Request: o.Request, set: o.Set, before: before, after: after, verb: o.verb, now: wire.At(o.store.Now())}
	if before.Body != nil {
		s.now = wire.After(before.WrittenAt, o.store.Now())
	}
	return s
}

// apply writes the draft into the party.
func (o *Operation[D]) apply(s *step, contacts Contacts) error {
	s.edits = true
	if contacts != nil {
		relations, err := contacts.After(s.before)
		if err != nil {
			return err
		}
		s.after.Association.relate(relations, s.now)
	}
	return o.edit.apply(s.after, s.now)
}

// NotFound returns the 404 of a party that does not hold a role.
func NotFound(role string) *apierr.Error { return apierr.NotFound(Title(role)) }
