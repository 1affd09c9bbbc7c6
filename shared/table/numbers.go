package table

import (
	"context"
	"time"
)

const (
	// mostReserved is the largest number of numbers that a Table takes ahead.
	mostReserved = 64
	// reservedTime is the time for which a Table keeps numbers that it took ahead, so that
	// numbers follow the order of creation but for these seconds.
	reservedTime = 10 * time.Second
	// maxReserves is the number of counters of which a Table keeps numbers.
	maxReserves = 1024
)

// reserve has the numbers of a counter that a Table has taken and not given.
type reserve struct {
	// lock has room for the caller that takes numbers. A waiting caller can leave.
	lock chan struct{}
	// The numbers are those from next to before end.
	next, end int64
	// ahead is the number of numbers to take with the next call: twice as many as with the
	// call at taken, if that call was a moment ago.
	ahead int64
	taken time.Time
}

func newReserve() *reserve { return &reserve{lock: make(chan struct{}, 1)} }

// Numbers returns the first of n numbers in a row, from the counter under key. No number is
// returned twice, by any Table. A busy Table takes numbers ahead, and so writes the counter
// seldom. Numbers that it took and did not need for a moment are left out, and so are those that
// are fewer than n. Numbers that the
// Table has are returned without a wait for the context's gate (Gated): they cost no write.
func (t *Table) Numbers(ctx context.Context, key Key, n int64) (first int64, err error) {
	r := t.reserves.GetOrPut(key, 1, newReserve)
	select {
	case r.lock <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-r.lock }()
	now := t.Now()
	if now.Sub(r.taken) >= reservedTime {
		r.next, r.end, r.ahead = 0, 0, 1
	}
	if r.end-r.next < n {
		count := max(n, r.ahead)
		last, err := t.Add(ctx, key, count)
		if err != nil {
			return 0, err
		}
		r.next, r.end = last-count+1, last+1
		r.ahead, r.taken = min(2*r.ahead, mostReserved), now
	}
	first = r.next
	r.next += n
	return first, nil
}
