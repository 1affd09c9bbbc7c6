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
	// came is the time of the caller: every write that was answered before came must be
	// seen. asked is the time when the items were asked for.
	came, asked time.Time
	shards      []table.Item
}

// reading has the partitions of versions that one request reads once, by key.
type reading struct {
	came       time.Time
	partitions map[string]*partition
}

// partition has the version items of a span of families, both ends included, after the first
// read.
type partition struct {
	from, to string
	mu       sync.Mutex
	asked    time.Time
	items    map[string]table.Item
}

type readingKey struct{}

// ShareVersions returns a context under which one Query reads the versions of all sources in
// a partition, for the first view of these sources. Views under the context have every write
// that was answered before ShareVersions was called.
func ShareVersions(ctx context.Context, sources ...Source) context.Context {
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

// RenewVersions returns a context like ShareVersions, as of now.
func RenewVersions(ctx context.Context) context.Context {
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

// readVersions reads the version of every shard; 0 for a shard without rows.
func readVersions(ctx context.Context, t *table.Table, src Source) (versions, error) {
	now := versions{came: time.Now(), shards: make([]table.Item, src.Shards)}
	p := &partition{from: src.Family, to: src.Family}
	if r, ok := ctx.Value(readingKey{}).(*reading); ok {
		if shared := r.partitions[src.Versions]; shared != nil && shared.from <= src.Family && src.Family <= shared.to {
			p, now.came = shared, r.came
		}
	}
	items, asked, err := p.read(ctx, t, src.Versions)
	now.asked = asked
	for i := range now.shards {
		now.shards[i] = items[VersionKey(src, i).SK]
	}
	return now, err
}

// read returns the items of the partition. It reads them once.
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

// readVersion reads the version of one shard; 0 for a shard without rows.
func readVersion(ctx context.Context, t *table.Table, src Source, shard int) (table.Item, error) {
	item, err := t.Get(ctx, VersionKey(src, shard))
	if errors.Is(err, table.ErrNotFound) {
		return table.Item{}, nil
	}
	return item, err
}
