package resource

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/record"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Collection is the records of a kind that an owner has.
type Collection[R any, P Record[R], D Draft[P]] struct {
	Store
	kind  *Kind[R, P, D]
	owner Owner
	// starting reports that the parent is created in the same transaction.
	starting bool
}

// Of returns the records of an owner.
func (k *Kind[R, P, D]) Of(s Store, o Owner) Collection[R, P, D] {
	return Collection[R, P, D]{Store: s, kind: k, owner: o}
}

// Owner returns the owner of the records.
func (c Collection[R, P, D]) Owner() Owner { return c.owner }

func (c Collection[R, P, D]) key(id string) table.Key { return c.owner.Key(c.kind.Name, id) }

func (c Collection[R, P, D]) countKey() table.Key { return c.owner.CountKey(c.kind.Name) }

// refuseBuiltIn returns the 409 of a change of a built-in record.
func (c Collection[R, P, D]) refuseBuiltIn(id string) error {
	if c.kind.builtIn(c.owner, id) == nil {
		return nil
	}
	return apierr.Conflict(CodeBuiltIn, fmt.Sprintf("A built-in %s cannot be changed or deleted.", strings.ToLower(c.kind.Title)))
}

// Get returns a record: 404 when the record is missing or deleted.
func (c Collection[R, P, D]) Get(ctx context.Context, id string) (P, error) {
	if r := c.kind.builtIn(c.owner, id); r != nil {
		return r, nil
	}
	key := c.key(id)
	got, err := c.Table.GetMany(ctx, slices.Concat(c.parentKeys(), []table.Key{key}, c.shownKeys(id)))
	if err != nil {
		return nil, err
	}
	if err := c.checkParent(record.Updated, got); err != nil {
		return nil, err
	}
	stored, ok := got[key]
	if !ok {
		return nil, c.kind.notFound()
	}
	r, err := decode[R, P](stored)
	if err == nil && c.outside(r) {
		return nil, c.kind.notFound()
	}
	return c.shownFrom(ctx, got, r, err)
}

// shown finishes a record and completes it for an answer.
func (c Collection[R, P, D]) shown(ctx context.Context, r P, err error) (P, error) {
	if err != nil || r == nil {
		return r, err
	}
	got, err := c.Table.GetMany(ctx, c.shownKeys(r.RecordID()))
	return c.shownFrom(ctx, got, r, err)
}

// shownFrom is shown with the items of shownKeys among got.
func (c Collection[R, P, D]) shownFrom(ctx context.Context, got write.Items, r P, err error) (P, error) {
	if r, err = c.finished(ctx, r, err); err != nil {
		return nil, err
	}
	return r, c.completeFrom(ctx, got, r)
}

// finished finishes a record.
func (c Collection[R, P, D]) finished(ctx context.Context, r P, err error) (P, error) {
	if err != nil || r == nil || c.kind.Finish == nil {
		return r, err
	}
	return c.kind.Finish(ctx, c, r)
}

// Replay returns the record that an earlier request under the same Idempotency-Key wrote, deleted or not; nil
// for a request that is no repetition.
func (c Collection[R, P, D]) Replay(ctx context.Context) (P, error) {
	r, err := c.records(false).Replay(ctx)
	return c.shown(ctx, r, err)
}

// Acting returns the operation that changes the record of an id by an act of the kind, such as a commit. edit may
// run several times.
func (c Collection[R, P, D]) Acting(act record.Verb, id string, edit func(*R) error) write.Op {
	return c.records(false).Changing(id, record.Change[R]{Verb: act, Edit: edit})
}

// Again returns the writes of an act that leads a stored record to its next version, without the rules of the kind. after
// is a changed copy of before, and gets time and version.
func (c Collection[R, P, D]) Again(ctx context.Context, act record.Verb, before, after P) ([]table.Write, error) {
	s, h := storage[R, P, D]{c, false}, after.header()
	step := record.Step[R]{Verb: act, Before: before, After: after, Was: table.Item{Key: s.Key(h.ID, h.DeletedAt != nil), Version: h.version}}
	h.version++
	h.UpdatedAt = wire.After(h.UpdatedAt, c.Now())
	noted := s.noted(ctx, step)
	writes, err := s.store(step)
	return append(writes, noted.Write()), err
}

// Starting returns the operation that creates the record of an id in the transaction that creates the owner's parent.
func (c Collection[R, P, D]) Starting(id string, draft D) (write.Op, error) {
	c.starting = true
	op, _, err := c.creation(id, draft)
	return op, err
}

// Creating returns the operation that Create does, for a transaction of several operations.
func (c Collection[R, P, D]) Creating(draft D) (write.Op, error) {
	op, _, err := c.creation(c.NewID(), draft)
	return op, err
}

// Changing returns the operation that Change does, for a transaction of several operations.
func (c Collection[R, P, D]) Changing(id string, ch Change[D]) (write.Op, error) {
	step, err := c.step(id, ch)
	return c.records(ch.Force).Changing(id, step), err
}

