package delivery

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"time"
)

// schedule has the delay of each attempt after the attempt before it: about three days in sum.
var schedule = []time.Duration{
	0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
	5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// MostAttempts is the number of scheduled attempts of a delivery.
var MostAttempts = len(schedule)

// Jitter is the part of a delay by which attempts are spread, to both sides.
const Jitter = 0.2

// Delay returns the time between an attempt that failed and the next scheduled attempt, in whole
// seconds. made is the number of scheduled attempts made. retryAfter is the wait that the receiver
// asks for, or 0; Delay follows it between the delay of the schedule and twice that delay. spread
// is from 0 to 1. After the last attempt, Delay reports false.
func Delay(made int, retryAfter time.Duration, spread float64) (delay time.Duration, ok bool) {
	if made <= 0 || made >= MostAttempts {
		return 0, false
	}
	base := schedule[made]
	delay = base + time.Duration((2*spread-1)*Jitter*float64(base))
	if retryAfter > 0 {
		later := max(base, retryAfter) + time.Duration(spread*Jitter*float64(base))
		delay = min(later, 2*base)
	}
	return (delay + time.Second - 1).Truncate(time.Second), true
}

// spread returns a number from 0 to 1 that looks random and depends on the delivery and the number
// of the attempt alone. So many deliveries that fail together are not tried again together, and a
// repetition plans the same time.
func spread(id string, made int) float64 {
	h := sha256.Sum256([]byte(id + "#" + strconv.Itoa(made)))
	const bits = 53
	return float64(binary.BigEndian.Uint64(h[:8])>>(64-bits)) / (1 << bits)
}
