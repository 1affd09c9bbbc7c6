package feed

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"lectern/shared/table"
)

// Buckets is the number of partitions of an hour. A partition takes about 500 writes a second.
const Buckets = 8

// hourForm is the form of an hour in keys.
const hourForm = "2006010215"

// Hour returns the key of the item of an hour with items. A reader leaves out hours without it.
func Hour(root string, at time.Time) table.Key {
	return table.Key{PK: root, SK: at.UTC().Format(hourForm)}
}

// HourOf returns the key of the hour's item for the key of an item.
func HourOf(key table.Key) table.Key {
	hour := key.PK[:strings.LastIndexByte(key.PK, '#')]
	last := strings.LastIndexByte(hour, '#')
	return table.Key{PK: hour[:last], SK: hour[last+1:]}
}

// Partition returns the partition of the hour of at, for a bucket from 0 to Buckets-1.
func Partition(root string, at time.Time, bucket int) string {
	return root + "#" + at.UTC().Format(hourForm) + "#" + strconv.Itoa(bucket)
}

// Key returns the key of an item of an hourly log. id is a UUID that is ordered by time.
func Key(root, id string, at time.Time) table.Key {
	return table.Key{PK: Partition(root, at, int(id[len(id)-1])%Buckets), SK: id}
}

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

// After returns the first key after a sort key that exists: no UUID continues with a space.
func After(key string) string { return key + " " }

// form returns the form of a period in keys.
func (l Log) form() string {
	if l.Hourly {
		return hourForm
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
