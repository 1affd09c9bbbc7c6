package write

import (
	"context"
	"sync"

	"lectern/shared/table"
)

// Numbers are the running numbers of the operations of a request. They are claimed together
// when the first operation takes its number, so a request that does nothing claims none, and
// in the order of Next.
type Numbers struct {
	table *table.Table
	key   table.Key
	admit func(ctx context.Context, id string) error

	mu           sync.Mutex
	count, first int64
}

// NewNumbers returns numbers of the counter under key. Numbers are never given again, so a
// write that is then refused leaves a gap. admit refuses a record before the record takes a
// number.
func NewNumbers(t *table.Table, key table.Key, admit func(ctx context.Context, id string) error) *Numbers {
	return &Numbers{table: t, key: key, admit: admit}
}

// Next returns the number of the request's next record, which has this id. A request calls Next
// for all of its records before it takes the first number.
func (n *Numbers) Next(id string) *Number {
	n.count++
	return &Number{n, id, n.count - 1}
}

// Number is the running number of one record of a request.
type Number struct {
	numbers *Numbers
	id      string
	at      int64
}

// Take returns the record's number, the same number every time, or the refusal of the record.
func (m *Number) Take(ctx context.Context) (int64, error) {
	n := m.numbers
	if err := n.admit(ctx, m.id); err != nil {
		return 0, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.first == 0 {
		first, err := n.table.Numbers(ctx, n.key, n.count)
		if err != nil {
			return 0, err
		}
		n.first = first
	}
	return n.first + m.at, nil
}
