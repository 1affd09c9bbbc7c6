package solver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lectern/shared/agenda/block"
)

// The reasons for a session without a place.
const (
	parentUnplaced = "The parent session has no place."
	noTime         = "The search ended before the session had a place."
)

// mostJudged is how many places are judged for a reason, and mostCauses how many obstacles of each are looked at.
const mostJudged, mostCauses = 1000, 20

// explain gives a block a free place, or says why none of its places is free. Of more than mostJudged places it looks at
// random ones.
func (s *search) explain(of *block.Session) string {
	times, by, judged := map[string]int{}, map[string]string{}, 0
	for i := range min(of.Choices(), mostJudged) {
		if of.Choices() > mostJudged {
			i = s.IntN(of.Choices())
		}
		_, found := s.Judge(of, of.Choice(i), mostCauses)
		if len(found) == 0 {
			s.Move(of, of.Choice(i))
			return ""
		}
		if judged++; judged%64 == 1 && s.over() {
			return noTime
		}
		for _, o := range found {
			times[o.Cause]++
			by[o.Cause] = o.Session.Of.Name
		}
	}
	var parts []string
	for _, cause := range slices.Sorted(maps.Keys(times)) {
		parts = append(parts, fmt.Sprintf("%s (%d times in %d places, for example by %s)", cause, times[cause], judged, by[cause]))
	}
	return "No place is free: " + strings.Join(parts, "; ") + "."
}
