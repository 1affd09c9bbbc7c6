package delivery

import (
	"context"
	"time"

	"lectern/shared/feed"
)

const (
	// listAtOnce is the number of deliveries that a call of a list reads.
	listAtOnce = 100
	// maxListed is the number of deliveries that a list looks at, so that a list without a match
	// ends.
	maxListed = 5000
)

// Page selects a part of a list: at most Limit deliveries after the first Skip.
type Page struct{ Skip, Limit int }

// List returns a page of the deliveries of an endpoint that match and that the caller may see, the latest
// first, and reports whether more may follow. A list looks at the last 5,000 deliveries before Until at
// most; more is true if it did not look at all.
func (s Store) List(ctx context.Context, org int64, endpoint string, f Filter, p Page) (some []Delivery, more bool, err error) {
	since, until := f.span(s.Now())
	if !since.Before(until) {
		return nil, false, nil
	}
	left := maxListed
	for day := until.UTC().Truncate(24 * time.Hour); !day.Add(24 * time.Hour).Before(since); day = day.Add(-24 * time.Hour) {
		pk := dayKey(org, endpoint, day)
		for item, err := range s.Table.Backwards(ctx, pk, feed.Bound(since), feed.Bound(until), listAtOnce) {
			if err != nil {
				return nil, false, err
			}
			if left--; left < 0 {
				return some, true, nil
			}
			w, err := decodeWork(item)
			if err != nil {
				return nil, false, err
			}
			switch {
			case !f.matches(&w.Delivery) || !s.Sight.sees(&w.Delivery):
			case p.Skip > 0:
				p.Skip--
			case len(some) == p.Limit:
				return some, true, nil
			default:
				some = append(some, w.Delivery)
			}
		}
	}
	return some, false, nil
}
