package scan

import (
	"context"
	"fmt"
	"time"
)

// Amazon is the setting of Malware Protection for S3 of Amazon GuardDuty.
const Amazon = "guardduty"

// resultTag is the tag that GuardDuty puts on an object that it has scanned.
const resultTag = "GuardDutyMalwareScanStatus"

// pollTime is the time between two looks for the tag.
const pollTime = 500 * time.Millisecond

// GuardDuty scans each object that comes into the bucket, and tells the result by a tag. It is for AWS
// alone: nothing else puts the tag. It has no state.
type GuardDuty struct {
	// Wait is the time for which Scan waits for the tag.
	Wait time.Duration
}

// Scan returns the verdict that the tag of an object tells (Scanner).
func (g GuardDuty) Scan(ctx context.Context, o Object) (Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, g.Wait)
	defer cancel()
	for {
		result, err := o.Store.Tag(ctx, o.Key, resultTag)
		switch {
		case err == nil && result != "":
			return told(result)
		case ctx.Err() != nil:
			return "", fmt.Errorf("%w: GuardDuty has not scanned the object", ErrNoVerdict)
		case err != nil:
			return "", fmt.Errorf("%w: %w", ErrNoVerdict, err)
		}
		select {
		case <-time.After(pollTime):
		case <-ctx.Done():
		}
	}
}

// told returns the verdict of a result of GuardDuty. Only the one result for a clean object says clean. GuardDuty
// does not open what has a password or is too large for it.
func told(result string) (Verdict, error) {
	switch result {
	case "NO_THREATS_FOUND":
		return Clean, nil
	case "THREATS_FOUND":
		return Infected, nil
	case "UNSUPPORTED":
		return Unread, nil
	}
	return "", fmt.Errorf("%w: GuardDuty says %q", ErrNoVerdict, result)
}
