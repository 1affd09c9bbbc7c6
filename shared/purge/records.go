package purge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"lectern/shared/change"
	"lectern/shared/resource"
	"lectern/shared/table"
)

// records purges the deleted small records of the event, or of the organization, with the
// records that belong to them.
func (r *run) records(ctx context.Context) error {
	all := map[string]table.Item{}
	var keys []string
	from, to := resource.Range()
	for item, err := range r.Table.Between(ctx, r.owner("").Partition(), from, to) {
		if err != nil {
			return err
		}
		stored, err := decodeRecord(item)
		if err != nil {
			return err
		}
		// A restore that began before the end of resource.Keep is done by then.
		if stored.DeletedAt != nil && stored.DeletedAt.Before(r.before.Add(-quiet)) {
			all[item.SK] = table.Item{Key: item.Key, Version: item.Version}
			keys = append(keys, item.SK)
		}
	}
	until := r.until()
	return r.each(ctx, keys, &r.Counts.Records, func(ctx context.Context, sk string) (bool, error) {
		return r.deletedRecord(ctx, all[sk], until)
	})
}

// owner returns the owner of the records below a parent, or of those of the event or
// organization itself.
func (r *run) owner(parent string) resource.Owner {
	return resource.Owner{Org: r.org, Event: r.event, Parent: parent}
}

// deletedRecord purges a deleted record after the records that belong to it, so that an
// interrupted purge finds them again. A record cannot be restored by then.
func (r *run) deletedRecord(ctx context.Context, item table.Item, until time.Time) (done bool, err error) {
	kind, id, _ := resource.KindOf(item.Key)
	if err := r.below(ctx, id, item, until); err != nil {
		return false, err
	}
	record := r.record(ctx, kind, id, item.Version)
	err = change.Commit(ctx, r.Table, table.Remove(item.Key, item.Version), record.Write())
	return err == nil, err
}

// below purges and counts all records of a parent, page by page, and deletes the numbers of them, as long
// as the deleted record top stays as it was read.
func (r *run) below(ctx context.Context, parent string, top table.Item, until time.Time) error {
	still := table.Version(top.Key, top.Version)
	var numbers []table.Write
	for item, err := range r.Table.Between(ctx, r.owner(parent).Partition(), "A", lastKey) {
		if err != nil {
			return err
		}
		kind, id, _ := resource.KindOf(item.Key)
		if resource.IsSum(item.Key) || item.Key == r.owner(parent).CountKey(kind) {
			numbers = append(numbers, table.Delete(item.Key))
			continue
		}
		if err := begin(ctx, until); err != nil {
			return err
		}
		if err := r.below(ctx, id, top, until); err != nil {
			return err
		}
		gone, err := r.child(ctx, kind, parent, item)
		if err != nil {
			return err
		}
		if err := change.Commit(ctx, r.Table, append(gone, still)...); err != nil {
			return err
		}
		atomic.AddInt64(&r.Counts.Records, 1)
	}
	return r.drop(ctx, numbers)
}

// child returns the writes that purge a record of a parent: the record, the number, the
// hold of a unique value and the change record.
func (r *run) child(ctx context.Context, kind, parent string, item table.Item) ([]table.Write, error) {
	stored, err := decodeRecord(item)
	if err != nil {
		return nil, err
	}
	number, err := r.Table.Get(ctx, r.owner(parent).CountKey(kind))
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return nil, err
	}
	record := r.record(ctx, kind, stored.ID, item.Version)
	gone := []table.Write{table.Remove(item.Key, item.Version), record.Write()}
	if n, err := strconv.Atoi(string(number.Data)); err == nil {
		less := table.Item{Key: number.Key, Version: number.Version + 1, Data: strconv.AppendInt(nil, int64(n-1), 10)}
		gone = append(gone, table.Replace(less, number.Version))
	}
	if stored.Meta.Unique != "" {
		gone = append(gone, table.Delete(r.owner(parent).HoldKey(kind, stored.Meta.Unique)))
	}
	return gone, nil
}

func decodeRecord(item table.Item) (stored resource.Stored, err error) {
	if err = json.Unmarshal(item.Data, &stored); err != nil {
		err = fmt.Errorf("decode %s: %w", item.SK, err)
	}
	return stored, err
}
