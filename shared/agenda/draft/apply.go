package draft

import (
	"context"
	"errors"
	"iter"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/idempotency"
	"lectern/shared/resource"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// finish ends a commit that has begun, and returns the committed draft. Several processes may finish at once: each
// placement is done once, in the transaction that changes the session.
func finish(ctx context.Context, in drafts, d *Draft) (*Draft, error) {
	if !d.begun() {
		return d, nil
	}
	claimed, err := d.state()
	if err != nil {
		return nil, err
	}
	o := in.Owner()
	o.Parent = d.ID
	ctx = idempotency.With(change.WithOrigin(ctx, claimed.Origin), nil)
	applied, err := applyAll(ctx, Sessions.Of(in.Store, o))
	if err != nil {
		return nil, err
	}
	ended := *d
	ended.Applied = &applied
	writes, err := in.Again(ctx, appliedAct, d, &ended)
	if err != nil {
		return nil, err
	}
	if err := change.Commit(ctx, in.Table, writes...); err != nil && !errors.Is(err, table.ErrStale) {
		return nil, err
	}
	return in.Get(ctx, d.ID) // Another process may have ended the commit.
}

// applyAll does all placements of a draft, and returns how many sessions the commit has changed.
func applyAll(ctx context.Context, in placements) (applied int, err error) {
	all, err := in.List(ctx)
	if err != nil {
		return 0, err
	}
	var left []write.Entry
	for _, p := range all {
		k, err := p.kept()
		switch {
		case err != nil:
			return 0, err
		case !k.Done:
			left = append(left, write.Entry{ID: p.ID, Op: &apply{in, p}})
		case k.applied():
			applied++
		}
	}
	for _, r := range inBulks(ctx, in.Table, left) {
		if r.Err != nil {
			return 0, r.Err
		}
		if r.Answer == true {
			applied++
		}
	}
	return applied, nil
}

// inBulks writes entries in their order, as many at a time as a bulk has operations, and yields the index and the
// result of each. A bulk is written after the caller has taken the results of the bulk before. An error of a whole bulk is the last
// result.
func inBulks(ctx context.Context, t *table.Table, all []write.Entry) iter.Seq2[int, write.Result] {
	return func(yield func(int, write.Result) bool) {
		first := 0
		for some := range slices.Chunk(all, resource.MaxOperations) {
			results, err := write.Bulk(ctx, t, write.Batch{Entries: some})
			if err != nil {
				results = []write.Result{{Err: err}}
			}
			for i, r := range results {
				if !yield(first+i, r) {
					return
				}
			}
			if err != nil {
				return
			}
			first += len(some)
		}
	}
}

// apply is the operation that puts a session into the place of a placement, and marks the placement as done. The
// answer is whether the session has changed.
type apply struct {
	in        placements
	placement *Session
}

func (a *apply) key() table.Key { return a.in.Owner().Key(Sessions.Name, a.placement.ID) }

// Reads returns the keys of the placement, the session and the room. A committed draft never changes them.
func (a *apply) Reads() []table.Key { return append(a.placement.named(a.in.Owner()), a.key()) }

// More returns nil.
func (a *apply) More(write.Items) []table.Key { return nil }

// Touches returns the session: a draft has each session once.
func (a *apply) Touches(write.Items) []string { return []string{a.placement.SessionID} }

// Plan leaves a session alone whose change has become blocked since the checks, and keeps the change.
func (a *apply) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	stored, found := got[a.key()]
	if !found {
		return &write.Plan{Answer: false}, nil // The event is being purged.
	}
	p, err := Sessions.Decode(stored)
	if err != nil {
		return nil, err
	}
	k, err := p.kept()
	if err != nil || k.Done {
		return &write.Plan{Answer: k.applied()}, err
	}
	t, err := p.target(a.in.Owner(), got)
	if err != nil {
		return nil, err
	}
	if k.Change, err = p.change(t); err != nil {
		return nil, err
	}
	plan := &write.Plan{}
	if k.Done = true; k.applied() {
		if plan.Writes, err = a.writes(ctx, t.body); err != nil {
			return nil, err
		}
	}
	done := *p
	if err := done.keep(k); err != nil {
		return nil, err
	}
	writes, err := a.in.Again(ctx, appliedAct, p, &done)
	plan.Writes, plan.Answer = append(plan.Writes, writes...), k.applied()
	return plan, err
}

// writes returns the writes that put a session into the place.
func (a *apply) writes(ctx context.Context, before *session.Body) ([]table.Write, error) {
	c := session.Updated(before)
	a.placement.into(c.After)
	o := a.in.Owner()
	w := session.Writer{Table: a.in.Table, Place: session.Of(o.Org, o.Event)}
	return w.Writes(ctx, wire.At(a.in.Now()), c)
}

// Resume finishes a commit that is open. A deleted draft is no error.
func Resume(ctx context.Context, s resource.Store, o resource.Owner, id string) error {
	_, err := Drafts.Of(s, o).Get(ctx, id)
	if apierr.IsNotFound(err) {
		return nil
	}
	return err
}
