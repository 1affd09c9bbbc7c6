package dataworker

import (
	"context"

	"golang.org/x/sync/errgroup"

	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/delivery"
	"lectern/shared/table"
)

// bodiesAtOnce is the number of bodies that are rendered in parallel.
const bodiesAtOnce = 8

// audience has an organization and the ids of its endpoints, deleted endpoints too.
type audience struct {
	org       int64
	endpoints []string
}

// record names a record with bodies, and the last change with a body to erase.
type record struct{ kind, id, last string }

// eraseBodies renders the bodies of a record again, from what is left of the person, and removes what
// receivers have answered to them. A body whose change is not found is removed.
func (w *Worker) eraseBodies(ctx context.Context, of audience, r record) error {
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(bodiesAtOnce)
	for kept, err := range w.deliveries.Bodies(ctx, of.org, r.kind, r.id) {
		if err != nil {
			_ = g.Wait() // The error of the read says more.
			return err
		}
		if kept.Change > r.last {
			continue
		}
		g.Go(table.Safely(func() error { return w.eraseBody(within, of, kept) }))
	}
	return g.Wait()
}

// eraseBody renders a body again, and removes the answers of the endpoints.
func (w *Worker) eraseBody(ctx context.Context, of audience, kept delivery.Kept) error {
	m, err := w.message(ctx, of.org, kept)
	if err != nil {
		return err
	}
	var text []byte
	if m != nil {
		if text, err = w.Renderer.Render(ctx, *m, kept.Form); err != nil {
			return err
		}
	}
	// A body that is removed names no answers any more.
	if err := w.deliveries.ForgetAnswers(ctx, kept.Message(of.org), of.endpoints); err != nil {
		return err
	}
	return w.deliveries.Overwrite(ctx, kept, text)
}

// message returns the published change of a body; nil if the change is not found.
func (w *Worker) message(ctx context.Context, org int64, kept delivery.Kept) (*bus.Message, error) {
	record, err := change.Find(ctx, w.Table, org, kept.Change)
	if record == nil || err != nil {
		return nil, err
	}
	for _, m := range bus.Messages(*record) {
		if m.Kind == kept.Kind && m.Sequence == kept.Sequence {
			return &m, nil
		}
	}
	return nil, nil
}
