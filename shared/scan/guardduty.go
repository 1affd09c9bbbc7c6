package scan

import (
	"context"
	"fmt"
	"time"
)

const (
	// tag is the tag of an object in which GuardDuty writes the result of a scan.
	tag = "GuardDutyMalwareScanStatus"
	// pause is the time between two looks at the tag.
	pause = time.Second
)

// GuardDuty is Malware Protection for S3 of Amazon GuardDuty. It scans each new object of the bucket
// by itself and tags the object.
type GuardDuty struct {
	// Wait is the time for which Scan waits for the tag; 0 stands for 12 seconds.
	Wait time.Duration
}

// Scan returns the verdict that the tag of the object holds (Scanner). GuardDuty scans no object above
// a size, and no content that has a password: these are not scanned.
func (g *GuardDuty) Scan(ctx context.Context, o Object) (Verdict, error) {
	for until := time.Now().Add(orElse(g.Wait, waiting)); ; {
		status, err := o.Store.Tag(ctx, o.Key, tag)
		if err != nil {
			return "", fmt.Errorf("%w: read the tag %s: %w", ErrNoVerdict, tag, err)
		}
		switch status {
		case "NO_THREATS_FOUND":
			return Clean, nil
		case "THREATS_FOUND":
			return Infected, nil
		case "UNSUPPORTED":
			return NotScanned, nil
		case "":
		default:
			return "", fmt.Errorf("%w: the tag %s of the object is %s", ErrNoVerdict, tag, status)
		}
		if time.Now().Add(pause).After(until) {
			return "", ErrPending
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return "", ErrPending
		}
	}
}
