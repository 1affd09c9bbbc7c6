package item

import (
	"fmt"

	"lectern/shared/apierr"
	"lectern/shared/record"
	"lectern/shared/table"
)

// MaxBytes bounds the settings of an event, and of an organization, together: each instance
// reads all settings again after a change (gaps.md section 1).
const MaxBytes = 2 << 20

// Usage counts the settings of a place in a snapshot, for the bounds.
type Usage struct {
	// Number counts the settings of a kind that are not deleted.
	Number map[string]int
	// Bytes counts the sort keys and content of all settings, deleted settings included: a
	// snapshot reads them until the purge (decision 19).
	Bytes int
}

// Used counts the settings of an event and of the organization.
type Used struct{ Organization, Event Usage }

// At returns the usage of the event or the organization.
func (u *Used) At(p Place) *Usage {
	if p.Event == 0 {
		return &u.Organization
	}
	return &u.Event
}

// Add counts a stored setting.
func (u *Usage) Add(stored table.Item, deleted bool) {
	u.Bytes += size(stored)
	if deleted {
		return
	}
	if u.Number == nil {
		u.Number = map[string]int{}
	}
	u.Number[KindOf(stored.Key)]++
}

// size returns the bytes of a setting that the bounds count.
func size(stored table.Item) int { return len(stored.SK) + len(stored.Data) }

// admit refuses one more setting of the kind over Most, and a setting that grows by some bytes
// over MaxBytes: 409 LIMIT_REACHED. A place that is over a bound already may shrink. Requests
// at the same time see the same snapshot, so a bound is passed by at most as many settings as
// are written at once.
func (s storage[R, P]) admit(verb record.Verb, bytes int) error {
	number, most := s.used.Number[s.kind.Name], s.kind.Most
	switch {
	case verb == record.Deleted:
	case verb != record.Updated && number >= most:
		return apierr.TooMany(s.kind.Many, number, most, apierr.DeleteSome)
	case bytes > 0 && s.used.Bytes+bytes > MaxBytes:
		return apierr.LimitReached("settings_bytes", MaxBytes,
			fmt.Sprintf("All settings together must not be larger than %d bytes. Delete or shorten some first.", MaxBytes))
	}
	return nil
}
