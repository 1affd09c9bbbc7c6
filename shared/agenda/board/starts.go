package board

// Starts are the times at which a block may start. byTime has the number of the first start in or after each span of step
// milliseconds since the first start.
type Starts struct {
	Times  []int64
	byTime []int
}

const step = 5 * Minute

// NewStarts returns the starts with the times, which are in order.
func NewStarts(times []int64) *Starts {
	s := &Starts{Times: times}
	for i, t := range times {
		for int64(len(s.byTime))*step <= t-times[0] {
			s.byTime = append(s.byTime, i)
		}
	}
	return s
}

// First returns the number of the first start at a time or later, or the number of all starts.
func (s *Starts) First(t int64) int {
	if len(s.Times) == 0 || t <= s.Times[0] {
		return 0
	}
	span := (t - s.Times[0]) / step
	if span >= int64(len(s.byTime)) {
		return len(s.Times)
	}
	i := s.byTime[span]
	for i < len(s.Times) && s.Times[i] < t {
		i++
	}
	return i
}
