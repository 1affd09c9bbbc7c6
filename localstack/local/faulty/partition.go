package faulty

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lectern/shared/table"
)

// The limits of AWS for one partition key in a second, in units.
const (
	partitionReads  = 3000
	partitionWrites = 1000
)

// Partitions configures a PartitionDoor. The zero value has the limits of AWS.
type Partitions struct {
	// Reads and Writes are the units a second of each partition key.
	Reads, Writes float64
	Clock         Clock
}

// Usage is the use of a partition key, or of several.
type Usage struct {
	// Reads and Writes are the charged units.
	Reads, Writes float64
	// ReadThrottles and WriteThrottles count the refused calls.
	ReadThrottles, WriteThrottles int
}

// Add adds another usage.
func (u *Usage) Add(other Usage) {
	u.Reads += other.Reads
	u.Writes += other.Writes
	u.ReadThrottles += other.ReadThrottles
	u.WriteThrottles += other.WriteThrottles
}

// PartitionDoor implements table.Client and throttles each partition key as AWS throttles a
// hot key of an on-demand table. A key has a bucket of read units and a bucket of write
// units. Each bucket fills at the rate of the limit, up to the units of one second. A call
// is admitted while the buckets of its keys are above zero. After the answer, the call is
// charged with the units that the inner client reports. The charge may leave a bucket below
// zero.
//
// A refused Query, GetItem or UpdateItem fails with a ThrottlingException. A refused
// transaction is cancelled with the reason ThrottlingError. A BatchGetItem leaves the keys
// of the partition unprocessed. The cost of a call of several partitions is divided in
// proportion to the sizes of the items. A failed condition costs its write. A conflict
// costs nothing; no test on AWS has verified this.
//
// All callers of a table must go through the same PartitionDoor.
type PartitionDoor struct {
	inner  table.Client
	config Partitions

	mu         sync.Mutex
	partitions map[string]*partition
}

// partition is the state of one partition key.
type partition struct {
	usage Usage
	// reads and writes are the levels of the buckets at the time at.
	reads, writes float64
	at            time.Time
}

// NewPartitionDoor returns a door in front of inner.
func NewPartitionDoor(inner table.Client, c Partitions) *PartitionDoor {
	if c.Reads == 0 {
		c.Reads = partitionReads
	}
	if c.Writes == 0 {
		c.Writes = partitionWrites
	}
	c.Clock = c.Clock.orReal()
	return &PartitionDoor{inner: inner, config: c, partitions: map[string]*partition{}}
}

// Usage returns the usage of each partition key so far.
func (d *PartitionDoor) Usage() map[string]Usage {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make(map[string]Usage, len(d.partitions))
	for pk, p := range d.partitions {
		all[pk] = p.usage
	}
	return all
}

// Total returns the usage of all partition keys together so far.
func (d *PartitionDoor) Total() (sum Usage) {
	for _, usage := range d.Usage() {
		sum.Add(usage)
	}
	return sum
}

// filled returns the state of a partition key now. The caller holds the door's lock.
func (d *PartitionDoor) filled(pk string) *partition {
	now, p := d.config.Clock.Now(), d.partitions[pk]
	if p == nil {
		p = &partition{reads: d.config.Reads, writes: d.config.Writes, at: now}
		d.partitions[pk] = p
	}
	passed := now.Sub(p.at).Seconds()
	p.reads = min(p.reads+passed*d.config.Reads, d.config.Reads)
	p.writes = min(p.writes+passed*d.config.Writes, d.config.Writes)
	p.at = now
	return p
}

// unreadable returns the partition keys that have no read units left, and counts a throttle
// of each key.
func (d *PartitionDoor) unreadable(keys []table.Key) map[string]bool {
	return d.empty(keys, func(p *partition) (level float64, throttles *int) { return p.reads, &p.usage.ReadThrottles })
}

// unwritable returns the partition keys that have no write units left, and counts a
// throttle of each key.
func (d *PartitionDoor) unwritable(keys []table.Key) map[string]bool {
	return d.empty(keys, func(p *partition) (level float64, throttles *int) { return p.writes, &p.usage.WriteThrottles })
}

// empty returns the partition keys with an empty bucket, and counts a throttle of each key.
func (d *PartitionDoor) empty(keys []table.Key, bucket func(*partition) (level float64, throttles *int)) map[string]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	empty := map[string]bool{}
	for _, key := range keys {
		if level, throttles := bucket(d.filled(key.PK)); level <= 0 && !empty[key.PK] {
			empty[key.PK] = true
			*throttles++
		}
	}
	return empty
}

// charge takes units out of the buckets of the keys, in proportion to the weights.
func (d *PartitionDoor) charge(keys []table.Key, weights []float64, reads, writes float64) {
	whole := sum(weights)
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, key := range keys {
		p, part := d.filled(key.PK), weights[i]/whole
		p.reads -= reads * part
		p.writes -= writes * part
		p.usage.Add(Usage{Reads: reads * part, Writes: writes * part})
	}
}

// one is the weight of a call that names one partition.
var one = []float64{1}

