package faulty

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lectern/shared/table"
)

// hold is the claim of a call on a key: of a write, or of a reading transaction.
type hold struct {
	// hidden reports whether reads get old instead of the item in the table.
	hidden bool
	// old is the item before the write; nil if there was no item.
	old attributes
}

// transact does the transaction: whole in the table, piece by piece for readers through the
// door. While transact holds a key, no other write of the door reaches the key. So the item
// that was read before the write is the old item.
func (d *Door) transact(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	keys, torn := keysOf(in.TransactItems), d.happens(d.config.Torn, &d.counts.Torn)
	last := torn && d.happens(d.config.VersionsLast, &d.counts.VersionsLast)
	var hidden, open []table.Key
	for _, key := range keys {
		if torn && (last || !isVersion(key)) {
			hidden = append(hidden, key)
		} else {
			open = append(open, key)
		}
	}
	d.hold(keys)
	if err := d.hide(ctx, tableOf(in.TransactItems), hidden); err != nil {
		d.free(keys)
		return nil, err
	}
	out, err := d.inner.TransactWriteItems(ctx, in, o...)
	if err != nil {
		d.free(keys)
		return nil, err
	}
	d.free(open)
	d.reveal(hidden)
	return out, nil
}

// hide makes readers go on to see the current items of the keys.
func (d *Door) hide(ctx context.Context, name string, keys []table.Key) error {
	if len(keys) == 0 {
		return nil
	}
	asked := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
	for _, key := range keys {
		asked.Keys = append(asked.Keys, attributesOf(key))
	}
	out, err := d.inner.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{name: asked},
	})
	if err != nil {
		return err
	}
	if len(out.UnprocessedKeys) > 0 {
		return errors.New("faulty: the items of the transaction are too large to be hidden")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range keys {
		d.held[key].hidden = true
	}
	for _, item := range out.Responses[name] {
		d.held[keyOf(item)].old = item
	}
	return nil
}

func isVersion(key table.Key) bool { return strings.HasSuffix(key.PK, "#V") }

// reveal frees the keys one by one, each at a time of its own within TornFor: in random
// order, but version items after all others.
func (d *Door) reveal(keys []table.Key) {
	times := make([]time.Duration, len(keys))
	d.mu.Lock()
	d.random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	slices.SortStableFunc(keys, func(a, b table.Key) int {
		switch {
		case isVersion(a) == isVersion(b):
			return 0
		case isVersion(a):
			return 1
		}
		return -1
	})
	for i := range times {
		times[i] = time.Duration(d.random.Int64N(int64(TornFor)))
	}
	d.mu.Unlock()
	slices.Sort(times)
	start := time.Now()
	for i := range keys {
		time.Sleep(times[i] - time.Since(start))
		d.free(keys[i : i+1])
	}
}

// hold waits until no other call holds any of the keys, then holds all keys.
func (d *Door) hold(keys []table.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.holds(keys) {
		d.freed.Wait()
	}
	for _, key := range keys {
		d.held[key] = &hold{}
	}
}

// holdFree holds all keys if no other call holds any of the keys, and reports whether all
// keys are now held.
func (d *Door) holdFree(keys []table.Key) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.holds(keys) {
		return false
	}
	for _, key := range keys {
		d.held[key] = &hold{}
	}
	return true
}

// holds reports whether a call holds one of the keys. The caller holds the door's lock.
func (d *Door) holds(keys []table.Key) bool {
	return slices.ContainsFunc(keys, func(k table.Key) bool { return d.held[k] != nil })
}

// free ends the hold on the keys.
func (d *Door) free(keys []table.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range keys {
		delete(d.held, key)
	}
	d.freed.Broadcast()
}
