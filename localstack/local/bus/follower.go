package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	lambda "github.com/aws/aws-lambda-go/events"

	shared "lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/feed"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

const (
	// batchOfChanges is the number of change records of an invocation.
	batchOfChanges = 100
	// overlap is longer than a write takes from the time of its change to its commit. A whole read
	// of the feed begins so long before the mark, each wholeTime. The reads between begin
	// shortOverlap before the last read.
	overlap, wholeTime, shortOverlap = time.Minute, 10 * time.Second, 3 * time.Second
	// ahead is the time after the present up to which the feed is read.
	ahead = time.Minute
	// maxTries is the number of invocations with a change record that fails.
	maxTries = 10
	// maxTold is the number of change records that wait. The next read of the feed finds the others.
	maxTold = 1024
	// slowest is the longest time between two reads, in reads that fail or take long. A read takes
	// at most a tenth of the time.
	slowest, share = 10 * time.Second, 10
	// shortest is the shortest time between two reads while other processes write.
	shortest = 20 * time.Millisecond
)

// follower passes the new change records of the table to the publisher. It is told of the records
// that this process writes, and reads the feed for all others.
type follower struct {
	invocation
	table  *table.Table
	region string
	dir    string
	now    func() time.Time
	log    *slog.Logger
	told   <-chan table.Key
	wrote  <-chan struct{}
	// poll is the time between two reads of the feed.
	poll time.Duration
	// dead takes a change record that the publisher refuses for good.
	dead func(key table.Key) error

	mark mark
	// last and whole are the times of the last read and the last whole read. kept is the mark of
	// the file.
	last, whole time.Time
	kept        mark
	// seen has the ids of the published records from the overlap on. tries counts the invocations
	// that failed, failing the reads.
	seen    map[string]bool
	tries   map[string]int
	failing int
}

// newFollower returns the follower of a region.
func (b *Bus) newFollower(s Sources) (*follower, error) {
	m, err := openMark(b.config.Dir, b.config.Now())
	if err != nil {
		return nil, err
	}
	return &follower{
		table: s.Table.Lenient(), region: b.config.Region, dir: b.config.Dir, now: b.config.Now, log: b.config.Log,
		told: b.told, wrote: b.wrote, poll: s.Poll,
		dead: b.buryChange, mark: m, kept: m, seen: map[string]bool{}, tries: map[string]int{},
	}, nil
}

// buryChange puts the key of a change record into the dead-letter queue of the changes.
func (b *Bus) buryChange(key table.Key) error {
	body := string(shared.Unpublished(key).Body)
	return b.queues.send(b.queues.byName[shared.Dead(shared.Changes)], newMessage(body, "", b.config.Now(), 0))
}

