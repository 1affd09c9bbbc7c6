// Package caps bounds how many records of a kind an event or an organization may have:
// what an instance keeps in memory for searches, and loads when it starts. It counts rows,
// which deleted records have until they are purged.
package caps

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/catalogue"
	"lectern/shared/table"
)

// Cap bounds the records of one kind.
type Cap struct {
	// Name is the kind as an error names it.
	Name string
	Most int64
}

// The caps: of the sessions of an event, and of the contacts and accounts of an
// organization.
var (
	Sessions = Cap{"sessions", 100_000}
	Contacts = Cap{"contacts", 100_000}
	Accounts = Cap{"accounts", 100_000}
)

const (
	// fresh is how long a Counter uses a sum that it has read, and margin how far below
	// a cap that sum must be.
	fresh  = time.Minute
	margin = 1_000
	// maxKnown is how many sums a Counter remembers.
	maxKnown = 4096
)

// Counter remembers how many rows there are, for one process.
//
// A cap is passed by the creations that run at the same time, as none of them sees the
// others, and by what other processes create within a minute beyond the margin. It is
// not passed further: each process then reads the sum again.
type Counter struct {
	table *table.Table
	now   func() time.Time
	// most lowers every cap; 0 lowers none.
	most int64

	mu    sync.Mutex
	known map[catalogue.Source]sum
}

// sum is how many rows were counted at a time, with those that were created here since.
type sum struct {
	rows int64
	at   time.Time
}

// New returns a Counter that knows nothing yet. most lowers every cap; 0 lowers none.
func New(t *table.Table, now func() time.Time, most int64) *Counter {
	return &Counter{table: t, now: now, most: most, known: map[catalogue.Source]sum{}}
}

// rows returns how many rows src has: the remembered sum, unless it is old or near most.
func (c *Counter) rows(ctx context.Context, src catalogue.Source, most int64) (int64, error) {
	c.mu.Lock()
	known, ok := c.known[src]
	c.mu.Unlock()
	now := c.now()
	if ok && now.Sub(known.at) < fresh && known.rows <= most-margin {
		return known.rows, nil
	}
	rows, err := catalogue.Rows(ctx, c.table, src)
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= maxKnown {
		clear(c.known)
	}
	c.known[src] = sum{rows, now}
	return rows, nil
}

// created adds a creation to the remembered sum.
func (c *Counter) created(src catalogue.Source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.known[src]; ok {
		known.rows++
		c.known[src] = known
	}
}

// Request admits the records that one request creates.
type Request struct {
	counter *Counter
	src     catalogue.Source
	cap     Cap

	mu sync.Mutex
	// asked reports whether rows was read: how many there were before the request.
	asked    bool
	rows     int64
	admitted map[string]bool
}

// Request returns a Request for records that have their rows in src.
func (c *Counter) Request(src catalogue.Source, bound Cap) *Request {
	if c.most > 0 {
		bound.Most = min(bound.Most, c.most)
	}
	return &Request{counter: c, src: src, cap: bound, admitted: map[string]bool{}}
}

// Admit refuses the record of an id where it would be over the cap: 409 LIMIT_REACHED. It
// is to be asked once nothing else refuses the record, and may be asked again: a record
// that was admitted stays so.
func (r *Request) Admit(ctx context.Context, id string) (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.admitted[id] {
		return nil
	}
	if !r.asked {
		if r.rows, err = r.counter.rows(ctx, r.src, r.cap.Most); err != nil {
			return err
		}
		r.asked = true
	}
	if there := r.rows + int64(len(r.admitted)); there >= r.cap.Most {
		return apierr.LimitReached(r.cap.Name, r.cap.Most, fmt.Sprintf(
			"There are %d %s already, which is the limit. Deleted ones count until they are purged.", there, r.cap.Name))
	}
	r.admitted[id] = true
	r.counter.created(r.src)
	return nil
}
