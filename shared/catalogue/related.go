package catalogue

import "context"

// Related gives the bodies of records that those of a page refer to, by id, as
// current as the newest view of src in memory, which the search of the page has
// left there. A record without a row, newer than the view, is read from the
// table; one that is not there either is left out. It costs nothing where the
// bodies are in memory, otherwise one BatchGet.
func (c *Catalogue[R, B]) Related(ctx context.Context, src Source, ids []string) ([]B, error) {
	view := c.remembered(src)
	want := make([]Want, 0, len(ids))
	for _, id := range ids {
		wanted := Want{ID: id}
		if view != nil {
			if row, ok := view.Get(id); ok {
				wanted.Version = c.opts.Version(row)
			}
		}
		want = append(want, wanted)
	}
	got, err := c.Bodies(ctx, src, want)
	if err != nil {
		return nil, err
	}
	bodies := make([]B, 0, len(got))
	for _, body := range got {
		if body.Version > 0 {
			bodies = append(bodies, body.Value)
		}
	}
	return bodies, nil
}

// remembered is the newest view of src, nil when it is not in memory.
func (c *Catalogue[R, B]) remembered(src Source) *View[R] {
	if s, ok := c.sources.Get(src); ok {
		return s.view.Load()
	}
	return nil
}
