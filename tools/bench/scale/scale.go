// Package scale declares the flag -whole of the benchmarks. With the flag, as in `make bench`, a benchmark
// measures the sizes of docs/performance.md. Without the flag, as in `make test`, a benchmark only runs.
package scale

import "flag"

var whole = flag.Bool("whole", false, "measure the sizes of docs/performance.md, in some minutes")

// Whole reports whether the whole sizes are measured.
func Whole() bool { return *whole }

// Size returns small, or large for the whole sizes.
func Size(small, large int) int {
	if Whole() {
		return large
	}
	return small
}
