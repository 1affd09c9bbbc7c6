package view

import (
	"sync/atomic"

	"lectern/shared/session"
	"lectern/shared/size"
)

// Budget is the memory that the answers of a bulk may use together.
type Budget struct{ used atomic.Int64 }

// Reserve returns an empty Reservation for one operation.
func (b *Budget) Reserve() *Reservation { return &Reservation{budget: b} }

// Reservation is the part of a Budget that the answer of one operation uses. Taking again
// replaces the former part.
type Reservation struct {
	budget *Budget
	taken  int64
}

func (r *Reservation) take(bytes int64) (fits bool) {
	used := r.budget.used.Add(bytes - r.taken)
	r.taken = bytes
	return used <= size.Loaded
}

// Answer is the answer of one operation of a bulk: a session that is rendered once the
// bulk's answer has space for it.
type Answer struct {
	// loaded is nil if the budget is used up.
	loaded      *Loaded
	body        *session.Body
	reservation *Reservation
}

// Answer returns the i-th session as the answer of an operation, to be rendered later.
func (l *Loaded) Answer(i int, r *Reservation) *Answer {
	alone := *l
	alone.bodies, alone.sizes = l.bodies[i:i+1], l.sizes[i:i+1]
	alone.begin()
	return &Answer{loaded: &alone, body: l.bodies[i], reservation: r}
}

// Reserve takes memory for the session (write.Reserver).
func (a *Answer) Reserve() {
	if a.loaded != nil && !a.reservation.take(int64(a.loaded.sizes[0])) {
		a.reservation.take(0)
		a.loaded = nil
	}
}

// RecordID returns the id of the session.
func (a *Answer) RecordID() string { return a.body.ID }

// Revision returns the version of the session.
func (a *Answer) Revision() int64 { return a.body.Version }

// Show renders the session at a Detail; nil without memory.
func (a *Answer) Show(detail size.Detail) any {
	if a.loaded == nil {
		return nil
	}
	return a.loaded.render(a.body, max(detail, a.loaded.detail))
}
