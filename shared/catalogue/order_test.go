package catalogue

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func pointers(values []int) []*int {
	all := make([]*int, len(values))
	for i := range values {
		all[i] = &values[i]
	}
	return all
}

func numbersAt(rows []*int) []int {
	all := []int{}
	for _, row := range rows {
		all = append(all, *row)
	}
	return all
}

func compare(a, b *int) int { return cmp.Compare(*a, *b) }

// TestSplice replaces some rows of an order by others and compares it with
// sorting all anew.
func TestSplice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		distinct := rapid.SliceOfNDistinct(rapid.IntRange(0, 1000), 0, 60, rapid.ID[int])
		before := distinct.Draw(t, "before")
		slices.Sort(before)
		leave := rapid.SliceOfN(rapid.Bool(), len(before), len(before)).Draw(t, "leave")
		var out, stay []int
		for i, gone := range leave {
			if gone {
				out = append(out, before[i])
			} else {
				stay = append(stay, before[i])
			}
		}
		in := slices.DeleteFunc(distinct.Draw(t, "in"), func(n int) bool { return slices.Contains(stay, n) })
		want := slices.Sorted(slices.Values(append(stay, in...)))

		order := pointers(before)
		got := splice(order, pointers(slices.Clone(out)), pointers(in), compare)
		require.Equal(t, append([]int{}, want...), numbersAt(got))
		require.Equal(t, append([]int{}, before...), numbersAt(order))
	})
}

// TestSmallest compares the first n with sorting all, whichever way is taken.
func TestSmallest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfDistinct(rapid.Int(), rapid.ID[int]).Draw(t, "values")
		n := rapid.IntRange(0, len(values)+3).Draw(t, "n")
		want := append([]int{}, slices.Sorted(slices.Values(values))[:min(n, len(values))]...)
		require.Equal(t, want, numbersAt(smallest(pointers(values), n, compare)))
	})
}
