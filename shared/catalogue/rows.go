package catalogue

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"lectern/shared/table"
)

// Rows returns how many rows of src are counted on the versions of its shards, by one
// Query of them.
func Rows(ctx context.Context, t *table.Table, src Source) (rows int64, err error) {
	versions, err := t.Versions(ctx, src.Versions, src.Family+"#", src.Family+"#"+lastKey)
	for _, version := range versions {
		rows += version.Count
	}
	return rows, err
}

// Recount sets how many rows each shard of src has by counting them, beside writers.
func Recount(ctx context.Context, t *table.Table, src Source) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(shardsAtOnce)
	for i := range src.Shards {
		g.Go(table.Safely(func() error { return recount(ctx, t, src, i) }))
	}
	return g.Wait()
}

// recount counts the rows of a shard after its version was read, and sets the number
// where the rows add up to the version and it is still the same: a row that is written
// meanwhile, or not visible yet, has it counted again. A shard without a version is not
// touched.
func recount(ctx context.Context, t *table.Table, src Source, shard int) error {
	key, prefix := VersionKey(src, shard), shardPrefix(shard)
	for try := range maxTries {
		if err := pauses.Wait(ctx, try); err != nil {
			return err
		}
		version, err := t.Get(ctx, key)
		if errors.Is(err, table.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		rows, sum := int64(0), int64(0)
		for row, err := range t.Between(ctx, src.Rows, prefix, prefix+lastKey) {
			if err != nil {
				return err
			}
			rows++
			sum += row.Version * table.Weight(row.SK[len(prefix):])
		}
		if sum != version.Version {
			continue
		}
		if rows == version.Count {
			return nil
		}
		err = t.Transact(ctx, table.CorrectShard(key, version.Version, version.Version, rows))
		if !errors.Is(err, table.ErrStale) {
			return err
		}
	}
	return unsettled("counted rows", src)
}
