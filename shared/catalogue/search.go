package catalogue

import "context"

// Search gives the bodies of one page of a source, and how many records match in
// all: View, Select and Bodies in one, with their errors. A body that is newer
// than its row is filtered and placed again as its body says, so no page shows
// what keep does not hold for.
func (c *Catalogue[R, B]) Search(ctx context.Context, src Source, keep func(*R) bool, order func(a, b *R) int, offset, limit int) (bodies []B, total int, err error) {
	return c.SearchWithin(ctx, src, func(*View[R]) func(*R) bool { return keep }, order, offset, limit)
}

// SearchWithin is Search with a filter that looks at other rows too: within
// gives it for the view that is searched.
func (c *Catalogue[R, B]) SearchWithin(ctx context.Context, src Source, within func(*View[R]) func(*R) bool, order func(a, b *R) int, offset, limit int) (bodies []B, total int, err error) {
	view, err := c.View(ctx, src)
	if err != nil {
		return nil, 0, err
	}
	for range maxTries {
		var page []*R
		page, total = view.Select(within(view), order, offset, limit)
		got, err := c.Bodies(ctx, src, c.wants(page))
		if err != nil {
			return nil, 0, err
		}
		newer := c.newer(page, got)
		if len(newer) == 0 {
			return values(got), total, nil
		}
		view = view.With(newer)
	}
	return nil, 0, unsettled("changing rows", src)
}

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
