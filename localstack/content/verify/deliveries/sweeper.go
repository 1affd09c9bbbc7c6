package deliveries

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"lectern/localstack/content/verify/raw"
)

// Sweeper compares the due items of a region with the progress of the sweeper, which is written before
// the first due item and moves past a minute when the items of the minute are sent and removed.
type Sweeper struct {
	// minutes are the numbers of due items by minute. progress is the minute with which the next sweep
	// begins; nil without the item.
	minutes  map[int64]int
	progress *int64
}

// AddDue counts a due item of a minute. It returns the problem of an item without an organization,
// which no organization checks; empty without one.
func (s *Sweeper) AddDue(item raw.Item) (problem string) {
	if s.minutes == nil {
		s.minutes = map[int64]int{}
	}
	minute, _, _ := strings.Cut(raw.ParsePartition(item.PK).Rest, "#")
	if number, err := strconv.ParseInt(minute, 10, 64); err == nil {
		s.minutes[number]++
	}
	if item.Organization() == 0 {
		return "a due item of the minute " + minute + " names no organization"
	}
	return ""
}

// AddProgress adds the progress of the sweeper. It returns the problem of an item that cannot be read;
// empty without one.
func (s *Sweeper) AddProgress(item raw.Item) (problem string) {
	var data struct {
		Minute int64 `json:"minute"`
	}
	s.progress = &data.Minute
	if err := json.Unmarshal([]byte(item.Data), &data); err != nil {
		return "the progress of the sweeper cannot be read"
	}
	return ""
}

// Check returns the problem of due items that the sweeper does not find; empty without one.
func (s *Sweeper) Check() (problem string) {
	missed := 0
	for minute, items := range s.minutes {
		if s.progress == nil || minute < *s.progress {
			missed += items
		}
	}
	if missed == 0 {
		return ""
	}
	return fmt.Sprintf("%d due items are before the progress of the sweeper, or there is none", missed)
}
