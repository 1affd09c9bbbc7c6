package catalogue

import (
	"context"
	"errors"
	"fmt"

	"lectern/shared/table"
)

// Want asks for the body of a record whose row has Version. Version 0 asks for
// whatever is stored, of a record whose row was not read: memory is not used.
type Want struct {
	ID      string
	Version int64
}

// Body is a body and its version. Version 0 means that none is stored.
type Body[B any] struct {
	Value   B
	Version int64
}

// errBodies is a body that stayed older than its row, or was not there.
var errBodies = errors.New("a body is behind its row")

// bodyGrowth is about how much more memory a decoded body takes than its text.
const bodyGrowth = 2

// Bodies gives the bodies asked for, in the order asked: from memory where it
// holds the version wanted, the rest with one BatchGet. A body that is older than
// its row is read again, and is a 503 if it stays so. One that is newer is given
// as it is: its row must be filtered again (View.With).
func (c *Catalogue[R, B]) Bodies(ctx context.Context, src Source, want []Want) ([]Body[B], error) {
	got := make([]Body[B], len(want))
	missing := c.recall(src, want, got)
	for try := 0; len(missing) > 0; try++ {
		if try == maxTries {
			return nil, fmt.Errorf("%w: %w", errBodies, unsettled("bodies", src))
		}
		err := pauses.Wait(ctx, try)
		if err == nil {
			missing, err = c.fetch(ctx, src, want, got, missing)
		}
		if err != nil {
			return nil, err
		}
	}
	return got, nil
}

// recall fills got from memory and gives the indexes that it could not fill.
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

// fetch fills got at the indexes of missing from the table and gives those whose
// body is older than wanted.
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

// body decodes a body and remembers it.
func (c *Catalogue[R, B]) body(item table.Item) (Body[B], error) {
	value, err := c.opts.Body(item)
	if err != nil {
		return Body[B]{}, err
	}
	body := Body[B]{value, item.Version}
	c.bodies.Put(item.Key, body, bodyGrowth*int64(len(item.Data)))
	return body, nil
}
