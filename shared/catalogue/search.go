package catalogue

import (
	"context"
	"errors"
)

// Search returns the bodies of a page of a source, and the number of all records that match:
// View, Select and Bodies together, with their errors. Search repeats if a body is
// newer than its row, so no page shows a record that does not match.
func (c *Catalogue[R, B]) Search(ctx context.Context, src Source, q Query[R]) (bodies []B, total int, err error) {
	view, err := c.View(ctx, src)
	if err != nil {
		return nil, 0, err
	}
	for try := range settling.Tries {
		rows, total := view.Select(q)
		bodies, newer, err := c.page(ctx, src, rows)
		if errors.Is(err, errBodies) && try == 0 { // They may have been purged since the rows were read.
			if fresh, viewErr := c.View(RenewVersions(ctx), src); viewErr == nil && fresh != view {
				view = fresh
				continue
			}
		}
		if err != nil {
			return nil, 0, err
		}
		if len(newer) == 0 {
			return bodies, total, nil
		}
		view = view.With(newer)
	}
	return nil, 0, Unsettled(src)
}

// page returns the bodies of rows, and the rows of the bodies that are newer than their rows.
func (c *Catalogue[R, B]) page(ctx context.Context, src Source, rows []*R) (bodies []B, newer []*R, err error) {
	want := make([]Want, len(rows))
	for i, row := range rows {
		want[i] = Want{c.opts.ID(row), c.opts.Version(row)}
	}
	got, err := c.Bodies(ctx, src, want)
	bodies = make([]B, len(got))
	for i, body := range got {
		bodies[i] = body.Value
		if body.Version > want[i].Version {
			row := c.opts.RowOf(body.Value)
			newer = append(newer, &row)
		}
	}
	return bodies, newer, err
}

// Unsettled returns the error, a 503 for the client, of a search whose bodies stayed newer than
// their rows.
func Unsettled(src Source) error { return unsettled("changing rows", src) }
