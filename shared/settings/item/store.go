package item

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Store writes the settings of one kind.
type Store struct {
	Table *table.Table
	Now   func() time.Time
	// Kind begins the sort keys and names the record in changes, such as tracks.
	Kind string
	// Title names the record in messages, such as Track.
	Title string
	// Limit bounds the settings of the kind, and Used is what there is of them.
	Limit Limit
	Used  Used
}

// Verb is what a change does to a setting that exists.
type Verb string

// Updated and Deleted are for a setting that is not deleted, Restored is for one
// that is; any other setting is not found.
const (
	Updated  Verb = "updated"
	Deleted  Verb = "deleted"
	Restored Verb = "restored"

	created Verb = "created"
)

// Change is one change of a setting of type P.
type Change[P any] struct {
	Verb Verb
	// Guard is what the client says about the version it has seen.
	Guard write.Guard
	// Edit changes the record; nil changes nothing beside what Verb says. It may
	// run several times, each on a fresh copy. Its error is returned unchanged.
	Edit func(P) error
}

// Create stores a new setting under the id it carries, in one transaction with
// also, and gives what show makes of it. Times and version are filled in.
func Create[R any, P Record[R], A any](
	ctx context.Context, s Store, at Place, r P, show func(P) A, also ...table.Write,
) (A, error) {
	head := r.Head()
	*head.CreatedAt, *head.Version = wire.At(s.Now()), 1
	*head.UpdatedAt = *head.CreatedAt
	plan := func(ctx context.Context, _ write.Items) (*write.Plan, error) {
		stored, err := encode(at.Key(s.Kind, *head.ID), *head.Version, r)
		if err == nil {
			err = s.admit(at, 1, size(stored))
		}
		if err != nil {
			return nil, err
		}
		return s.plan(ctx, at, created, r.Head(), nil, show(r), append(also, table.Insert(stored))), nil
	}
	return run[A](ctx, s, write.Op{Plan: plan})
}

// Do changes the setting with the given id, in one transaction with also, and
// gives what show makes of it: 404 when there is none, 409 when the guard fails.
func Do[R any, P Record[R], A any](
	ctx context.Context, s Store, at Place, id string, c Change[P], show func(P) A, also ...table.Write,
) (A, error) {
	key := at.Key(s.Kind, id)
	plan := func(ctx context.Context, got write.Items) (*write.Plan, error) {
		was, ok := got[key]
		if !ok {
			return nil, apierr.NotFound(s.Title)
		}
		before, err := Decode[R, P](was)
		if err != nil {
			return nil, err
		}
		after, err := edited[R](s, was, c)
		if err != nil {
			return nil, err
		}
		stored, err := encode(key, *after.Head().Version, remaining[R](after))
		if err == nil {
			err = s.grow(at, c.Verb, size(stored)-size(was))
		}
		if err != nil {
			return nil, err
		}
		return s.plan(ctx, at, c.Verb, after.Head(), change.Diff(before, after), show(after),
			append(also, table.Replace(stored, was.Version))), nil
	}
	return run[A](ctx, s, write.Op{Reads: []table.Key{key}, Plan: plan})
}

// grow refuses a change by which a setting gets larger, or is there again, over a bound.
func (s Store) grow(at Place, verb Verb, bytes int) error {
	switch verb {
	case Deleted:
		return nil
	case Restored:
		return s.admit(at, 1, bytes)
	}
	return s.admit(at, 0, bytes)
}

// remaining returns what is stored of a setting: of a deleted one what remains.
func remaining[R any, P Record[R]](r P) any {
	if *r.Head().DeletedAt != nil {
		return r.Remains()
	}
	return r
}

// Replay shows the setting that an earlier request with the same Idempotency-Key has
// written: 404 when it was deleted since and nothing is left to show. Replayed is false
// for a request that is not a repetition.
func Replay[R any, P Record[R], A any](ctx context.Context, s Store, at Place, show func(P) A) (answer A, replayed bool, err error) {
	id := write.Ref(ctx)
	if id == "" {
		return answer, false, nil
	}
	stored, err := s.Table.Get(ctx, at.Key(s.Kind, id))
	if errors.Is(err, table.ErrNotFound) {
		err = apierr.NotFound(s.Title)
	}
	if err != nil {
		return answer, true, err
	}
	r, err := Decode[R, P](stored)
	if err == nil && r.Head().CreatedAt.IsZero() {
		err = apierr.NotFound(s.Title)
	}
	if err != nil {
		return answer, true, err
	}
	return show(r), true, nil
}

// edited is the next version of a stored setting.
func edited[R any, P Record[R]](s Store, was table.Item, c Change[P]) (P, error) {
	r, err := Decode[R, P](was)
	if err != nil {
		return nil, err
	}
	head := r.Head()
	if deleted := *head.DeletedAt != nil; deleted != (c.Verb == Restored) {
		return nil, apierr.NotFound(s.Title)
	}
	if c.Edit != nil {
		if err := c.Edit(r); err != nil {
			return nil, err
		}
	}
	// Last, since a body that is wrong in itself is a 400 before it is a 409.
	if err := c.Guard.Check(*head.Version, *head.UpdatedAt); err != nil {
		return nil, err
	}
	*head.Version++
	*head.UpdatedAt = wire.After(*head.UpdatedAt, s.Now())
	*head.DeletedAt = nil
	if c.Verb == Deleted {
		at := *head.UpdatedAt
		*head.DeletedAt = &at
	}
	return r, nil
}

// plan completes the writes of a setting's new version: the settings version of
// its owner goes up by what Counted counts for it.
func (s Store) plan(
	ctx context.Context, at Place, verb Verb, head Head, values []change.Value, answer any, writes []table.Write,
) *write.Plan {
	record := change.New(ctx, change.Record{
		At: *head.UpdatedAt, Org: at.Org, Event: at.Event, Action: s.Kind + "." + string(verb),
		Type: s.Kind, RecordID: *head.ID, Version: *head.Version, Values: values,
	})
	owner := "Event"
	if at.Event == 0 {
		owner = "Organization"
	}
	writes = append(writes, record.Write(), table.BumpSettings(at.Owner(), table.Weight(*head.ID)).Or(apierr.NotFound(owner)))
	return &write.Plan{Writes: writes, Answer: answer}
}

func run[A any](ctx context.Context, s Store, op write.Op) (answer A, err error) {
	got, err := write.Run(ctx, s.Table, op)
	if err != nil {
		return answer, err
	}
	return got.(A), nil
}

func encode(key table.Key, version int64, content any) (table.Item, error) {
	data, err := wire.Encode(content)
	if err != nil {
		return table.Item{}, fmt.Errorf("item: encode %s: %w", key.SK, err)
	}
	return table.Item{Key: key, Version: version, Data: data}, nil
}
