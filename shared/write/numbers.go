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
	admit func(ctx context.Context, id string) error

	mu              sync.Mutex
	reserved, first int64
}

// NewNumbers are none yet, of the counter under key. They are never given again, so a
// write that is then refused leaves a gap. admit refuses a record before it takes a
// number.
func NewNumbers(t *table.Table, key table.Key, admit func(ctx context.Context, id string) error) *Numbers {
	return &Numbers{table: t, key: key, admit: admit}
}

// Reserve gives what takes the next number for the record of an id, the same one every
// time. Nothing can be reserved any more once a number was taken.
func (n *Numbers) Reserve(id string) (take func(context.Context) (int64, error)) {
	at := n.reserved
	n.reserved++
	return func(ctx context.Context) (int64, error) {
		if err := n.admit(ctx, id); err != nil {
			return 0, err
		}
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
