package settings

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/lru"
	"lectern/shared/metadata"
	"lectern/shared/settings/item"
	"lectern/shared/table"
)

const (
	// maxTries is how often settings are read while a change of them is only
	// partly visible, before the request is a 503. All settings of a place have
	// one version, so in an import each read may meet another change.
	maxTries = 20
	// maxPause is the longest pause between two tries.
	maxPause = 20 * time.Millisecond
	// maxBytes is how much stored JSON a cache holds; decoded it takes about
	// three times that.
	maxBytes = 16 << 20
	// overhead is what a setting, or a place, takes beside its JSON.
	overhead = 512
)

// Cache keeps the settings of events and organizations in memory. It is safe
// for concurrent use.
type Cache struct {
	table  *table.Table
	places *lru.Cache[item.Place, *place]
}

// place is the settings of an event or organization, and the snapshot made with them
// last: an event keeps the organization's with its own.
type place struct {
	// turn has one place, for the caller that reads; mismatch belongs to that caller.
	turn     chan struct{}
	mismatch mismatch
	part     atomic.Pointer[part]
	made     atomic.Pointer[joined]
}

type joined struct {
	org, event *part
	snapshot   *Snapshot
}

// NewCache makes an empty cache of the table's settings.
func NewCache(t *table.Table) *Cache { return newCache(t, maxBytes) }

func newCache(t *table.Table, maxBytes int64) *Cache {
	return &Cache{table: t, places: lru.New[item.Place, *place](maxBytes)}
}

// held is the snapshots that one request has taken.
type held struct {
	mu  sync.Mutex
	all map[item.Place]*Snapshot
}

type heldKey struct{}

// Hold returns the context of a request, which takes one snapshot of the settings of a
// place for all that it does.
func Hold(ctx context.Context) context.Context {
	return context.WithValue(ctx, heldKey{}, &held{all: map[item.Place]*Snapshot{}})
}

// Load returns the settings as they were when the caller was authenticated, or
// later ones; under Hold always the same. They come from memory unless they have changed
// since; 503 when a change stays only partly visible.
func (c *Cache) Load(ctx context.Context, caller *auth.Caller) (*Snapshot, error) {
	at := item.Place{Org: caller.Org.ID}
	if caller.Event != nil {
		at.Event = caller.Event.ID
	}
	request, ok := ctx.Value(heldKey{}).(*held)
	if !ok {
		return c.join(ctx, caller, at)
	}
	if s := request.keep(at, nil); s != nil {
		return s, nil
	}
	s, err := c.join(ctx, caller, at)
	if err != nil {
		return nil, err
	}
	return request.keep(at, s), nil
}

// keep returns the request's snapshot of a place, which is s if it has none yet.
func (h *held) keep(at item.Place, s *Snapshot) *Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all[at] == nil {
		h.all[at] = s
	}
	return h.all[at]
}

// none is the settings of a caller without an event.
var none = &part{}

// join returns the snapshot made of the two parts, the same one for the same parts.
func (c *Cache) join(ctx context.Context, caller *auth.Caller, at item.Place) (*Snapshot, error) {
	own := c.place(at)
	made := own.made.Load()
	now := &joined{event: none}
	g, ctx := errgroup.WithContext(ctx)
	if made != nil && made.org.version == caller.Org.Settings {
		now.org = made.org
	} else {
		g.Go(table.Safely(func() (err error) {
			now.org, err = c.load(ctx, item.Place{Org: at.Org}, caller.Org.Settings)
			return err
		}))
	}
	if caller.Event != nil {
		g.Go(table.Safely(func() (err error) {
			now.event, err = c.load(ctx, at, caller.Event.Settings)
			return err
		}))
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if made != nil && made.org == now.org && made.event == now.event {
		return made.snapshot, nil
	}
	now.snapshot = snapshot(caller, now.org, now.event)
	own.made.Store(now)
	c.keep(at, own, now.org.size+now.event.size) // Last, so that nothing it needs is forgotten before it.
	return now.snapshot, nil
}

func (c *Cache) place(at item.Place) *place {
	return c.places.GetOrPut(at, overhead, func() *place { return &place{turn: make(chan struct{}, 1)} })
}

// load returns the settings of a place, from memory or read until they add up to exactly
// its settings version, which was version when the caller was authenticated and is read
// again where they do not. Only such settings are kept. Of the callers who need the same
// place at one time, one reads.
func (c *Cache) load(ctx context.Context, at item.Place, version int64) (*part, error) {
	s := c.place(at)
	if p := s.part.Load(); p != nil && p.version == version {
		return p, nil
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p := s.part.Load(); p != nil && p.version == version {
		return p, nil
	}
	if s.mismatch.version == version && time.Now().Before(s.mismatch.until) {
		return nil, s.mismatch.refuse(at)
	}
	p, err := c.prove(ctx, at, version, &s.mismatch)
	if err == nil {
		s.part.Store(p)
		c.keep(at, s, p.size)
	}
	return p, err
}

// keep puts a place into the cache with its size, unless it was forgotten and begun anew.
func (c *Cache) keep(at item.Place, s *place, size int) {
	c.places.PutUnless(at, s, int64(size+overhead), func(other *place) bool { return other != s })
}

// prove reads the settings of a place until they add up to its version. It notes settings
// that do not; if the last attempt noted the same, two reads are enough.
func (c *Cache) prove(ctx context.Context, at item.Place, version int64, noted *mismatch) (*part, error) {
	now, same := mismatch{}, 0
	for try := range maxTries {
		beside := version
		g, reading := errgroup.WithContext(ctx)
		if try > 0 {
			if err := table.Pause(ctx, maxPause); err != nil {
				return nil, err
			}
			g.Go(table.Safely(func() error {
				owner, err := c.table.Get(reading, at.Owner())
				beside = owner.Settings
				return err
			}))
		}
		p, err := c.read(ctx, at)
		if err := errors.Join(err, g.Wait()); err != nil {
			return nil, err
		}
		if p.version == version || p.version == beside {
			*noted = mismatch{}
			return p, nil
		}
		if same++; !now.is(beside, p.version) {
			now, same = mismatch{version: beside, sum: p.version}, 1
		}
		if same == 2 && noted.is(beside, p.version) {
			break
		}
		version = beside
	}
	c.note(ctx, at, noted, now, same)
	return nil, now.refuse(at)
}

// read reads all settings of a place.
func (c *Cache) read(ctx context.Context, at item.Place) (*part, error) {
	p := &part{entries: map[metadata.Kind][]*metadata.Entry{}}
	for stored, err := range c.table.Between(ctx, at.Partition(), first, last) {
		if err == nil {
			err = p.add(stored)
		}
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Sort keys below and above those of all settings, which begin with a letter.
const first, last = "A", "~"
