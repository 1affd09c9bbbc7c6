package session

import (
	"context"
	"sync/atomic"

	"lectern/shared/api/check"
	"lectern/shared/auth"
	"lectern/shared/bulk"
	"lectern/shared/write"
)

// Bulk does up to 100 operations (gaps.md section 3).
func (st *Store) Bulk(ctx context.Context, c *auth.Caller, req bulk.Request, x Expand) (*bulk.Response[Session, bulk.Failure], error) {
	b := batch{st.request(c, x), new(atomic.Int64)}
	return bulk.Run[Session](ctx, st.Table, req, bulk.Maker{
		NewID: st.NewID, Create: b.create, Update: b.update, Delete: b.delete, Again: b.again,
	}, bulk.Fail)
}

// batch makes the operations of one bulk request, whose answers share memory.
type batch struct {
	*request
	together *atomic.Int64
}

// operation returns the request of one operation.
func (b batch) operation() *request {
	r := *b.request
	r.reserved = &reservation{together: b.together}
	return &r
}

// maxRelatives is how many other sessions are read at a time that those of a repeated
// bulk refer to.
const maxRelatives = 500

// again shows sessions that an earlier request has written, by id, as far as there is
// memory for them.
func (b batch) again(ctx context.Context, ids []string) (map[string]any, error) {
	set, err := b.Settings.Load(ctx, b.caller)
	if err != nil {
		return nil, err
	}
	fetch := b.fetch(at(b.caller))
	bodies, err := fetch(ctx, ids)
	if err != nil {
		return nil, err
	}
	f := b.formatter(b.caller, set, b.expand)
	shown, relatives, some := map[string]any{}, 0, []*Body(nil)
	for n, id := range ids {
		if body, ok := bodies[id]; ok {
			some = append(some, body)
			relatives += len(body.relatives())
		}
		if relatives < maxRelatives && n < len(ids)-1 {
			continue
		}
		if err := b.showAll(ctx, f, some, shown); err != nil {
			return nil, err
		}
		relatives, some = 0, nil
	}
	return shown, nil
}

// showAll adds some sessions to those shown.
func (b batch) showAll(ctx context.Context, f *formatter, some []*Body, shown map[string]any) error {
	f.others = map[string]*Body{}
	if err := f.gather(ctx, b.fetch(at(b.caller)), some...); err != nil {
		return err
	}
	if err := f.meet(ctx, some...); err != nil {
		return err
	}
	for _, body := range some {
		one := *f
		one.step, one.reserved = showAll, &reservation{together: b.together}
		if err := one.weigh(ctx, []*Body{body}); err != nil {
			return err
		}
		made := &outcome{&one, body}
		made.Reserve()
		shown[body.ID] = made
	}
	return nil
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
