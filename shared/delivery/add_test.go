package delivery_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/delivery"
	"lectern/shared/table"
)

// matched returns messages with a number of endpoints each.
func matched(targets ...int) (all []delivery.Matched) {
	for i, n := range targets {
		all = append(all, delivery.Matched{Message: message(i), Targets: make([]delivery.Target, n)})
	}
	return all
}

// TestPortions fit into a transaction each, are as long as they can be, and keep the order. A message has
// as many writes as endpoints, and two for its bodies.
func TestPortions(t *testing.T) {
	for _, c := range []struct {
		targets, portions []int
	}{
		{nil, nil},
		{slices.Repeat([]int{20}, 9), []int{4, 4, 1}},
		{slices.Repeat([]int{0}, 51), []int{50, 1}},
		{[]int{20, 20, 20, 20, 10, 10, 98, 1}, []int{5, 1, 1, 1}},
		{[]int{1, 120, 1}, []int{1, 1, 1}},
	} {
		all := matched(c.targets...)
		var sizes []int
		portions := delivery.Portions(all)
		for _, some := range portions {
			sizes = append(sizes, len(some))
		}
		require.Equal(t, c.portions, sizes)
		require.Equal(t, all, slices.Concat(portions...))
	}
	require.Equal(t, 100, table.MaxWrites)
}
