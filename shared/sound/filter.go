package sound

import "math"

// The filter is a sinc in a Kaiser window. It keeps the sound up to passed of the highest frequency that both
// rates have, 7 kHz of 8, and has no sound left from that frequency on: stopped in dB.
const (
	passed  = 0.875
	stopped = 80.0
	// maxPhases limits the table of coefficients. All usual rates have fewer phases.
	maxPhases = 2_000
)

// filter makes samples of Rate out of samples of another rate. The sample n of the result is at the place
// n*step/phases of the source.
type filter struct {
	phases, step int64
	// half is the number of source samples on each side of a place, and taps has the coefficients of each
	// phase.
	half int64
	taps [][]float32
}

// newFilter returns the filter for a rate. Sound with the rate of the result passes unchanged.
func newFilter(rate int64) *filter {
	common := divisor(Rate, rate)
	f := &filter{phases: Rate / common, step: rate / common}
	if f.phases == f.step {
		f.taps = [][]float32{{1, 0}}
		f.half = 1
		return f
	}
	// top is the highest common frequency, in parts of the source's rate.
	top := float64(min(rate, Rate)) / 2 / float64(rate)
	f.half = int64(math.Ceil((stopped - 7.95) / (14.36 * (1 - passed) * top) / 2))
	for phase := range f.phases {
		f.taps = append(f.taps, f.coefficients(float64(phase)/float64(f.phases), (1+passed)*top))
	}
	return f
}

// coefficients returns the coefficients for a place between two source samples. band is twice the frequency
// in the middle between passed and stopped. The coefficients have the sum 1, so that levels stay.
func (f *filter) coefficients(place, band float64) []float32 {
	const beta = 0.1102 * (stopped - 8.7)
	exact, sum := make([]float64, 2*f.half), 0.0
	for i := range exact {
		away := float64(int64(i)-f.half+1) - place
		edge := away / float64(f.half)
		exact[i] = sinc(band*away) * bessel(beta*math.Sqrt(max(0, 1-edge*edge)))
		sum += exact[i]
	}
	taps := make([]float32, len(exact))
	for i, c := range exact {
		taps[i] = float32(c / sum)
	}
	return taps
}

// sinc returns sin(πx)/πx.
func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// bessel returns the modified Bessel function of the first kind of order 0.
func bessel(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-12; k++ {
		term *= x * x / (4 * k * k)
		sum += term
	}
	return sum
}

// first returns the first source sample that a sample of the result needs; the last is 2*half-1 later.
func (f *filter) first(n int64) int64 { return n*f.step/f.phases - f.half + 1 }

// sample returns the sample n of the result. source begins with the sample first(n) of the source.
func (f *filter) sample(n int64, source []float32) float32 {
	taps := f.taps[n*f.step%f.phases]
	source = source[:len(taps)]
	var a, b, c, d float32 // Four sums need less time than one.
	i := 0
	for ; i+4 <= len(taps); i += 4 {
		t, s := taps[i:i+4:i+4], source[i:i+4:i+4]
		a += t[0] * s[0]
		b += t[1] * s[1]
		c += t[2] * s[2]
		d += t[3] * s[3]
	}
	for ; i < len(taps); i++ {
		a += taps[i] * source[i]
	}
	return a + b + c + d
}

// divisor returns the greatest common divisor of two numbers.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
