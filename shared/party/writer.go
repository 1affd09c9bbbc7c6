package party

import (
	"context"
	"fmt"

	"lectern/shared/api/check"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/bulk"
	"lectern/shared/write"
)

// Operations makes the operations of one write that has begun: of contacts or of
// accounts.
type Operations interface {
	// Enroll gives the party of the draft a role: a record with the id and the next
	// number, where there is none yet.
	Enroll(id string, numbers *write.Numbers) write.Op
	Update(id string) write.Op
	Delete(id string) write.Op
	Restore(id string) write.Op
}

// Writer does the writes of a kind, singly and in bulk. T is how a party is answered,
// D what is sent of it.
type Writer[T, D any] struct {
	Store *Store
	// Begin begins a write about a role, whose draft is nil for none.
	Begin func(ctx context.Context, c *auth.Caller, role string, d *D, guard write.Guard, x Expand) (Operations, error)
	// Stored shows parties that were ever associated with the event, deleted or not, by
	// id.
	Stored func(ctx context.Context, c *auth.Caller, role string, ids []string, x Expand) (map[string]any, error)
	// Required is the 400 of a draft that lacks what a create needs.
	Required func(*D) error
	// Guard is what a draft says of the record that it means to change.
	Guard func(*D) write.Guard
}

// Create gives a role to the party that the draft is of.
func (w *Writer[T, D]) Create(ctx context.Context, c *auth.Caller, role string, d *D, x Expand) (*T, error) {
	return w.post(ctx, c, role, x, func() (write.Op, error) { return w.enroll(ctx, c, role, d, x, w.Store.NewID(), w.Store.numbers(c)) })
}

func (w *Writer[T, D]) enroll(ctx context.Context, c *auth.Caller, role string, d *D, x Expand, id string, numbers *write.Numbers) (write.Op, error) {
	if err := w.Required(d); err != nil {
		return write.Op{}, err
	}
	begun, err := w.Begin(ctx, c, role, d, w.Guard(d), x)
	if err != nil {
		return write.Op{}, err
	}
	return begun.Enroll(id, numbers), nil
}

// Update changes what the draft sends of the party with an id, which must hold the
// role.
func (w *Writer[T, D]) Update(ctx context.Context, c *auth.Caller, role, id string, d *D, ifMatch string, x Expand) (*T, error) {
	guard := w.Guard(d)
	guard.IfMatch = ifMatch
	return w.run(ctx, func() (write.Op, error) { return w.op(ctx, c, role, d, guard, x, Operations.Update, id) })
}

// Delete takes a role from a party until it is restored. What else the party is
// stays.
func (w *Writer[T, D]) Delete(ctx context.Context, c *auth.Caller, role, id, ifMatch string, x Expand) (*T, error) {
	guard := write.Guard{IfMatch: ifMatch}
	return w.run(ctx, func() (write.Op, error) { return w.op(ctx, c, role, nil, guard, x, Operations.Delete, id) })
}

// Restore gives a role back; 404 where it is not deleted.
func (w *Writer[T, D]) Restore(ctx context.Context, c *auth.Caller, role, id, ifMatch string, x Expand) (*T, error) {
	guard := write.Guard{IfMatch: ifMatch}
	return w.post(ctx, c, role, x, func() (write.Op, error) { return w.op(ctx, c, role, nil, guard, x, Operations.Restore, id) })
}

// post is run for a POST: a request that repeats one is shown what that one wrote.
func (w *Writer[T, D]) post(ctx context.Context, c *auth.Caller, role string, x Expand, begin func() (write.Op, error)) (*T, error) {
	made := write.Ref(ctx)
	if made == "" {
		return w.run(ctx, begin)
	}
	stored, err := w.Stored(ctx, c, role, []string{made}, x)
	if err != nil {
		return nil, err
	}
	shown, ok := stored[made].(*T)
	if !ok {
		return nil, NotFound(role)
	}
	return shown, nil
}

func (w *Writer[T, D]) op(
	ctx context.Context, c *auth.Caller, role string, d *D, guard write.Guard, x Expand, do func(Operations, string) write.Op, id string,
) (write.Op, error) {
	begun, err := w.Begin(ctx, c, role, d, guard, x)
	if err != nil {
		return write.Op{}, err
	}
	return do(begun, id), nil
}

// run makes one write and gives what the caller is told.
func (w *Writer[T, D]) run(ctx context.Context, begin func() (write.Op, error)) (*T, error) {
	op, err := begin()
	if err != nil {
		return nil, err
	}
	answer, err := write.Run(ctx, w.Store.Table, op)
	if err != nil {
		return nil, err
	}
	shown, ok := answer.(*T)
	if !ok {
		return nil, fmt.Errorf("party: a write answered %T", answer)
	}
	return shown, nil
}

// Bulk does up to 100 operations about a role (gaps.md section 3). fail shows an
// error as the kind does.
func Bulk[T, D, E any](ctx context.Context, w *Writer[T, D], c *auth.Caller, role string, req bulk.Request, x Expand, fail func(*apierr.Error) E) (*bulk.Response[T, E], error) {
	numbers := w.Store.numbers(c)
	return bulk.Run[T](ctx, w.Store.Table, req, bulk.Maker{
		NewID: w.Store.NewID,
		Create: func(ctx context.Context, id string, data bulk.Data) (write.Op, error) {
			d, err := check.Decode[D](data)
			if err != nil {
				return write.Op{}, err
			}
			return w.enroll(ctx, c, role, d, x, id, numbers)
		},
		Update: func(ctx context.Context, id string, data bulk.Data) (write.Op, error) {
			d, err := check.Decode[D](data)
			if err != nil {
				return write.Op{}, err
			}
			return w.op(ctx, c, role, d, w.Guard(d), x, Operations.Update, id)
		},
		Delete: func(ctx context.Context, id string) (write.Op, error) {
			return w.op(ctx, c, role, nil, write.Guard{}, x, Operations.Delete, id)
		},
		Again: func(ctx context.Context, ids []string) (map[string]any, error) { return w.Stored(ctx, c, role, ids, x) },
	}, fail)
}
