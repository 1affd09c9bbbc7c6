package store

import (
	"cmp"
	"context"
	"slices"

	"lectern/shared/api/check"
	"lectern/shared/auth"
	"lectern/shared/bulk"
	"lectern/shared/session"
	"lectern/shared/session/view"
	"lectern/shared/write"
)

// Bulk does up to 100 operations (gaps.md section 3).
func (st *Store) Bulk(
	ctx context.Context, c *auth.Caller, req bulk.Request, x view.Expand,
) (*bulk.Response[view.Session, bulk.Failure], error) {
	b := &batch{st, c, x, st.counters(c), &view.Budget{}}
	return bulk.Run[view.Session](ctx, st.Table, req, bulk.Maker{
		NewID: st.NewID, Create: b.create, Update: b.update, Delete: b.delete, Again: b.again,
	}, bulk.Fail)
}

// batch makes the operations of a bulk.
type batch struct {
	store    *Store
	caller   *auth.Caller
	expand   view.Expand
	counters counters
	budget   *view.Budget
}

// request returns the request of an operation.
func (b *batch) request(ctx context.Context, guard write.Guard) (*request, error) {
	r, err := b.store.guarded(ctx, b.caller, guard, b.expand)
	if err != nil {
		return nil, err
	}
	r.reservation = b.budget.Reserve()
	return r, nil
}

func (b *batch) create(ctx context.Context, id string, data bulk.Data) (write.Op, error) {
	d, err := check.Decode[session.Create](data)
	if err != nil {
		return nil, err
	}
	r, err := b.request(ctx, write.Guard{})
	if err != nil {
		return nil, err
	}
	return b.counters.create(r, id, &d.Draft)
}

func (b *batch) update(ctx context.Context, id string, data bulk.Data) (write.Op, error) {
	d, err := check.Decode[session.Update](data)
	if err != nil {
		return nil, err
	}
	to := Target{id, write.Guard{UpdatedAt: d.UpdatedAt}}
	r, err := b.request(ctx, to.Guard)
	if err != nil {
		return nil, err
	}
	return update(r, to, &d.Draft)
}

func (b *batch) delete(ctx context.Context, id string) (write.Op, error) {
	r, err := b.request(ctx, write.Guard{})
	if err != nil {
		return nil, err
	}
	return &deleteSession{req: r, to: Target{ID: id}}, nil
}

// maxRelated is the number of related sessions that a repeated bulk reads at a time.
const maxRelated = 500

// again returns the sessions that an earlier request wrote, as answers within the budget.
func (b *batch) again(ctx context.Context, ids []string) (map[string]any, error) {
	set, err := b.store.Settings.Load(ctx, b.caller)
	if err != nil {
		return nil, err
	}
	r := b.store.view(b.caller, set, b.expand)
	r.People = b.store.Parties.People(b.caller, b.expand.TranslatedFields)
	bodies, err := r.Fetch(ctx, ids)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(bodies, func(a, b *session.Body) int { return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID)) })
	answers, related, chunk := map[string]any{}, 0, []*session.Body(nil)
	for n, body := range bodies {
		chunk = append(chunk, body)
		if related += len(body.Related()); related < maxRelated && n < len(bodies)-1 {
			continue
		}
		loaded, err := view.Load(ctx, r, chunk...)
		if err != nil {
			return nil, err
		}
		for i, body := range chunk {
			answer := loaded.Answer(i, b.budget.Reserve())
			answer.Reserve()
			answers[body.ID] = answer
		}
		related, chunk = 0, nil
	}
	return answers, nil
}
