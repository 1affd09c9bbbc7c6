package ratelimit

import (
	"maps"
	"math"
	"sync"
	"time"
)

// Budget bounds the read units that the requests without a limit of their own, searches
// above all, take of the table: so many a minute for each organization, in one process. It
// is kept in memory alone. A nil Budget has no bounds.
type Budget struct {
	now    func() time.Time
	minute float64

	mu    sync.Mutex
	spent map[int64]debt
}

// debt is what an organization has spent beyond what time has given back, as of a moment.
type debt struct {
	units float64
	at    time.Time
}

// maxDebts is how many organizations a process keeps account of.
const maxDebts = 10_000

// NewBudget makes a Budget of so many read units a minute; 0 gives a nil Budget.
func NewBudget(minute int64, now func() time.Time) *Budget {
	if minute <= 0 {
		return nil
	}
	return &Budget{now: now, minute: float64(minute), spent: map[int64]debt{}}
}

// Wait returns how long an organization has to wait before its next request; 0 while its
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

// Charge adds the units of a request that is done. It may pass the budget: what a request
// takes is known only then.
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

// left returns the debt that is left now. The caller holds the lock.
func (b *Budget) left(org int64) float64 {
	d := b.spent[org]
	return math.Max(0, d.units-b.minute*b.now().Sub(d.at).Minutes())
}
