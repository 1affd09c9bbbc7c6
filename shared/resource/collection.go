package resource

import (
	"cmp"
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
}

// Of returns the records of an owner.
func (k *Kind[R, P, D]) Of(s Store, o Owner) Collection[R, P, D] { return Collection[R, P, D]{s, k, o} }

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
	got, err := c.Table.GetMany(ctx, append(c.kind.parentKeys(c.owner), key))
	if err != nil {
		return nil, err
	}
	if err := c.kind.checkParent(c.owner, record.Updated, got); err != nil {
		return nil, err
	}
	stored, ok := got[key]
	if !ok {
		return nil, c.kind.notFound()
	}
	r, err := decode[R, P](stored)
	return c.shown(ctx, r, err)
}

// shown finishes a record and completes it for an answer.
func (c Collection[R, P, D]) shown(ctx context.Context, r P, err error) (P, error) {
	if err != nil || r == nil {
		return r, err
	}
	if c.kind.Finish != nil {
		if r, err = c.kind.Finish(ctx, c, r); err != nil {
			return nil, err
		}
	}
	c.complete(r)
	return r, nil
}

// complete completes a record for an answer.
func (c Collection[R, P, D]) complete(r P) {
	if c.kind.Show != nil {
		c.kind.Show(r, c.Store, c.owner)
	}
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
	step := record.Step[R]{Verb: act, Before: before, After: after, Was: table.Item{Key: c.key(h.ID), Version: h.version}}
	h.version++
	h.UpdatedAt = wire.After(h.UpdatedAt, c.Now())
	noted := s.noted(ctx, step)
	writes, err := s.store(step)
	return append(writes, noted.Write()), err
}

// last follows all ids in a sort key.
const last = "~"

// List returns the records that are not deleted, in the order of their creation.
func (c Collection[R, P, D]) List(ctx context.Context) ([]P, error) {
	got, err := c.Table.GetMany(ctx, c.kind.parentKeys(c.owner))
	if err != nil {
		return nil, err
	}
	if err := c.kind.checkParent(c.owner, record.Updated, got); err != nil {
		return nil, err
	}
	all := []P{}
	for stored, err := range c.Table.Between(ctx, c.owner.Partition(), c.key("").SK, c.key(last).SK) {
		if err != nil {
			return nil, err
		}
		r, err := decode[R, P](stored)
		r, err = c.shown(ctx, r, err)
		if apierr.IsNotFound(err) {
			continue // Others have deleted the record while Finish was at work.
		}
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b P) int {
		x, y := a.header(), b.header()
		return cmp.Or(x.CreatedAt.Compare(y.CreatedAt.Time), cmp.Compare(x.ID, y.ID))
	})
	if c.kind.BuiltIn != nil {
		all = append(c.kind.BuiltIn(c.owner), all...)
	}
	return all, nil
}

// Create stores a new record of the draft. It returns a 400 for a draft that breaks a rule,
// a 404 without the parent, and a 409 for a deleted parent, a unique value that is taken, or
// a record too many.
func (c Collection[R, P, D]) Create(ctx context.Context, draft D) (P, error) {
	if r, err := c.Replay(ctx); r != nil || err != nil {
		return r, err
	}
	r, err := c.made(c.NewID(), draft)
	if err != nil {
		return nil, err
	}
	created, err := c.records(false).Create(ctx, r)
	return c.shown(ctx, created, err)
}

// made returns the record that a draft makes under an id.
func (c Collection[R, P, D]) made(id string, draft D) (P, error) {
	if err := checkBody(draft); err != nil {
		return nil, err
	}
	r := P(new(R))
	r.header().ID = id
	return r, c.apply(draft, Edit[P]{Owner: c.owner, Record: r, New: true})
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
	step, err := c.step(ch)
	if err == nil {
		err = c.refuseBuiltIn(id)
	}
	if err != nil {
		return nil, err
	}
	changed, err := c.records(ch.Force).Change(ctx, id, step)
	return c.shown(ctx, changed, err)
}

// step returns the change of a stored record. It refuses a draft whose body breaks a rule.
func (c Collection[R, P, D]) step(ch Change[D]) (step record.Change[R], err error) {
	step = record.Change[R]{Verb: ch.Verb, Guard: ch.Guard}
	if ch.Draft == nil {
		return step, nil
	}
	step.Edit = func(r *R) error { return c.apply(*ch.Draft, Edit[P]{Owner: c.owner, Record: r}) }
	return step, checkBody(*ch.Draft)
}

func (c Collection[R, P, D]) records(force bool) record.Records[R] {
	return record.Records[R]{Table: c.Table, Now: c.Now, Storage: storage[R, P, D]{c, force}}
}

// most returns how many records there may be.
func (c Collection[R, P, D]) most() int {
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

// apply writes a draft into a record. It returns the 400 of a draft that breaks a rule, and
// of a record that gets too long.
func (c Collection[R, P, D]) apply(draft D, e Edit[P]) error {
	if err := draft.Apply(e); err != nil {
		return err
	}
	data, err := wire.Encode(e.Record)
	if err == nil && len(data) > maxBytes {
		return apierr.Invalid("", "The %s must not be longer than %d bytes of JSON.", strings.ToLower(c.kind.Title), maxBytes)
	}
	return err
}
