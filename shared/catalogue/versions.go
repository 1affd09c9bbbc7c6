package catalogue

import (
	"context"
	"errors"
	"sync"
	"time"

	"lectern/shared/table"
)

// versions are the version items of a source's shards.
type versions struct {
	// came is from when on every write that was answered must be seen, and asked when
	// the items were asked for.
	came, asked time.Time
	shards      []table.Item
}

// reading is the partitions of versions that one request reads once.
type reading struct {
	came time.Time
	// partitions are by their keys, and never change.
	partitions map[string]*partition
}

// partition is the items of the families between two, once they were read.
type partition struct {
	from, to string
	mu       sync.Mutex
	asked    time.Time
	items    map[string]table.Item
}

type readingKey struct{}

// Together returns a context under which the versions of sources that share a partition
// are read with one Query, when the first is needed. Views under it have every write in
// them that was answered before Together was called.
func Together(ctx context.Context, sources ...Source) context.Context {
	r := &reading{came: time.Now(), partitions: map[string]*partition{}}
	for _, src := range sources {
		p, ok := r.partitions[src.Versions]
		if !ok {
			p = &partition{from: src.Family, to: src.Family}
			r.partitions[src.Versions] = p
		}
		p.from, p.to = min(p.from, src.Family), max(p.to, src.Family)
	}
	return context.WithValue(ctx, readingKey{}, r)
}

// Again returns a context as of Together, for what is read later.
func Again(ctx context.Context) context.Context {
	old, ok := ctx.Value(readingKey{}).(*reading)
	if !ok {
		return ctx
	}
	r := &reading{came: time.Now(), partitions: make(map[string]*partition, len(old.partitions))}
	for pk, p := range old.partitions {
		r.partitions[pk] = &partition{from: p.from, to: p.to}
	}
	return context.WithValue(ctx, readingKey{}, r)
}

// versions reads the version of every shard; 0 for a shard without rows.
func (c *Catalogue[R, B]) versions(ctx context.Context, src Source) (versions, error) {
	now := versions{came: time.Now(), shards: make([]table.Item, src.Shards)}
	p := &partition{from: src.Family, to: src.Family}
	if r, ok := ctx.Value(readingKey{}).(*reading); ok {
		if shared := r.partitions[src.Versions]; shared != nil && shared.from <= src.Family && src.Family <= shared.to {
			p, now.came = shared, r.came
		}
	}
	items, asked, err := p.read(ctx, c.table, src.Versions)
	now.asked = asked
	for i := range now.shards {
		now.shards[i] = items[VersionKey(src, i).SK]
	}
	return now, err
}

// read returns the items of the partition, which it reads unless that was done.
func (p *partition) read(ctx context.Context, t *table.Table, pk string) (map[string]table.Item, time.Time, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.items != nil {
		return p.items, p.asked, nil
	}
	asked := time.Now()
	items, err := t.Versions(ctx, pk, p.from+"#", p.to+"#"+lastKey)
	if err == nil {
		p.items, p.asked = items, asked
	}
	return items, asked, err
}

// version reads the version of one shard; 0 for a shard without rows.
func (c *Catalogue[R, B]) version(ctx context.Context, src Source, shard int) (table.Item, error) {
	item, err := c.table.Get(ctx, VersionKey(src, shard))
	if errors.Is(err, table.ErrNotFound) {
		return table.Item{}, nil
	}
	return item, err
}
