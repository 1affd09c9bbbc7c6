package item

import (
	"fmt"

	"lectern/shared/apierr"
	"lectern/shared/table"
)

// MaxBytes bounds the settings of an event, and of an organization, together: what
// each instance reads again after a change of them (gaps.md section 1).
const MaxBytes = 2 << 20

// Usage is how much of the bounds of a place its settings take, in one snapshot.
type Usage struct {
	// Number counts the settings of a kind that are not deleted.
	Number map[string]int
	// Bytes counts keys and content of all settings, deleted ones too: they are read
	// with the others until they are purged (decision 19).
	Bytes int
}

// Used is how much of their bounds an event and its organization use.
type Used struct{ Organization, Event Usage }

// At returns the usage of a place, one of the two.
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
	u.Number[Kind(stored.Key)]++
}

// size returns how many bytes a setting counts for.
func size(stored table.Item) int { return len(stored.SK) + len(stored.Data) }

// Limit bounds the settings of one kind in a place.
type Limit struct {
	// Name is the kind as an error names it, such as fields.
	Name string
	Most int
}

// admit refuses one more setting of the store's kind over its Limit, and a setting that
// grows by some bytes over MaxBytes: 409 LIMIT_REACHED. A place that is over a bound
// already may shrink. Requests at one time see the same snapshot, so a bound is passed
// by at most as many settings as are written at once.
func (s Store) admit(at Place, more, bytes int) error {
	used := s.Used.At(at)
	switch {
	case more > 0 && used.Number[s.Kind]+more > s.Limit.Most:
		return apierr.LimitReached(s.Limit.Name, int64(s.Limit.Most),
			fmt.Sprintf("There are %d %s already, which is the limit. Delete some first.", used.Number[s.Kind], s.Limit.Name))
	case bytes > 0 && used.Bytes+bytes > MaxBytes:
		return apierr.LimitReached("settings_bytes", MaxBytes,
			fmt.Sprintf("All settings together must not be larger than %d bytes. Delete or shorten some first.", MaxBytes))
	}
	return nil
}
