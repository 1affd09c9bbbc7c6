package settings

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/lru"
	"lectern/shared/settings/item"
	"lectern/shared/table"
)

const (
	// maxBytes is the stored JSON that a cache holds; decoded it takes about three times the
	// memory.
	maxBytes = 16 << 20
	// overhead is about the memory of a setting, or of an owner, beside the JSON.
	overhead = 512
)

// Cache keeps the settings of events and organizations in memory. It is safe for concurrent
// use.
type Cache struct {
	table  *table.Table
	owners *lru.Cache[item.Place, *owner]
}

// owner has the settings of an event or organization in memory.
type owner struct {
	// lock has room for the caller that reads. mismatch belongs to this caller.
	lock     chan struct{}
	mismatch mismatch
	part     atomic.Pointer[part]
	// made is the last snapshot. An event keeps the organization's part with its own.
	made atomic.Pointer[joined]
}

// joined is a snapshot with the parts of the organization and of the event.
type joined struct {
	org, event *part
	snapshot   *Snapshot
}

// NewCache returns an empty cache of the table's settings.
func NewCache(t *table.Table) *Cache { return newCache(t, maxBytes) }

func newCache(t *table.Table, maxBytes int64) *Cache {
	return &Cache{table: t, owners: lru.New[item.Place, *owner](maxBytes)}
}

// request has the snapshots of one request.
type request struct {
	mu  sync.Mutex
	all map[item.Place]*Snapshot
}

type requestKey struct{}

// OneSnapshot returns the context of a request that uses the same snapshot from its beginning
// to its end.
func OneSnapshot(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, &request{all: map[item.Place]*Snapshot{}})
}

// Load returns the settings as of the caller's authentication, or later; under OneSnapshot
// always the same. Unchanged settings come from memory. Load returns a 503 if the settings
// do not add up to their version.
func (c *Cache) Load(ctx context.Context, caller *auth.Caller) (*Snapshot, error) {
	at := item.Place{Org: caller.Org.ID}
	if caller.Event != nil {
		at.Event = caller.Event.ID
	}
	r, ok := ctx.Value(requestKey{}).(*request)
	if !ok {
		return c.join(ctx, caller, at)
	}
	if s := r.keep(at, nil); s != nil {
		return s, nil
	}
	s, err := c.join(ctx, caller, at)
	if err != nil {
		return nil, err
	}
	return r.keep(at, s), nil
}

// keep returns the request's snapshot of an owner. A request without a snapshot keeps s.
func (r *request) keep(at item.Place, s *Snapshot) *Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all[at] == nil {
		r.all[at] = s
	}
	return r.all[at]
}

// none is the part of a caller without an event.
var none = &part{}

// join returns the snapshot of both parts, always the same snapshot for the same parts.
func (c *Cache) join(ctx context.Context, caller *auth.Caller, at item.Place) (*Snapshot, error) {
	own := c.owner(at)
	made := own.made.Load()
	now := &joined{event: none}
	g, within := errgroup.WithContext(ctx)
	if made != nil && made.org.version == caller.Org.Settings {
		now.org = made.org
	} else {
		c.start(within, g, item.Place{Org: at.Org}, caller.Org.Settings, &now.org)
	}
	if caller.Event != nil {
		c.start(within, g, at, caller.Event.Settings, &now.event)
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if made != nil && made.org == now.org && made.event == now.event {
		return made.snapshot, nil
	}
	now.snapshot = snapshot(caller, now.org, now.event)
	own.made.Store(now)
	// The last step: nothing that the snapshot needs is evicted before.
	c.owners.PutBack(at, own, int64(now.org.size+now.event.size+overhead))
	return now.snapshot, nil
}

func (c *Cache) owner(at item.Place) *owner {
	return c.owners.GetOrPut(at, overhead, newOwner)
}

func newOwner() *owner { return &owner{lock: make(chan struct{}, 1)} }
