package settings

import (
	"context"
	"fmt"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/settings/item"
)

const (
	// mismatchTime is how long settings that do not add up to their version are not read
	// again, unless the version changes. Rows have the same pause (decision 20).
	mismatchTime = 3 * time.Second
	// sureTries is how many reads in a row must find the same sum and version before the
	// place is refused for mismatchTime: a change that is becoming visible, or the next
	// one of an import, ends sooner.
	sureTries = maxTries / 2
)

// mismatch is a settings version with settings that add up to another sum. The zero value
// is none.
type mismatch struct {
	version, sum int64
	until        time.Time
}

// is reports whether the mismatch has this version and sum.
func (m mismatch) is(version, sum int64) bool {
	return m != mismatch{} && m.version == version && m.sum == sum
}

// refuse returns the 503 for the settings of a place.
func (m mismatch) refuse(at item.Place) error {
	return fmt.Errorf("settings: %s disagrees with version %d: %w", at.Partition(), m.version, apierr.Unavailable())
}

// note remembers and logs a mismatch that so many reads in a row found the same. Requests
// then answer 503 at once until its time is over.
func (c *Cache) note(ctx context.Context, at item.Place, noted *mismatch, now mismatch, same int) {
	if same < sureTries && !noted.is(now.version, now.sum) {
		return
	}
	now.until = time.Now().Add(mismatchTime)
	*noted = now
	if c.table.Log != nil {
		c.table.Log.ErrorContext(ctx, "the settings of a place do not add up to its version", "metric", "shard_mismatch",
			"partition", at.Partition(), "family", "settings", "version", now.version, "sum", now.sum)
	}
}
