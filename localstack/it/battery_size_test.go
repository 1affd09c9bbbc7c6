package it_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// envLong asks for the long sizes of the batteries, envSeed for one seed.
const (
	envLong = "LECTERN_LONG"
	envSeed = "LECTERN_SEED"
)

// sized is the size of a battery: short, or long where that is asked for.
func sized(short, long int) int {
	if os.Getenv(envLong) == "1" {
		return long
	}
	return short
}

// seeded is a seed to draw from, another one at every run unless one is asked
// for. A test that fails says which one it had.
func seeded(t *testing.T) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv(envSeed), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the seed was %d: run again with %s=%d", seed, envSeed, seed)
		}
	})
	return seed
}

// source draws for one of a test's callers.
func source(seed uint64, caller int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(caller)))
}

// oneOf draws from a list that is not empty.
func oneOf[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

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
