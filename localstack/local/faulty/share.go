package faulty

import (
	"errors"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lectern/shared/table"
)

// The bytes that one unit reads, strongly consistent, and the bytes that one unit writes.
const (
	readUnit  = 4096
	writeUnit = 1024
)

// throttledPartition returns the error for a partition without units.
func throttledPartition() error {
	return &types.ThrottlingException{Message: aws.String("Throughput exceeds the current capacity for one or more partitions")}
}

// consumed returns the units of a call that only reads or only writes.
func consumed(c *types.ConsumedCapacity) float64 {
	if c == nil {
		return 0
	}
	return aws.ToFloat64(c.CapacityUnits)
}

// conditionFailed reports whether err is the cancellation of a transaction for one of
// its conditions.
func conditionFailed(err error) bool {
	cancelled := (*types.TransactionCanceledException)(nil)
	if !errors.As(err, &cancelled) {
		return false
	}
	for _, reason := range cancelled.CancellationReasons {
		if aws.ToString(reason.Code) == "ConditionalCheckFailed" {
			return true
		}
	}
	return false
}

// read returns the keys that a BatchGetItem was answered for, and the cost of reading each
// key: one unit for a missing item.
func read(asked, items, unprocessed []attributes) (keys []table.Key, weights []float64) {
	units := map[table.Key]float64{}
	for _, key := range asked {
		units[keyOf(key)] = readUnits(nil)
	}
	for _, item := range items {
		units[keyOf(item)] = readUnits(item)
	}
	for _, key := range unprocessed {
		delete(units, keyOf(key))
	}
	for key, cost := range units {
		keys, weights = append(keys, key), append(weights, cost)
	}
	return keys, weights
}

// written returns the cost of each action of a transaction, in proportion to the others.
// For an update, the size of the values counts, since this service writes an item whole or
// adds to a number.
func written(actions []types.TransactWriteItem) []float64 {
	weights := make([]float64, len(actions))
	for i, action := range actions {
		switch {
		case action.Put != nil:
			weights[i] = writeUnits(action.Put.Item)
		case action.Update != nil:
			weights[i] = writeUnits(action.Update.ExpressionAttributeValues)
		default:
			weights[i] = writeUnits(nil)
		}
	}
	return weights
}

func readUnits(item attributes) float64  { return unitsOf(item, readUnit) }
func writeUnits(item attributes) float64 { return unitsOf(item, writeUnit) }

// unitsOf returns the number of units of the size that an item takes, 1 at least.
func unitsOf(item attributes, size int) float64 {
	return max(1, math.Ceil(float64(sizeOf(item))/float64(size)))
}

// sizeOf returns approximately the number of bytes that DynamoDB counts for an item.
func sizeOf(item attributes) (bytes int) {
	for name, value := range item {
		bytes += len(name)
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			bytes += len(v.Value)
		case *types.AttributeValueMemberB:
			bytes += len(v.Value)
		case *types.AttributeValueMemberN:
			bytes += len(v.Value)/2 + 1
		}
	}
	return bytes
}

func sum(all []float64) (total float64) {
	for _, n := range all {
		total += n
	}
	return total
}

func keysIn(all []attributes) []table.Key {
	keys := make([]table.Key, len(all))
	for i, one := range all {
		keys[i] = keyOf(one)
	}
	return keys
}
