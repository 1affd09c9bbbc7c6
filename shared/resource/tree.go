package resource

import (
	"context"
	"slices"

	"lectern/shared/record"
	"lectern/shared/write"
)

// Tree describes a kind whose records stand below each other. The records of a tree have one owner.
type Tree[P any] struct {
	// Above returns the id of the record above; empty for a record at the top.
	Above func(P) string
	// Nest sets in a record the records directly below, in their order.
	Nest func(P, []P)
	// Number is the name of the Sum that counts the records directly below a record.
	Number string
	// Refuse returns the 409 of a deletion of a record with so many records below.
	Refuse func(count int) error
}

// nest completes the records of a tree with the records below. some are the records to complete, all are the
// records of the owner.
func (c Collection[R, P, D]) nest(some, all []P) {
	below := map[string][]P{}
	for _, r := range all {
		above := c.kind.Tree.Above(r)
		below[above] = append(below[above], r)
	}
	for _, r := range slices.Concat(all, some) {
		c.kind.Tree.Nest(r, below[r.RecordID()])
	}
}

// directly returns the records directly below the record that the owner names, or those at the top. It returns a
// 404 if the record is missing.
func (c Collection[R, P, D]) directly(all []P) ([]P, error) {
	within := c.owner.Within
	if within != "" && !slices.ContainsFunc(all, func(r P) bool { return r.RecordID() == within }) {
		return nil, c.kind.notFound()
	}
	return slices.DeleteFunc(slices.Clone(all), func(r P) bool { return c.kind.Tree.Above(r) != within }), nil
}

// outside reports whether a record does not stand directly below the record that the owner names.
func (c Collection[R, P, D]) outside(r P) bool {
	return c.kind.Tree != nil && c.owner.Within != "" && c.kind.Tree.Above(r) != c.owner.Within
}

type cascadeInput struct {
	Forced
	Cascade bool `query:"cascade" doc:"Whether to delete all records below too; it needs force=true. Without it a record with records below is a 409."`
}

// cascade deletes a record. With force and cascade it deletes all records below first, the lowest first, so that
// each stage of an interrupted deletion is whole and a repetition ends it. The record itself is only deleted
// without any record below.
func (c Collection[R, P, D]) cascade(ctx context.Context, in *cascadeInput) (*R, error) {
	all, err := c.load(ctx)
	if err != nil {
		return nil, err
	}
	guard := write.Guard{IfMatch: in.IfMatch}
	below := c.below(all, in.ID)
	if at := slices.IndexFunc(all, func(r P) bool { return r.RecordID() == in.ID }); at >= 0 && !c.outside(all[at]) && len(below) > 0 {
		if !in.Force || !in.Cascade {
			return nil, c.kind.Tree.Refuse(len(below))
		}
		h := all[at].header()
		if err := guard.Check(h.version, h.UpdatedAt); err != nil {
			return nil, err
		}
		if err := c.removeAll(ctx, below); err != nil {
			return nil, err
		}
	}
	return c.Change(ctx, in.ID, Change[D]{Verb: record.Deleted, Guard: guard, Force: in.Force})
}

// below returns the ids of all records below a record, the lowest first.
func (c Collection[R, P, D]) below(all []P, id string) (ids []string) {
	for _, r := range all {
		if c.kind.Tree.Above(r) == id {
			ids = slices.Concat(ids, c.below(all, r.RecordID()), []string{r.RecordID()})
		}
	}
	return ids
}

func (c Collection[R, P, D]) removeAll(ctx context.Context, ids []string) error {
	c.owner.Within = ""
	for _, id := range ids {
		if _, err := c.Change(ctx, id, Change[D]{Verb: record.Deleted, Force: true}); err != nil {
			return err
		}
	}
	return nil
}
