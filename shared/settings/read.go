package settings

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/apierr"
	"lectern/shared/metadata"
	"lectern/shared/settings/item"
	"lectern/shared/table"
)

// reads are the reads of settings during a change, before the 503. All settings of an owner
// have one version, so each read of an import may meet another change.
var reads = table.Retry{Tries: 20, First: 20 * time.Millisecond, Max: 20 * time.Millisecond}

const (
	// mismatchTime is the time for which settings that do not add up to the version are
	// not read again, unless the version changes. Rows have the same pause (decision 20).
	mismatchTime = 3 * time.Second
	// sureTries is the number of reads in a row that find the same sum and version before
	// the owner is refused for mismatchTime. A change that is becoming visible, or the next
	// change of an import, ends sooner.
	sureTries = 10
)

// mismatch is a settings version with another sum of its settings. The zero value means none.
type mismatch struct {
	version, sum int64
	until        time.Time
}

// is reports whether the mismatch has this version and sum.
func (m mismatch) is(version, sum int64) bool {
	return m != mismatch{} && m.version == version && m.sum == sum
}

// refuse returns the 503 for the settings of an owner.
func (m mismatch) refuse(at item.Place) error {
	return fmt.Errorf("settings: %s disagrees with version %d: %w", at.Partition(), m.version, apierr.Unavailable())
}

// start loads the settings of an owner in a goroutine of g.
func (c *Cache) start(ctx context.Context, g *errgroup.Group, at item.Place, version int64, into **part) {
	g.Go(table.Safely(func() (err error) {
		*into, err = c.load(ctx, at, version)
		return err
	}))
}

// load returns the settings of an owner whose settings version was version when the caller was
// authenticated. Of several callers, only the first reads. Memory keeps only settings that add up to
// exactly the version.
func (c *Cache) load(ctx context.Context, at item.Place, version int64) (*part, error) {
	o := c.owner(at)
	if p := o.part.Load(); p != nil && p.version == version {
		return p, nil
	}
	select {
	case o.lock <- struct{}{}:
		defer func() { <-o.lock }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p := o.part.Load(); p != nil && p.version == version {
		return p, nil
	}
	if o.mismatch.version == version && time.Now().Before(o.mismatch.until) {
		return nil, o.mismatch.refuse(at)
	}
	p, err := c.prove(ctx, at, version, &o.mismatch)
	if err == nil {
		o.part.Store(p)
		c.owners.PutBack(at, o, int64(p.size+overhead))
	}
	return p, err
}

// prove reads the settings of an owner until the settings add up to the version, and notes a mismatch.
// If noted is the same mismatch, two reads are enough.
func (c *Cache) prove(ctx context.Context, at item.Place, version int64, noted *mismatch) (*part, error) {
	now, same := mismatch{}, 0
	for try, err := range reads.Each(ctx) {
		beside := version
		var p *part
		switch {
		case err != nil:
		case try == 0:
			p, err = c.read(ctx, at)
		default:
			p, beside, err = c.readBoth(ctx, at)
		}
		if err != nil {
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

// note remembers and logs a mismatch that sureTries reads in a row found the same, or an
// earlier caller too. Requests then get the 503 without a read until the time is over.
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

// readBoth reads all settings of an owner and, in parallel, the settings version. It reads the owner
// as a batch, which every function with settings may do.
func (c *Cache) readBoth(ctx context.Context, at item.Place) (p *part, version int64, err error) {
	g, reading := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() error {
		got, err := c.table.GetMany(reading, []table.Key{at.Owner()})
		owner, ok := got[at.Owner()]
		if err == nil && !ok {
			err = table.ErrNotFound
		}
		version = owner.Settings
		return err
	}))
	p, err = c.read(reading, at)
	if ownerErr := g.Wait(); ownerErr != nil {
		err = ownerErr
	}
	return p, version, err
}

// Sort keys below and above the keys of all settings, which begin with a letter.
const first, last = "A", "~"

// read reads all settings of an owner.
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
