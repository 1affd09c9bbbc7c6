package catalogue

import (
	"container/heap"
	"slices"
)

// fewPart is which part of the rows is few enough that keeping the smallest in a
// heap costs less than sorting all.
const fewPart = 8

// smallest gives the n smallest of rows in order, or all if there are fewer. It
// may reorder rows.
func smallest[R any](rows []*R, n int, compare func(a, b *R) int) []*R {
	n = min(n, len(rows))
	if n > 0 && n < len(rows)/fewPart {
		rows = heapOfSmallest(rows, n, compare)
	}
	slices.SortFunc(rows, compare)
	return rows[:n]
}

func heapOfSmallest[R any](rows []*R, n int, compare func(a, b *R) int) []*R {
	h := &greatestFirst[R]{rows: rows[:n], compare: compare}
	heap.Init(h)
	for _, row := range rows[n:] {
		if compare(row, h.rows[0]) < 0 {
			h.rows[0] = row
			heap.Fix(h, 0)
		}
	}
	return h.rows
}

// greatestFirst is a heap of a fixed number of rows, so it has no use for Push
// and Pop.
type greatestFirst[R any] struct {
	rows    []*R
	compare func(a, b *R) int
}

func (h *greatestFirst[R]) Len() int           { return len(h.rows) }
func (h *greatestFirst[R]) Less(i, j int) bool { return h.compare(h.rows[i], h.rows[j]) > 0 }
func (h *greatestFirst[R]) Swap(i, j int)      { h.rows[i], h.rows[j] = h.rows[j], h.rows[i] }
func (h *greatestFirst[R]) Push(any)           { panic("catalogue: the heap does not grow") }
func (h *greatestFirst[R]) Pop() any           { panic("catalogue: the heap does not shrink") }
