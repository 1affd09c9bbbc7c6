package resource

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/record"
	"lectern/shared/table"
	"lectern/shared/write"
)

// belowPrefix begins the name of the sum that a record of a tree adds to the record above; the id follows. So the numbers of
// a record name the records directly below.
const belowPrefix = "below:"

// below returns the ids of the records directly below a record with these numbers.
func below(numbers map[string]int) (ids []string) {
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		if id, ok := strings.CutPrefix(name, belowPrefix); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// nest completes records with the records below them, whose ids are lower.
func (c Collection[R, P, D]) nest(ctx context.Context, all []P, lower []string) error {
	keys := make([]table.Key, len(lower))
	for i, id := range lower {
		keys[i] = c.key(id)
	}
	next, err := c.stored(ctx, keys)
	if err != nil {
		return err
	}
	if len(next) > 0 {
		if err := c.complete(ctx, next...); err != nil {
			return err
		}
	}
	slices.SortFunc(next, c.kind.Compare)
	nested := map[string][]P{}
	for _, r := range next {
		nested[c.kind.Above(r)] = append(nested[c.kind.Above(r)], r)
	}
	for _, r := range all {
		c.kind.Nest(r, nested[r.RecordID()])
	}
	return nil
}

// directly returns the records directly below the record that the owner names, or those at the top. It returns a 404 if the
// record is missing.
func (c Collection[R, P, D]) directly(all []P) ([]P, error) {
	within := c.owner.Within
	if within != "" && !slices.ContainsFunc(all, func(r P) bool { return r.RecordID() == within }) {
		return nil, c.kind.notFound()
	}
	return slices.DeleteFunc(all, func(r P) bool { return c.kind.Above(r) != within }), nil
}

// outside reports whether a record is not directly below the record that the owner names.
func (c Collection[R, P, D]) outside(r P) bool {
	return c.kind.Above != nil && c.owner.Within != "" && c.kind.Above(r) != c.owner.Within
}

type cascadeInput struct {
	Forced
	Cascade bool `query:"cascade" doc:"Whether to delete all records below too; it needs force=true. Without it a record with records below is a 409."`
}

// cascades is how often a deletion begins again because of new records below.
const cascades = 10

// cascade deletes a record. With force and cascade it deletes all records below first, the lowest first, so that
// each stage of an interrupted deletion is whole and a repetition ends it. The record itself is only deleted
// without any record below.
func (c Collection[R, P, D]) cascade(ctx context.Context, in *cascadeInput) (*R, error) {
	ch := Change[D]{Verb: record.Deleted, Guard: write.Guard{IfMatch: in.IfMatch}, Force: in.Force}
	if !in.Force || !in.Cascade {
		return c.Change(ctx, in.ID, ch)
	}
	for range cascades {
		r, err := c.Get(ctx, in.ID)
		if err == nil {
			err = ch.Guard.Check(r.header().version, r.header().UpdatedAt)
		}
		if err != nil {
			return nil, err
		}
		if err = c.removeBelow(ctx, in.ID); err == nil {
			r, err = c.Change(ctx, in.ID, ch)
		}
		if refused := (*apierr.Error)(nil); !errors.As(err, &refused) || refused.Code != CodeConfirm {
			return r, err
		}
	}
	return nil, apierr.Unavailable()
}

// removeBelow deletes the records below a record, the lowest first. Another request may have deleted them.
func (c Collection[R, P, D]) removeBelow(ctx context.Context, id string) error {
	c.owner.Within = ""
	key := c.owner.SumKey(id, c.kind.Name)
	got, err := c.Table.GetMany(ctx, []table.Key{key})
	if err != nil {
		return err
	}
	numbers, err := DecodeNumbers(got[key])
	if err != nil {
		return err
	}
	for _, lower := range below(numbers) {
		if err := c.removeBelow(ctx, lower); err != nil {
			return err
		}
		if write.Late(ctx) {
			return apierr.Unavailable()
		}
		if _, err := c.records(true).Change(ctx, lower, record.Change[R]{Verb: record.Deleted}); err != nil && !apierr.IsNotFound(err) {
			return err
		}
	}
	return nil
}
