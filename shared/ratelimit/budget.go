package ratelimit

import (
	"maps"
	"math"
	"sync"
	"time"
)

// Budget limits the read units of requests without a rate limit, mostly searches. Each
// organization has a number of read units a minute, in one process. The account is only in
// memory. A nil Budget has no limit.
type Budget struct {
	now    func() time.Time
	minute float64

	mu    sync.Mutex
	spent map[int64]debt
}

// debt is the number of read units that an organization has used, less the units regained, at a
// time. An organization regains units all the time, at the rate of the budget.
type debt struct {
	units float64
	at    time.Time
}

// maxDebts is the largest number of organizations in the account of a process.
const maxDebts = 10_000

// NewBudget returns a Budget of minute read units a minute, or a nil Budget for 0.
func NewBudget(minute int64, now func() time.Time) *Budget {
	if minute <= 0 {
		return nil
	}
	return &Budget{now: now, minute: float64(minute), spent: map[int64]debt{}}
}

// Wait returns the time that an organization has to wait before its next request; 0 if the
// budget is not used up.
func (b *Budget) Wait(org int64) time.Duration {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	over := b.left(org) - b.minute
	if over < 0 {
		return 0
	}
	return time.Duration(math.Max(1, math.Ceil(over/b.minute*time.Minute.Seconds()))) * time.Second
}

// Charge adds the read units of a finished request. The debt may exceed the budget, since the
// units of a request are known only after the request.
func (b *Budget) Charge(org int64, units float64) {
	if b == nil || units == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.spent[org]; !known && len(b.spent) >= maxDebts {
		maps.DeleteFunc(b.spent, func(id int64, _ debt) bool { return b.left(id) == 0 })
		if len(b.spent) >= maxDebts {
			clear(b.spent)
		}
	}
	b.spent[org] = debt{b.left(org) + units, b.now()}
}

// left returns the present debt. The caller has locked b.mu.
func (b *Budget) left(org int64) float64 {
	d := b.spent[org]
	return math.Max(0, d.units-b.minute*b.now().Sub(d.at).Minutes())
}
