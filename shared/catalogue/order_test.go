package catalogue

import (
	"cmp"
	"math/rand/v2"
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

// TestSelect compares a page with sorting all rows, of few rows and of many.
func TestSelect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size, seed := rapid.IntRange(0, 3*sortAtOnce).Draw(t, "size"), rapid.Uint64().Draw(t, "seed")
		rows := rand.New(rand.NewPCG(seed, 0)).Perm(size)
		offset, limit := rapid.IntRange(0, size+3).Draw(t, "offset"), rapid.IntRange(0, 100).Draw(t, "limit")
		want := []int{}
		for n := range size {
			if n%3 > 0 {
				want = append(want, n)
			}
		}
		page, total := Select(pointers(rows), func(n *int) bool { return *n%3 > 0 }, compare, offset, limit)
		require.Len(t, want, total)
		want = want[min(offset, total):min(offset+limit, total)]
		require.Equal(t, append([]int{}, want...), numbersAt(page))
	})
}
