package session

import (
	"context"

	"lectern/shared/api/check"
	"lectern/shared/auth"
	"lectern/shared/bulk"
	"lectern/shared/write"
)

// Bulk does up to 100 operations (gaps.md section 3).
func (st *Store) Bulk(ctx context.Context, c *auth.Caller, req bulk.Request, x Expand) (*bulk.Response[Session, bulk.Failure], error) {
	b := batch{st.request(c, x), &allowance{}}
	return bulk.Run[Session](ctx, st.Table, req, bulk.Maker{
		NewID: st.NewID, Create: b.create, Update: b.update, Delete: b.delete, Again: b.again,
	}, bulk.Fail)
}

// batch makes the operations of one bulk request.
type batch struct {
	*request
	together *allowance
}

// operation is the request of one operation.
func (b batch) operation() *request {
	r := *b.request
	r.room = &share{of: b.together}
	return &r
}

// again shows what an earlier request has done, as far as there is room.
func (b batch) again(ctx context.Context, id string) (any, error) {
	f, shown, err := b.open(ctx, b.caller, id, b.expand, stored, &share{of: b.together})
	if err != nil {
		return nil, err
	}
	return f.answer(shown), nil
}

func (b batch) create(ctx context.Context, id string, data bulk.Data) (write.Op, error) {
	d, err := check.Decode[Create](data)
	if err != nil {
		return write.Op{}, err
	}
	e, err := b.start(ctx, &d.Draft)
	if err != nil {
		return write.Op{}, err
	}
	return b.operation().create(e, id), nil
}

func (b batch) update(ctx context.Context, id string, data bulk.Data) (write.Op, error) {
	d, err := check.Decode[Update](data)
	if err != nil {
		return write.Op{}, err
	}
	return b.operation().update(ctx, id, &d.Draft, write.Guard{UpdatedAt: d.UpdatedAt})
}

func (b batch) delete(ctx context.Context, id string) (write.Op, error) {
	return b.operation().remove(ctx, id, write.Guard{})
}
