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
	b := &batch{Store: st, caller: c, expand: x}
	return bulk.Run[Session](ctx, st.Table, req, bulk.Maker{
		NewID: st.NewID, Create: b.create, Update: b.update, Delete: b.delete, Ready: b.ready, Again: st.again(c, x),
	}, bulk.Fail)
}

// batch makes the operations of one bulk request.
type batch struct {
	*Store
	caller *auth.Caller
	expand Expand
	// unnumbered are the sessions to be created that still need a number.
	unnumbered []*int64
}

func (b *batch) create(ctx context.Context, id string, data bulk.Data) (write.Op, error) {
	d, err := check.Decode[Create](data)
	if err != nil {
		return write.Op{}, err
	}
	e, err := b.begin(ctx, b.caller, d)
	if err != nil {
		return write.Op{}, err
	}
	number := new(int64)
	if !d.ParentSessionID.Has() {
		b.unnumbered = append(b.unnumbered, number)
	}
	return b.Store.create(e, id, number, b.expand), nil
}

// ready claims the numbers of all sessions to be created at once.
func (b *batch) ready(ctx context.Context) error {
	if len(b.unnumbered) == 0 {
		return nil
	}
	first, err := b.numbers(ctx, at(b.caller), int64(len(b.unnumbered)))
	for i, number := range b.unnumbered {
		*number = first + int64(i)
	}
	return err
}

func (b *batch) update(ctx context.Context, id string, data bulk.Data) (write.Op, error) {
	d, err := check.Decode[Update](data)
	if err != nil {
		return write.Op{}, err
	}
	return b.Store.update(ctx, b.caller, id, &d.Draft, write.Guard{UpdatedAt: d.UpdatedAt}, b.expand)
}

func (b *batch) delete(ctx context.Context, id string) (write.Op, error) {
	return b.remove(ctx, b.caller, id, write.Guard{}, b.expand)
}
