package block

import "slices"

// Starts are the times at which a block may start. byTime has the number of the first start in or after each span of step
// milliseconds since the first start.
type Starts struct {
	Times  []int64
	byTime []int
	step   int64
}

// NewStarts returns the starts with the times, which are in order.
func NewStarts(times []int64) *Starts {
	s := &Starts{Times: times}
	if n := len(times); n > 0 {
		// Two spans a start bound the memory, however far apart the days are.
		s.step = max(5*Minute, (times[n-1]-times[0])/int64(2*n))
	}
	for i, t := range times {
		for int64(len(s.byTime))*s.step <= t-times[0] {
			s.byTime = append(s.byTime, i)
		}
	}
	return s
}

// First returns the number of the first start at a time or later, or the number of all starts.
func (s *Starts) First(t int64) int {
	n := len(s.Times)
	if n == 0 || t > s.Times[n-1] {
		return n
	}
	if t <= s.Times[0] {
		return 0
	}
	span := (t - s.Times[0]) / s.step
	first, last := s.byTime[span], n
	if next := span + 1; next < int64(len(s.byTime)) {
		last = s.byTime[next]
	}
	i, _ := slices.BinarySearch(s.Times[first:last], t)
	return first + i
}
