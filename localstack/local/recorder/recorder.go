// Package recorder stands between functions and the services of AWS that they call, notes the
// permission that each call needs, and can refuse a permission like AWS. The recorder knows
// DynamoDB, S3, SQS, EventBridge, Secrets Manager and Amazon Transcribe by the signature of a call, and
// refuses every other call. S3 has a door for each function (Bucket). The recorder reads the calls on
// the wire below the SDK, so it sees everything that a function's own binary sends, retries
// too, and the deployed code contains no part of it.
package recorder

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Permission is an action that a role has to allow for a call.
type Permission struct {
	// Group is the calling function.
	Group string
	// Action is the IAM action. A transaction needs the actions of its parts.
	Action string
	// Pattern names the resource of the call. For DynamoDB it matches the partition key: the
	// text up to the first #, and a star; only a star for a call without a key. For S3 it is
	// the same of the object's key, or of the prefix of a list, up to the first slash. For SQS,
	// EventBridge and Secrets Manager it is the name of the queue, bus or secret; for Amazon
	// Transcribe the start of the job's name.
	Pattern string
}

// String returns a line of a list of permissions.
func (p Permission) String() string { return p.Group + "\t" + p.Action + "\t" + p.Pattern }

// compare orders permissions by their lines.
func (p Permission) compare(other Permission) int { return strings.Compare(p.String(), other.String()) }

// Parse reads a line of String; ok is false for any other text.
func Parse(line string) (p Permission, ok bool) {
	parts := strings.Split(line, "\t")
	if len(parts) != 3 {
		return p, false
	}
	return Permission{parts[0], parts[1], parts[2]}, true
}

// Recorder notes permissions. A Recorder is safe for concurrent use, by any number of engines.
type Recorder struct {
	refused *Permission

	mu       sync.Mutex
	used     map[Permission]struct{}
	refusals int
}

// New returns an empty recorder that refuses calls with the refused permission; nil refuses no
// call.
func New(refused *Permission) *Recorder {
	return &Recorder{refused: refused, used: map[Permission]struct{}{}}
}

// Used returns the noted permissions, in the order of their lines.
func (r *Recorder) Used() []Permission {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.SortedFunc(maps.Keys(r.used), Permission.compare)
}

// Refusals returns the number of refused calls.
func (r *Recorder) Refusals() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refusals
}

// note notes the permissions of a call, or returns the permission to refuse the call for.
func (r *Recorder) note(needed []Permission) *Permission {
	if p := r.refuses(needed); p != nil {
		return p
	}
	r.use(needed)
	return nil
}

// refuses returns the permission to refuse a call for; nil for a call to be done.
func (r *Recorder) refuses(needed []Permission) *Permission {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range needed {
		if r.refused != nil && p == *r.refused {
			r.refusals++
			return r.refused
		}
	}
	return nil
}

// use notes the permissions of a call.
func (r *Recorder) use(needed []Permission) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range needed {
		r.used[p] = struct{}{}
	}
}
