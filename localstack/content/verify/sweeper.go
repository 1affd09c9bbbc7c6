package verify

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"lectern/localstack/content/verify/raw"
)

// addDueMinute counts a due item of a minute. An item without an organization cannot be read, and no
// organization checks it.
func (r *Report) addDueMinute(item raw.Item, org int64) {
	minute, _, _ := strings.Cut(raw.ParsePartition(item.PK).Rest, "#")
	if number, err := strconv.ParseInt(minute, 10, 64); err == nil {
		r.dueMinutes[number]++
	}
	if org == 0 {
		r.addProblems(1, "a due item of the minute "+minute+" names no organization")
	}
}

// addProgress adds the progress of the sweeper.
func (r *Report) addProgress(item raw.Item) {
	var progress struct {
		Minute int64 `json:"minute"`
	}
	if err := json.Unmarshal([]byte(item.Data), &progress); err != nil {
		r.addProblems(1, "the progress of the sweeper cannot be read")
	}
	r.sweptMinute = &progress.Minute
}

// checkSweeper reports due items that the sweeper does not find. The progress of the sweeper is
// written before the first due item, and moves past a minute when the items of the minute are sent
// and removed.
func (r *Report) checkSweeper() {
	missed := 0
	for minute, items := range r.dueMinutes {
		if r.sweptMinute == nil || minute < *r.sweptMinute {
			missed += items
		}
	}
	if missed > 0 {
		r.addProblems(1, fmt.Sprintf("%d due items are before the progress of the sweeper, or there is none", missed))
	}
}
