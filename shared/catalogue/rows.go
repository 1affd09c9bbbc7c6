package catalogue

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"lectern/shared/table"
)

// Rows returns the number of rows of src, as counted on the versions of the shards, by one
// Query.
func Rows(ctx context.Context, t *table.Table, src Source) (rows int64, err error) {
	versions, err := t.Versions(ctx, src.Versions, src.Family+"#", src.Family+"#"+lastKey)
	for _, version := range versions {
		rows += version.Count
	}
	return rows, err
}

// Recount counts the rows of each shard of src and sets their number, while others write.
func Recount(ctx context.Context, t *table.Table, src Source) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(shardsAtOnce)
	for i := range src.Shards {
		g.Go(table.Safely(func() error { return recount(ctx, t, src, i) }))
	}
	return g.Wait()
}

// recount reads the version of a shard, counts its rows, and sets the number if the rows add up
// to the version and the version is still the same. Otherwise recount repeats. It leaves a
// shard without a version alone.
func recount(ctx context.Context, t *table.Table, src Source, shard int) error {
	key, prefix := VersionKey(src, shard), shardPrefix(shard)
	for _, err := range settling.Each(ctx) {
		if err != nil {
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
