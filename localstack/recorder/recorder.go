// Package recorder stands between functions and the DynamoDB engine and notes which
// permission each call needs; it can refuse one as AWS does. It listens on the wire,
// below the SDK: so it sees what a function's own binary really sends, retries and
// all, and nothing of it is built into what is deployed.
package recorder

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Permission is what a role has to allow for a call.
type Permission struct {
	// Group is the function that calls.
	Group string
	// Action is the IAM action. A transaction needs those of its parts.
	Action string
	// Pattern matches the partition keys that the call names: their text up to the
	// first #, and a star. For a call that names none it is a star alone.
	Pattern string
}

// String is the permission as a line of a list of permissions.
func (p Permission) String() string { return p.Group + "\t" + p.Action + "\t" + p.Pattern }

// Parse reads what String writes; ok is false for any other text.
func Parse(line string) (p Permission, ok bool) {
	parts := strings.Split(line, "\t")
	if len(parts) != 3 {
		return p, false
	}
	return Permission{parts[0], parts[1], parts[2]}, true
}

// Recorder notes permissions. It is safe for concurrent use, by any number of
// engines.
type Recorder struct {
	refused *Permission

	mu       sync.Mutex
	used     map[Permission]struct{}
	refusals int
}

// New is a recorder that has noted nothing. It refuses the calls that need the
// permission given; nil refuses none.
func New(refused *Permission) *Recorder {
	return &Recorder{refused: refused, used: map[Permission]struct{}{}}
}

// Used are the permissions that were needed, in the order of their lines.
func (r *Recorder) Used() []Permission {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.SortedFunc(maps.Keys(r.used), func(a, b Permission) int { return strings.Compare(a.String(), b.String()) })
}

// Refusals is how many calls were refused.
func (r *Recorder) Refusals() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refusals
}

// note notes the permissions of one call and gives the one that it is refused for, if
// any.
func (r *Recorder) note(needed []Permission) *Permission {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range needed {
		if r.refused != nil && p == *r.refused {
			r.refusals++
			return r.refused
		}
	}
	for _, p := range needed {
		r.used[p] = struct{}{}
	}
	return nil
}
