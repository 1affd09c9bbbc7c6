package chart

import (
	"cmp"
	"math"
	"slices"
)

// The largest numbers of values in a picture.
const (
	MaxBars   = 100
	MaxPoints = 2000
	// MaxSlices does not count the slice of all other values.
	MaxSlices = 20
)

// other is the label of the slice of all other values.
const other = "Other"

// point is a value with its category.
type point struct {
	name  string
	value float64
}

// tiny is the size below which a value is drawn as zero. Powers of ten below it are not exact.
const tiny = 1e-300

// points returns the finite values of a chart with their categories.
func points(c Chart) []point {
	all := make([]point, 0, len(c.Y))
	for i, value := range c.Y {
		if math.IsNaN(value) || math.IsInf(value, 0) {
			continue
		}
		if math.Abs(value) < tiny {
			value = 0
		}
		name := ""
		if i < len(c.X) {
			name = c.X[i]
		}
		all = append(all, point{name, value})
	}
	return all
}

// hasShares reports whether a pie can show values: none is negative, and the sum is more than zero.
func hasShares(all []point) bool {
	least, most := 0.0, 0.0
	for _, p := range all {
		least, most = min(least, p.value), max(most, p.value)
	}
	return least == 0 && most > 0
}

// The range of the largest value that the library gets. Beyond it, differences of values overflow or vanish.
const (
	largest  = 1e9
	smallest = 1e-3
)

// scale divides values by a power of ten if the largest would leave the range, and returns the power.
func scale(all []point) float64 {
	most := 0.0
	for _, p := range all {
		most = max(most, math.Abs(p.value))
	}
	if most == 0 || most <= largest && most >= smallest {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(most)))
	for i := range all {
		all[i].value /= power
	}
	return power
}

// slicesOf returns the shares of a pie, the largest first: at most MaxSlices, and a last slice with the sum of all others.
func slicesOf(all []point) []point {
	all = slices.DeleteFunc(all, func(p point) bool { return p.value == 0 })
	slices.SortStableFunc(all, func(a, b point) int { return cmp.Compare(b.value, a.value) })
	if len(all) <= MaxSlices+1 {
		return all
	}
	rest := point{name: other}
	for _, p := range all[MaxSlices:] {
		rest.value += p.value
	}
	return append(all[:MaxSlices], rest)
}

// thin returns at most MaxPoints values of a line in their order. Of each part of the line it keeps the smallest and the largest
// value, so no peak is lost.
func thin(all []point) []point {
	if len(all) <= MaxPoints {
		return all
	}
	const parts = MaxPoints / 2
	kept := make([]point, 0, MaxPoints)
	for i := range parts {
		part := all[i*len(all)/parts : (i+1)*len(all)/parts]
		low, high := 0, 0
		for j, p := range part {
			if p.value < part[low].value {
				low = j
			}
			if p.value > part[high].value {
				high = j
			}
		}
		kept = append(kept, part[min(low, high)])
		if low != high {
			kept = append(kept, part[max(low, high)])
		}
	}
	return kept
}