// Create stores a new record of the draft. It returns a 400 for a draft that breaks a rule,
// a 404 without the parent, and a 409 for a deleted parent, a unique value that is taken, or
// a record too many.
func (c Collection[R, P, D]) Create(ctx context.Context, draft D) (P, error) {
	if r, err := c.Replay(ctx); r != nil || err != nil {
		return r, err
	}
	op, r, err := c.creation(c.NewID(), draft)
	if err != nil {
		return nil, err
	}
	if err := c.checkDraft(ctx, &draft, true); err != nil {
		return nil, err
	}
	if err := c.place(ctx, r); err != nil {
		return nil, err
	}
	created, err := write.Run[*R](ctx, c.Table, op)
	return c.shownFrom(ctx, nil, created, err) // Nothing has numbers for a new record.
}

// creation returns the record that a draft makes under an id, and the operation that stores the record.
func (c Collection[R, P, D]) creation(id string, draft D) (write.Op, P, error) {
	if err := checkBody(draft); err != nil {
		return nil, nil, err
	}
	r := P(new(R))
	r.header().ID = id
	if err := c.apply(draft, Edit[P]{Owner: c.owner, Record: r, New: true}, record.Created); err != nil {
		return nil, nil, err
	}
	op := c.records(false).Creation(r)
	if c.kind.Also == nil {
		return op, r, nil
	}
	also, err := c.kind.Also(c.Store, c.owner, r)
	return write.Together(op, also), r, err
}

// maxOrder is the last place that a client can send.
const maxOrder = 100_000

// place gives a new record without a place the one after the last record beside it. Of two new records at a time, both
// may get the same place, and so do all after the last place. The younger record comes later.
func (c Collection[R, P, D]) place(ctx context.Context, r P) error {
	if c.kind.Order == nil || *c.kind.Order(r) != 0 {
		return nil
	}
	all, err := c.read(ctx, nil)
	for _, other := range all {
		if c.kind.Above == nil || c.kind.Above(other) == c.kind.Above(r) {
			*c.kind.Order(r) = max(*c.kind.Order(r), *c.kind.Order(other))
		}
	}
	*c.kind.Order(r) = min(*c.kind.Order(r)+1, maxOrder)
	return err
}

// checkDraft returns the 400 of Store.CheckDraft. draft is nil for a change without a draft.
func (c Collection[R, P, D]) checkDraft(ctx context.Context, draft *D, isNew bool) error {
	if c.CheckDraft == nil || draft == nil {
		return nil
	}
	return c.CheckDraft(ctx, draft, isNew)
}

// Change is a change of a record that exists.
type Change[D any] struct {
	Verb record.Verb
	// Draft has the properties to update; nil for other verbs.
	Draft *D
	// Guard names the version that the client has seen.
	Guard write.Guard
	// Force deletes a record although MayDelete refuses.
	Force bool
}

// Change changes the record of an id and returns its next version. It returns a 404 without
// the record or the parent, a 400 for a draft that breaks a rule, and a 409 for a guard that
// fails and for the rules of the kind. A restore adds the conflicts of Create.
func (c Collection[R, P, D]) Change(ctx context.Context, id string, ch Change[D]) (P, error) {
	if ch.Verb == record.Restored {
		if r, err := c.Replay(ctx); r != nil || err != nil {
			return r, err
		}
	}
	step, err := c.step(id, ch)
	if err != nil {
		return nil, err
	}
	if err := c.checkDraft(ctx, ch.Draft, false); err != nil {
		return nil, err
	}
	changed, err := c.records(ch.Force).Change(ctx, id, step)
	return c.shown(ctx, changed, err)
}

// step returns the change of the record of an id. It refuses a draft whose body breaks a rule, and a built-in record.
func (c Collection[R, P, D]) step(id string, ch Change[D]) (step record.Change[R], err error) {
	step = record.Change[R]{Verb: ch.Verb, Guard: ch.Guard}
	if ch.Draft != nil {
		step.Edit = func(r *R) error { return c.apply(*ch.Draft, Edit[P]{Owner: c.owner, Record: r}, ch.Verb) }
		err = checkBody(*ch.Draft)
	}
	if err == nil {
		err = c.refuseBuiltIn(id)
	}
	return step, err
}

// apply writes a draft into a record. It returns the 400 of a draft that breaks a rule, and of a record that becomes
// too long, before the conflicts of the write. A record at the bound can still be deleted.
func (c Collection[R, P, D]) apply(draft D, e Edit[P], verb record.Verb) error {
	if err := draft.Apply(e); err != nil || verb == record.Deleted {
		return err
	}
	return c.bound(e.Record, maxBytes)
}

func (c Collection[R, P, D]) records(force bool) record.Records[R] {
	return record.Records[R]{Table: c.Table, Now: c.Now, Storage: storage[R, P, D]{c, force}}
}

// Limit returns how many records there may be.
func (c Collection[R, P, D]) Limit() int {
	if c.Most > 0 {
		return min(c.kind.Max, int(c.Most))
	}
	return c.kind.Max
}

// maxBytes bounds the JSON of a record. A list without pages is answered without compression if
// all its records together have 3 MB of JSON: each quote and backslash counts twice on the way
// through Lambda (size.Payload). So a kind of 200 records without pages must bound its records
// to half of maxBytes, as rules do with their parameters.
const maxBytes = 24 << 10

// bound returns the 400 of a record that has more than so many bytes.
func (c Collection[R, P, D]) bound(r P, most int) error {
	data, err := wire.Encode(r)
	if err == nil && len(data) > most {
		return apierr.Invalid("", "The %s must not be longer than %d bytes of JSON.", strings.ToLower(c.kind.Title), most)
	}
	return err
}
