package write

import (
	"context"
	"sync"

	"lectern/shared/table"
)

// Numbers are running numbers of the operations of one request. They are claimed
// together when the first of the operations takes its own, so a request of which
// nothing is done claims none, and in the order in which they were reserved.
type Numbers struct {
	table *table.Table
	key   table.Key

	mu              sync.Mutex
	reserved, first int64
}

// NewNumbers are none yet, of the counter under key. They are never given again, so a
// write that is then refused leaves a gap.
func NewNumbers(t *table.Table, key table.Key) *Numbers { return &Numbers{table: t, key: key} }

// Reserve gives what takes the next number, the same one every time. Nothing can be
// reserved any more once a number was taken.
func (n *Numbers) Reserve() (take func(context.Context) (int64, error)) {
	at := n.reserved
	n.reserved++
	return func(ctx context.Context) (int64, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.first == 0 {
			last, err := n.table.Add(ctx, n.key, n.reserved)
			if err != nil {
				return 0, err
			}
			n.first = last - n.reserved + 1
		}
		return n.first + at, nil
	}
}