// run follows the table until ctx ends.
func (f *follower) run(ctx context.Context) {
	next, earliest := time.Now(), time.Now()
	for ctx.Err() == nil {
		timer := time.NewTimer(time.Until(next))
		select {
		case key := <-f.told:
			f.note(f.hear(ctx, f.gather(key)))
		case <-f.wrote:
			if f.failing == 0 && earliest.Before(next) {
				next = earliest
			}
		case <-timer.C:
			start := time.Now()
			f.note(f.read(ctx))
			took, end := time.Since(start), time.Now()
			next, earliest = end.Add(f.pause(took)), end.Add(max(took, shortest))
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// note writes the error of a read into the log.
func (f *follower) note(err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	f.log.Error("changes are not published", "error", err)
}

// pause returns the time until the next read, after a read that took some time.
func (f *follower) pause(took time.Duration) time.Duration {
	return min(max(f.poll<<min(f.failing, 10), share*took), slowest)
}

// gather returns a key with the other keys that wait.
func (f *follower) gather(key table.Key) []table.Key {
	keys := []table.Key{key}
	for len(keys) < batchOfChanges {
		select {
		case key := <-f.told:
			keys = append(keys, key)
		default:
			return keys
		}
	}
	return keys
}

// hear publishes the change records of keys that exist.
func (f *follower) hear(ctx context.Context, keys []table.Key) error {
	found, err := f.table.GetMany(ctx, keys)
	if err != nil {
		return fmt.Errorf("bus: read change records: %w", err)
	}
	var items []table.Item
	for _, key := range keys {
		if item, ok := found[key]; ok {
			items = append(items, item)
		}
	}
	return f.publish(ctx, items)
}

// read reads the feed of each organization and publishes the records. After a whole read without an
// error it moves the mark.
func (f *follower) read(ctx context.Context) error {
	start := f.now()
	whole := f.whole.IsZero() || start.Sub(f.whole) >= wholeTime
	from := f.mark.from(overlap)
	if short := f.last.Add(-shortOverlap); !whole && short.After(from) {
		from = short
	}
	err := f.readAll(ctx, feed.Bound(from), feed.Bound(start.Add(ahead)))
	if err != nil {
		f.failing++
		return err
	}
	f.failing, f.last = 0, start
	if !whole {
		return nil
	}
	f.whole, f.mark.Until = start, start.UTC()
	return f.keep()
}

// keep writes the mark, if there is reason to, and forgets what no read finds again.
func (f *follower) keep() error {
	before := feed.Bound(f.mark.from(overlap))
	for id := range f.seen {
		if id < before {
			delete(f.seen, id)
		}
	}
	if len(f.seen) == 0 && f.mark.Until.Sub(f.kept.Until) < overlap {
		return nil // A restart reads the same empty time again.
	}
	f.kept = f.mark
	return f.mark.write(f.dir)
}

// readAll publishes the change records of all organizations between two sort keys. An organization
// that fails does not hold up the others.
func (f *follower) readAll(ctx context.Context, from, to string) error {
	var failed []error
	store := tenancy.Store{Table: f.table, Now: f.now, Region: f.region}
	for org, err := range store.AllOrganizations(ctx, 0) {
		if err == nil {
			err = f.readOne(ctx, org, from, to)
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// readOne publishes the change records of an organization.
func (f *follower) readOne(ctx context.Context, org int64, from, to string) error {
	log := feed.Log{Table: f.table, Root: change.Root(org), Hourly: true, First: batchOfChanges}
	var failed []error
	for items, err := range log.Chunks(ctx, from, to, batchOfChanges) {
		if err != nil {
			return fmt.Errorf("bus: read the feed of organization %d: %w", org, err)
		}
		if err := f.publish(ctx, items); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// publish passes the change records that are new to the publisher.
func (f *follower) publish(ctx context.Context, items []table.Item) error {
	items = slices.DeleteFunc(items, f.known)
	if len(items) == 0 {
		return nil
	}
	done, err := f.pass(items)
	for _, item := range items[:done] {
		f.passed(item)
	}
	if err == nil {
		return nil
	}
	if len(items) == 1 {
		return f.refuse(items[0], err)
	}
	// Each of the others alone, so that a record that fails holds up no other.
	var failed []error
	for _, item := range items[done:] {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failed = append(failed, f.publish(ctx, []table.Item{item}))
	}
	return errors.Join(failed...)
}

// known reports whether an item is no change record, is published, or is older than the first start.
func (f *follower) known(item table.Item) bool {
	return item.Kind != table.KindChange || f.seen[item.SK] || item.SK < feed.Bound(f.mark.First)
}

// passed remembers that a record needs no other invocation.
func (f *follower) passed(item table.Item) {
	f.seen[item.SK] = true
	delete(f.tries, item.SK)
}

// refuse counts a failure of a record, and gives the record up after maxTries.
func (f *follower) refuse(item table.Item, cause error) error {
	f.tries[item.SK]++
	if f.tries[item.SK] < maxTries {
		return cause
	}
	if err := f.dead(item.Key); err != nil {
		return errors.Join(cause, err)
	}
	f.log.Error("a change is given up", "change", item.SK, "error", cause)
	f.passed(item)
	return nil
}

// errRefused is returned for a record that the publisher reports as failed.
var errRefused = errors.New("bus: the publisher has not published a change")

// pass invokes the publisher with change records as the stream of the table does. It returns the
// number of records before the first that failed.
func (f *follower) pass(items []table.Item) (done int, err error) {
	var event lambda.DynamoDBEvent
	at := lambda.SecondsEpochTime{Time: f.now()}
	for i, item := range items {
		event.Records = append(event.Records, lambda.DynamoDBEventRecord{
			EventID: item.SK, EventName: string(lambda.DynamoDBOperationTypeInsert), EventSource: "aws:dynamodb",
			Change: lambda.DynamoDBStreamRecord{ApproximateCreationDateTime: at, SequenceNumber: strconv.Itoa(i + 1), NewImage: item.Stream()},
		})
	}
	answered, err := f.invoke(event)
	if err != nil {
		return 0, err
	}
	var answer lambda.DynamoDBEventResponse
	if err := json.Unmarshal(answered, &answer); err != nil {
		return 0, fmt.Errorf("bus: decode the answer of the publisher: %w", err)
	}
	done = len(items)
	for _, failed := range answer.BatchItemFailures {
		first, err := strconv.Atoi(failed.ItemIdentifier)
		if err != nil || first < 1 || first > len(items) {
			return 0, fmt.Errorf("bus: %w: %q is no number of a record", errRefused, failed.ItemIdentifier)
		}
		done = min(done, first-1)
	}
	if done < len(items) {
		return done, errRefused
	}
	return done, nil
}
