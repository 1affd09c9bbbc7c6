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
	Enroll(id string) write.Op
	Update(id string) write.Op
	Delete(id string) write.Op
	Restore(id string) write.Op
}

// Request is a request that writes: its caller and role, how parties are answered, and
// the running numbers of the operations.
type Request struct {
	Caller  *auth.Caller
	Role    string
	Expand  Expand
	Numbers *write.Numbers
}

// NewRequest begins a request.
func (st *Store) NewRequest(c *auth.Caller, role string, x Expand) Request {
	places := st.Caps.Request(st.Kind.Rows(c.Org.ID, 0), st.Kind.Cap)
	return Request{c, role, x, write.NewNumbers(st.Table, st.Kind.NumberKey(c.Org.ID), places.Admit)}
}

// Writer does the writes of one request, singly and in bulk. T is how a party is
// answered, D what is sent of it.
type Writer[T, D any] struct {
	Store *Store
	Role  string
	// Begin begins a write, whose draft is nil for none.
	Begin func(ctx context.Context, d *D, ifMatch string) (Operations, error)
	// Stored shows parties that were ever associated with the event, deleted or not, by
	// id.
	Stored func(ctx context.Context, ids []string) (map[string]any, error)
	// Required is the 400 of a draft that lacks what a create needs.
	Required func(*D) error
}

// Create gives a role to the party that the draft is of.
func (w *Writer[T, D]) Create(ctx context.Context, d *D) (*T, error) {
	return w.post(ctx, func() (write.Op, error) { return w.enroll(ctx, d, w.Store.NewID()) })
}

func (w *Writer[T, D]) enroll(ctx context.Context, d *D, id string) (write.Op, error) {
	if err := w.Required(d); err != nil {
		return write.Op{}, err
	}
	return w.op(ctx, d, "", Operations.Enroll, id)
}

// Update changes what the draft sends of the party with an id, which must hold the
// role.
func (w *Writer[T, D]) Update(ctx context.Context, id string, d *D, ifMatch string) (*T, error) {
	return w.run(ctx, func() (write.Op, error) { return w.op(ctx, d, ifMatch, Operations.Update, id) })
}

// Delete takes a role from a party until it is restored. What else the party is
// stays.
func (w *Writer[T, D]) Delete(ctx context.Context, id, ifMatch string) (*T, error) {
	return w.run(ctx, func() (write.Op, error) { return w.op(ctx, nil, ifMatch, Operations.Delete, id) })
}

// Restore gives a role back; 404 where it is not deleted.
func (w *Writer[T, D]) Restore(ctx context.Context, id, ifMatch string) (*T, error) {
	return w.post(ctx, func() (write.Op, error) { return w.op(ctx, nil, ifMatch, Operations.Restore, id) })
}

// post is run for a POST: a request that repeats one is shown what that one wrote.
func (w *Writer[T, D]) post(ctx context.Context, begin func() (write.Op, error)) (*T, error) {
	made := write.Ref(ctx)
	if made == "" {
		return w.run(ctx, begin)
	}
	stored, err := w.Stored(ctx, []string{made})
	if err != nil {
		return nil, err
	}
	shown, ok := stored[made].(*T)
	if !ok {
		return nil, NotFound(w.Role)
	}
	return shown, nil
}

func (w *Writer[T, D]) op(ctx context.Context, d *D, ifMatch string, do func(Operations, string) write.Op, id string) (write.Op, error) {
	begun, err := w.Begin(ctx, d, ifMatch)
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
func Bulk[T, D, E any](ctx context.Context, w *Writer[T, D], req bulk.Request, fail func(*apierr.Error) E) (*bulk.Response[T, E], error) {
	drafted := func(do func(context.Context, *D, string) (write.Op, error)) func(context.Context, string, bulk.Data) (write.Op, error) {
		return func(ctx context.Context, id string, data bulk.Data) (write.Op, error) {
			d, err := check.Decode[D](data)
			if err != nil {
				return write.Op{}, err
			}
			return do(ctx, d, id)
		}
	}
	return bulk.Run[T](ctx, w.Store.Table, req, bulk.Maker{
		NewID:  w.Store.NewID,
		Create: drafted(w.enroll),
		Update: drafted(func(ctx context.Context, d *D, id string) (write.Op, error) {
			return w.op(ctx, d, "", Operations.Update, id)
		}),
		Delete: func(ctx context.Context, id string) (write.Op, error) {
			return w.op(ctx, nil, "", Operations.Delete, id)
		},
		Again: w.Stored,
	}, fail)
}