// GetItem reads an item.
func (d *PartitionDoor) GetItem(
	ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.GetItemOutput, error) {
	keys := []table.Key{keyOf(in.Key)}
	if len(d.unreadable(keys)) > 0 {
		return nil, throttledPartition()
	}
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := d.inner.GetItem(ctx, &asked, o...)
	if err == nil {
		d.charge(keys, one, consumed(out.ConsumedCapacity), 0)
	}
	return out, err
}

// Query reads a page.
func (d *PartitionDoor) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	keys := []table.Key{{PK: textOf(in.ExpressionAttributeValues, valuePK)}}
	if len(d.unreadable(keys)) > 0 {
		return nil, throttledPartition()
	}
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := d.inner.Query(ctx, &asked, o...)
	if err == nil {
		d.charge(keys, one, consumed(out.ConsumedCapacity), 0)
	}
	return out, err
}

// UpdateItem changes an item.
func (d *PartitionDoor) UpdateItem(
	ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	keys := []table.Key{keyOf(in.Key)}
	if len(d.unwritable(keys)) > 0 {
		return nil, throttledPartition()
	}
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := d.inner.UpdateItem(ctx, &asked, o...)
	if failed := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &failed) {
		d.charge(keys, one, 0, writeUnits(in.ExpressionAttributeValues))
	}
	if err == nil {
		d.charge(keys, one, 0, consumed(out.ConsumedCapacity))
	}
	return out, err
}

// BatchGetItem reads the items of partitions that have units left, and leaves the other
// keys unprocessed. It is refused if no key can be read.
func (d *PartitionDoor) BatchGetItem(
	ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.BatchGetItemOutput, error) {
	asked, left := *in, map[string]types.KeysAndAttributes{}
	asked.RequestItems = map[string]types.KeysAndAttributes{}
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	for name, all := range in.RequestItems {
		empty := d.unreadable(keysIn(all.Keys))
		served, unserved := all, all
		served.Keys, unserved.Keys = nil, nil
		for _, key := range all.Keys {
			if empty[textOf(key, attrPK)] {
				unserved.Keys = append(unserved.Keys, key)
			} else {
				served.Keys = append(served.Keys, key)
			}
		}
		if len(served.Keys) > 0 {
			asked.RequestItems[name] = served
		}
		if len(unserved.Keys) > 0 {
			left[name] = unserved
		}
	}
	if len(asked.RequestItems) == 0 {
		return nil, throttledPartition()
	}
	out, err := d.inner.BatchGetItem(ctx, &asked, o...)
	if err != nil {
		return nil, err
	}
	for i := range out.ConsumedCapacity {
		name := aws.ToString(out.ConsumedCapacity[i].TableName)
		keys, weights := read(asked.RequestItems[name].Keys, out.Responses[name], out.UnprocessedKeys[name].Keys)
		d.charge(keys, weights, consumed(&out.ConsumedCapacity[i]), 0)
	}
	leave(out, left)
	return out, nil
}

// TransactGetItems reads items of one moment.
func (d *PartitionDoor) TransactGetItems(
	ctx context.Context, in *dynamodb.TransactGetItemsInput, o ...func(*dynamodb.Options),
) (*dynamodb.TransactGetItemsOutput, error) {
	keys := keysRead(in.TransactItems)
	if err := cancelledEmpty(keys, d.unreadable(keys)); err != nil {
		return nil, err
	}
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := d.inner.TransactGetItems(ctx, &asked, o...)
	if err != nil {
		return nil, err
	}
	weights := make([]float64, len(keys))
	for i := range weights {
		weights[i] = readUnits(nil)
		if i < len(out.Responses) {
			weights[i] = readUnits(out.Responses[i].Item)
		}
	}
	for i := range out.ConsumedCapacity {
		d.charge(keys, weights, consumed(&out.ConsumedCapacity[i]), 0)
	}
	return out, nil
}

// TransactWriteItems does a transaction.
func (d *PartitionDoor) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	keys, weights := keysOf(in.TransactItems), written(in.TransactItems)
	if err := cancelledEmpty(keys, d.unwritable(keys)); err != nil {
		return nil, err
	}
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := d.inner.TransactWriteItems(ctx, &asked, o...)
	if conditionFailed(err) {
		d.charge(keys, weights, 0, 2*sum(weights))
	}
	if err != nil {
		return nil, err
	}
	for _, part := range out.ConsumedCapacity {
		d.charge(keys, weights, aws.ToFloat64(part.ReadCapacityUnits), aws.ToFloat64(part.WriteCapacityUnits))
	}
	return out, nil
}

// cancelledEmpty returns the cancellation of a transaction for partitions without units;
// nil if all partitions have units.
func cancelledEmpty(keys []table.Key, empty map[string]bool) error {
	return cancelledWhere(keys, "ThrottlingError", func(k table.Key) bool { return empty[k.PK] })
}

// AsAWS returns a client of a local engine that conflicts and throttles as AWS does.
func AsAWS(inner table.Client) table.Client {
	return NewPartitionDoor(NewConflictDoor(inner, Conflicts{}), Partitions{})
}
