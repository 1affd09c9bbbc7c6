// Package caps limits the number of records of a kind on an event or in an organization.
// The reason is memory: an instance keeps the rows of these records in memory for searches,
// and loads the rows again after a start. A cap counts rows. A deleted record has a row
// until the record is purged.
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

// Cap limits the number of records of one kind.
type Cap struct {
	// Name is the name of the kind in errors.
	Name string
	Most int64
}

// The caps: on the sessions of an event, and on the contacts and accounts of an
// organization.
var (
	Sessions = Cap{"sessions", 100_000}
	Contacts = Cap{"contacts", 100_000}
	Accounts = Cap{"accounts", 100_000}
)

const (
	// fresh is the time for which a Counter uses a sum after reading it. margin is the
	// distance to the cap: a Counter uses a remembered sum only while the sum is at least
	// this far below the cap.
	fresh  = time.Minute
	margin = 1_000
	// maxKnown is the number of sums that a Counter remembers.
	maxKnown = 4096
)

// Counter remembers the numbers of rows, for one process.
//
// The number of records can exceed a cap in two ways. Creations at the same time do not see
// each other. And within a minute, other processes may create more records than the margin.
// The excess ends there, because each process then reads the sum again.
type Counter struct {
	table *table.Table
	now   func() time.Time
	// most lowers every cap; 0 leaves the caps as they are.
	most int64

	mu    sync.Mutex
	known map[catalogue.Source]sum
}

// sum is the number of rows that were counted at a time, plus the creations by this process
// since then.
type sum struct {
	rows int64
	at   time.Time
}

// New returns an empty Counter. most lowers every cap; 0 leaves the caps as they are.
func New(t *table.Table, now func() time.Time, most int64) *Counter {
	return &Counter{table: t, now: now, most: most, known: map[catalogue.Source]sum{}}
}

// rows returns the number of rows of src. It uses the remembered sum unless the sum is old
// or near most.
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
	// counted reports whether rows has been read. rows is the number of rows before the
	// request.
	counted  bool
	rows     int64
	admitted map[string]bool
}

// Request returns a Request for records with rows in src.
func (c *Counter) Request(src catalogue.Source, bound Cap) *Request {
	if c.most > 0 {
		bound.Most = min(bound.Most, c.most)
	}
	return &Request{counter: c, src: src, cap: bound, admitted: map[string]bool{}}
}

// Admit refuses the record of an id if the record would exceed the cap: 409 LIMIT_REACHED.
// Call Admit after all other checks of the record have passed. Admit may be called again
// for the same id: an admitted record stays admitted.
func (r *Request) Admit(ctx context.Context, id string) (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.admitted[id] {
		return nil
	}
	if !r.counted {
		if r.rows, err = r.counter.rows(ctx, r.src, r.cap.Most); err != nil {
			return err
		}
		r.counted = true
	}
	if total := r.rows + int64(len(r.admitted)); total >= r.cap.Most {
		return apierr.LimitReached(r.cap.Name, r.cap.Most, fmt.Sprintf(
			"There are %d %s already, which is the limit. Deleted ones count until they are purged.", total, r.cap.Name))
	}
	r.admitted[id] = true
	r.counter.created(r.src)
	return nil
}
