package batteries_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/faulty"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// awsDoors are the doors that act as AWS, where a battery asks them what they did.
type awsDoors struct {
	conflicts  *faulty.ConflictDoor
	partitions *faulty.PartitionDoor
	// faults stands behind them, if any.
	faults *faulty.Door
}

// scarce is what a partition serves where a small battery is to be throttled.
var scarce = faulty.Partitions{Reads: 300, Writes: 100}

// bursts is a clock of a PartitionDoor that goes on by the looks at it, so that partitions
// are throttled however fast the machine is: it stands still for 150 of 2,000 looks, and
// between two of the others a second passes.
type bursts struct{ looks atomic.Int64 }

func (b *bursts) now() time.Time {
	const period, still = 2_000, 150
	looks := b.looks.Add(1)
	return time.Unix(looks/period*(period-still)+min(looks%period, period-still), 0)
}

// wrap stands the doors before a table, and faults behind them unless c has none.
func (d *awsDoors) wrap(p faulty.Partitions, c faulty.Config) func(table.Client) table.Client {
	return func(inner table.Client) table.Client {
		if c != (faulty.Config{}) {
			d.faults = faulty.New(inner, c)
			inner = d.faults
		}
		d.conflicts = faulty.NewConflictDoor(inner, faulty.Conflicts{})
		d.partitions = faulty.NewPartitionDoor(d.conflicts, p)
		return d.partitions
	}
}

// met requires that transactions conflicted. Whether a partition was throttled depends on
// how fast the machine is, and is logged.
func (d *awsDoors) met(t *testing.T) {
	t.Helper()
	counts := d.conflicts.Counts()
	t.Logf("conflicts: %+v; partitions: %+v", counts, d.partitions.Total())
	require.Positive(t, counts.Cancelled, "no transaction met another")
}

// start starts a region behind the doors.
func (d *awsDoors) start(t *testing.T) *stacktest.Stack {
	t.Helper()
	return stacktest.Start(t, stacktest.WithClient(d.wrap(faulty.Partitions{}, faulty.Config{})))
}

// TestSearchOracleAsOnAWS is the oracle where transactions conflict and partitions are
// throttled, and calls are lost and transactions torn besides.
func TestSearchOracleAsOnAWS(t *testing.T) {
	seed, doors := it.Seed(t), &awsDoors{}
	few := faulty.Partitions{Reads: 8, Writes: 3, Clock: faulty.Clock{Now: (&bursts{}).now}}
	oracle(t, seed, it.Size(1_000, 20_000), doors.wrap(few, faulty.Config{Seed: seed, DropBefore: 0.01, DropAfter: 0.01, Torn: 0.5}))
	doors.met(t)
	// On a loaded machine, few writes come while the clock stands still.
	throttled := doors.partitions.Total()
	require.Positive(t, throttled.ReadThrottles+throttled.WriteThrottles)
	require.Positive(t, min(doors.faults.Counts().Torn, doors.faults.Counts().TornReads))
}

// TestLinearizableAsOnAWS has histories of each kind of record there.
func TestLinearizableAsOnAWS(t *testing.T) {
	seed := it.Seed(t)
	for _, k := range it.Kinds {
		t.Run(k.Collection, func(t *testing.T) {
			doors := &awsDoors{}
			s, _ := it.StartWithEngine(t, doors.wrap(scarce, faulty.Config{Seed: seed, DropAfter: 0.01, Torn: 0.5}))
			checkRegisters(t, k, []*stacktest.Stack{s, s.Instance(t)}, seed, true)
			doors.met(t)
		})
	}
}

// TestWritersAsOnAWS has the writers of one record there: guarded, all at one version,
// unguarded, and under one key.
func TestWritersAsOnAWS(t *testing.T) {
	for name, run := range map[string]func(*testing.T, *stacktest.Stack){
		"guarded": guardedWriters, "one winner a version": oneWinnerAVersion,
		"unguarded": unguardedWriters, "one create a key": oneCreateAKey,
	} {
		t.Run(name, func(t *testing.T) {
			doors := &awsDoors{}
			run(t, doors.start(t))
			doors.met(t)
		})
	}
}

// TestKillAsOnAWS kills the service and its engine where calls conflict and are throttled.
func TestKillAsOnAWS(t *testing.T) { kill(t, it.Size(3, 100), "--as-aws") }

// TestLimiterAsOnAWS admits exactly there, too.
func TestLimiterAsOnAWS(t *testing.T) {
	doors := &awsDoors{}
	limiterAdmitsExactly(t, doors.start(t), 2) // So few that their writers meet.
	doors.met(t)
}
