package stack

import (
	"maps"
	"slices"
	"sync"
)

// Routes collects the routes that requests came for, at any number of doors. The zero Routes
// is empty.
type Routes struct {
	mu   sync.Mutex
	seen map[string]struct{}
}

// note adds the route of a request; a nil Routes drops it.
func (r *Routes) note(method, template string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[string]struct{}{}
	}
	r.seen[method+" "+template] = struct{}{}
}

// Seen returns the routes, each as METHOD /path, in order.
func (r *Routes) Seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.seen))
}
