package settings

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/apierr"
	"lectern/shared/auth"
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
	table *table.Table

	mu    sync.Mutex
	slots map[item.Place]*slot
	limit int   // of held
	held  int   // bytes of all slots
	clock int64 // counts uses
}

// slot is one place's settings, and the snapshot made with them last.
type slot struct {
	// reading is filled by the one who reads the settings again.
	reading chan struct{}

	// Below, guarded by the cache's mu.
	part     *part
	used     int64
	snapshot *Snapshot
	made     [2]*part // what snapshot was made of
}

// NewCache makes an empty cache of the table's settings.
func NewCache(t *table.Table) *Cache {
	return &Cache{table: t, slots: map[item.Place]*slot{}, limit: maxBytes}
}

// Load gives the settings as they were when the caller was authenticated, or
// later ones. They come from memory unless they have changed since; 503 when a
// change stays only partly visible.
func (c *Cache) Load(ctx context.Context, caller *auth.Caller) (*Snapshot, error) {
	ofOrg, ofEvent := item.Place{Org: caller.Org.ID}, item.Place{Org: caller.Org.ID}
	org, event := c.current(ofOrg, caller.Org.Settings), none
	if caller.Event != nil {
		ofEvent.Event = caller.Event.ID
		event = c.current(ofEvent, caller.Event.Settings)
	}
	g, ctx := errgroup.WithContext(ctx)
	if org == nil {
		g.Go(table.Safely(func() (err error) {
			org, err = c.load(ctx, ofOrg, caller.Org.Settings)
			return err
		}))
	}
	if event == nil {
		g.Go(table.Safely(func() (err error) {
			event, err = c.load(ctx, ofEvent, caller.Event.Settings)
			return err
		}))
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return c.join(caller, ofEvent, org, event), nil
}

// none is the settings of a caller without an event.
var none = &part{}

// current gives the settings of a place if they are in memory and not older
// than version. What is in memory was proven, and versions only grow.
func (c *Cache) current(at item.Place, version int64) *part {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.slots[at]
	if s == nil || s.part == nil || s.part.version < version {
		return nil
	}
	c.clock++
	s.used = c.clock
	return s.part
}

// load reads the settings of a place until they add up to exactly its settings
// version, which was version when the caller was authenticated and is read again
// where they do not. Only such settings are kept. Of those who need the same
// place at one time, one reads.
func (c *Cache) load(ctx context.Context, at item.Place, version int64) (*part, error) {
	s := c.slot(at)
	select {
	case s.reading <- struct{}{}:
		defer func() { <-s.reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p := c.current(at, version); p != nil {
		return p, nil
	}
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
			c.keep(at, s, p)
			return p, nil
		}
		version = beside
	}
	return nil, fmt.Errorf("settings: %s disagrees with version %d: %w", at.Partition(), version, apierr.Unavailable())
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

func (c *Cache) slot(at item.Place) *slot {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slots[at] == nil {
		c.slots[at] = &slot{reading: make(chan struct{}, 1)}
		c.held += overhead
	}
	return c.slots[at]
}

// keep puts p into the slot, unless the slot was dropped meanwhile, and drops
// those not used for longest until the cache is within its bounds.
func (c *Cache) keep(at item.Place, s *slot, p *part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slots[at] != s {
		return
	}
	c.held += p.size - s.size()
	c.clock++
	s.part, s.used = p, c.clock
	for c.held > c.limit && len(c.slots) > 1 {
		oldest := at
		for place, other := range c.slots {
			if other.used < c.slots[oldest].used {
				oldest = place
			}
		}
		c.held -= c.slots[oldest].size() + overhead
		delete(c.slots, oldest)
	}
}

// size is how many bytes the slot's settings take.
func (s *slot) size() int {
	if s.part == nil {
		return 0
	}
	return s.part.size
}

// join gives the snapshot made of two parts, the same one for the same parts.
func (c *Cache) join(caller *auth.Caller, at item.Place, org, event *part) *Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.slots[at]
	if s == nil {
		return snapshot(caller, org, event)
	}
	if made := [2]*part{org, event}; s.made != made {
		s.snapshot, s.made = snapshot(caller, org, event), made
	}
	return s.snapshot
}
