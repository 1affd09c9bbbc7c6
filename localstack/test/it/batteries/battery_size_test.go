package batteries_test

import (
	"math/rand/v2"
	"slices"
)

// keysWhere gives the keys of the values that keep holds for, in order.
func keysWhere[V any](all map[string]V, keep func(V) bool) []string {
	var keys []string
	for key, value := range all {
		if keep(value) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// chance is true once in n.
func chance(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }
