package catalogue

import (
	"context"
	"errors"
	"fmt"

	"lectern/shared/table"
)

// Want asks for the body of a record whose row has Version. Version 0 asks for the stored body
// without use of memory, for a record whose row was not read.
type Want struct {
	ID      string
	Version int64
}

// Body is a body and its version. Version 0 means that there is no stored body.
type Body[B any] struct {
	Value   B
	Version int64
}

// errBodies is the error for a body that stayed older than its row, or missing.
var errBodies = errors.New("a body is behind its row")

// bodyGrowth is about the memory of a decoded body, in sizes of its text.
const bodyGrowth = 2

// Bodies returns the bodies in the order of want: from memory if the version there is current,
// the others with one BatchGet. It reads a body again that is older than its row, and returns a
// 503 for a body that stays older. A body may be newer than its row: the caller must then
// filter its row again (View.With).
func (c *Catalogue[R, B]) Bodies(ctx context.Context, src Source, want []Want) ([]Body[B], error) {
	got := make([]Body[B], len(want))
	missing := c.recall(src, want, got)
	if len(missing) == 0 {
		return got, nil
	}
	for _, err := range settling.Each(ctx) {
		if err == nil {
			missing, err = c.fetch(ctx, src, want, got, missing)
		}
		if err != nil {
			return nil, err
		}
		if len(missing) == 0 {
			return got, nil
		}
	}
	return nil, fmt.Errorf("%w: %w", errBodies, unsettled("bodies", src))
}

// recall fills got from memory and returns the indexes of the missing bodies.
func (c *Catalogue[R, B]) recall(src Source, want []Want, got []Body[B]) (missing []int) {
	for i, w := range want {
		body, ok := c.bodies.Get(c.opts.BodyKey(src, w.ID))
		if ok && w.Version > 0 && body.Version >= w.Version {
			got[i] = body
			continue
		}
		missing = append(missing, i)
	}
	return missing
}

// fetch fills got at the indexes of missing from the table and returns the indexes of the
// bodies that are older than wanted.
func (c *Catalogue[R, B]) fetch(ctx context.Context, src Source, want []Want, got []Body[B], missing []int) (still []int, err error) {
	keys := make([]table.Key, len(missing))
	for n, i := range missing {
		keys[n] = c.opts.BodyKey(src, want[i].ID)
	}
	items, err := c.table.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	for n, i := range missing {
		item, ok := items[keys[n]]
		if item.Version < want[i].Version {
			still = append(still, i)
			continue
		}
		if !ok {
			continue
		}
		if got[i], err = c.body(item); err != nil {
			return nil, err
		}
	}
	return still, nil
}

// body decodes a body and puts it into memory.
func (c *Catalogue[R, B]) body(item table.Item) (Body[B], error) {
	value, err := c.opts.Body(item)
	if err != nil {
		return Body[B]{}, err
	}
	body := Body[B]{value, item.Version}
	c.bodies.Put(item.Key, body, bodyGrowth*int64(len(item.Data)))
	return body, nil
}

// Related returns the bodies of records that the records of a page refer to, without the ids
// that have no body. They are as current as the newest view of src in memory, which the search
// of the page has left there; a record without a row in the view is read from the table. It
// costs at most one BatchGet.
func (c *Catalogue[R, B]) Related(ctx context.Context, src Source, ids []string) ([]B, error) {
	var view *View[R]
	if s, ok := c.sources.Get(src); ok {
		view = s.view.Load()
	}
	want := make([]Want, len(ids))
	for i, id := range ids {
		want[i].ID = id
		if view == nil {
			continue
		}
		if row, ok := view.Get(id); ok {
			want[i].Version = c.opts.Version(row)
		}
	}
	got, err := c.Bodies(ctx, src, want)
	bodies := make([]B, 0, len(got))
	for _, body := range got {
		if body.Version > 0 {
			bodies = append(bodies, body.Value)
		}
	}
	return bodies, err
}
