package write

import (
	"context"
	"sync"
)

// Numbers are running numbers of the operations of one request. They are claimed
// together when the first of the operations takes its own, so a request of which
// nothing is done claims none, and in the order in which they were reserved.
type Numbers struct {
	claim func(ctx context.Context, n int64) (first int64, err error)

	mu              sync.Mutex
	reserved, first int64
}

// NewNumbers are none yet. claim gives the first of n numbers, which is above 0, that
// were never given before.
func NewNumbers(claim func(ctx context.Context, n int64) (first int64, err error)) *Numbers {
	return &Numbers{claim: claim}
}

// Reserve gives what takes the next number, the same one every time. Nothing can be
// reserved any more once a number was taken.
func (n *Numbers) Reserve() (take func(context.Context) (int64, error)) {
	at := n.reserved
	n.reserved++
	return func(ctx context.Context) (int64, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.first == 0 {
			first, err := n.claim(ctx, n.reserved)
			if err != nil {
				return 0, err
			}
			n.first = first
		}
		return n.first + at, nil
	}
}
