package table

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// maxMarks is the number of keys of marks that a Table remembers.
const maxMarks = 4096

// marks are the keys under which this process has put a mark.
type marks struct {
	mu   sync.Mutex
	keys map[Key]bool
}

// Mark puts an item without data under key. A Table remembers the last keys of marks and
// does not put a mark again. Mark waits for the context's gate as Transact does.
func (t *Table) Mark(ctx context.Context, key Key) error {
	if t.marked.has(key) {
		return nil
	}
	if err := opened(ctx); err != nil {
		return err
	}
	in := t.count(key, attributes{":version": number(1)})
	in.UpdateExpression = aws.String("SET " + attrVersion + " = :version")
	if _, err := t.update(ctx, in, usual); err != nil {
		return err
	}
	t.marked.add(key)
	return nil
}

// has reports whether the mark was put.
func (m *marks) has(key Key) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.keys[key]
}

// add remembers a key. When there is no room left, it forgets all other keys.
func (m *marks) add(key Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.keys == nil || len(m.keys) >= maxMarks {
		m.keys = map[Key]bool{}
	}
	m.keys[key] = true
}
