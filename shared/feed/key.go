package feed

import (
	"fmt"
	"strconv"
	"time"
)

// boundLength is the length of the part of a UUID that has the time.
const boundLength = len("01234567-89ab")

// Bound returns the text before all sort keys of the millisecond of t and after all earlier keys.
func Bound(t time.Time) string {
	text := fmt.Sprintf("%012x", max(t.UnixMilli(), 0))
	return text[:8] + "-" + text[8:]
}

// Time returns the time of a sort key or of a Bound. It reports false for any other text.
func Time(key string) (time.Time, bool) {
	if len(key) < boundLength || key[8] != '-' {
		return time.Time{}, false
	}
	millis, err := strconv.ParseUint(key[:8]+key[9:boundLength], 16, 48)
	at := time.UnixMilli(int64(millis)).UTC()
	return at, err == nil && Bound(at) == key[:boundLength]
}

// after returns the first key after a sort key that exists: no UUID continues with a space.
func after(key string) string { return key + " " }

// form returns the form of a period in keys.
func (l Log) form() string {
	if l.Hourly {
		return "2006010215"
	}
	return "200601"
}

// period returns the period of a sort key or of a Bound.
func (l Log) period(key string) string {
	at, _ := Time(key)
	return at.UTC().Format(l.form())
}

// start returns the time at which a period begins.
func (l Log) start(period string) time.Time {
	at, _ := time.Parse(l.form(), period) // The service writes no other form.
	return at
}
