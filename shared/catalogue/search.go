package catalogue

import (
	"context"
	"errors"
)

// Search gives the bodies of one page of a source, and how many records match in
// all: View, Select and Bodies in one, with their errors. keep may look at other rows
// of the view that is searched. A body that is newer than its row is filtered and placed
// again, so no page shows a record that keep refuses.
func (c *Catalogue[R, B]) Search(ctx context.Context, src Source, keep func(*View[R], *R) bool, order func(a, b *R) int, offset, limit int) (bodies []B, total int, err error) {
	view, err := c.View(ctx, src)
	if err != nil {
		return nil, 0, err
	}
	for try := range maxTries {
		rows, total := view.Select(func(r *R) bool { return keep(view, r) }, order, offset, limit)
		bodies, now, err := c.page(ctx, src, view, rows)
		if errors.Is(err, errBodies) && try == 0 { // They may have been purged since the rows were read.
			if fresh, viewErr := c.View(Again(ctx), src); viewErr == nil && fresh != view {
				view = fresh
				continue
			}
		}
		if err != nil {
			return nil, 0, err
		}
		if now == view {
			return bodies, total, nil
		}
		view = now
	}
	return nil, 0, Unsettled(src)
}

// page gives the bodies of rows, which are of view. now is view, unless bodies are newer
// than their rows: it is then the view as they say, for the rows to be chosen again.
func (c *Catalogue[R, B]) page(ctx context.Context, src Source, view *View[R], rows []*R) (bodies []B, now *View[R], err error) {
	got, err := c.Bodies(ctx, src, c.wants(rows))
	if err != nil {
		return nil, nil, err
	}
	if newer := c.newer(rows, got); len(newer) > 0 {
		view = view.With(newer)
	}
	return values(got), view, nil
}

// Unsettled is the error, 503 to the caller, for a search of a source whose bodies
// kept being newer than their rows.
func Unsettled(src Source) error { return unsettled("changing rows", src) }

func (c *Catalogue[R, B]) wants(page []*R) []Want {
	wants := make([]Want, len(page))
	for i, row := range page {
		wants[i] = Want{c.opts.ID(row), c.opts.Version(row)}
	}
	return wants
}

// newer makes the rows of those bodies that are newer than their rows on page.
func (c *Catalogue[R, B]) newer(page []*R, bodies []Body[B]) (rows []*R) {
	for i, body := range bodies {
		if body.Version > c.opts.Version(page[i]) {
			row := c.opts.RowOf(body.Value)
			rows = append(rows, &row)
		}
	}
	return rows
}

func values[B any](bodies []Body[B]) []B {
	values := make([]B, len(bodies))
	for i, body := range bodies {
		values[i] = body.Value
	}
	return values
}
