package job_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/job"
	"lectern/shared/table"
)

// clock is a time that only a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// start returns a clock, and a function that returns a new worker of a job. The job is kept for
// a day.
func start(t *testing.T) (c *clock, worker func() *job.Job) {
	t.Helper()
	c = &clock{time.Now()}
	to := tabletest.Start(t)
	to.Now = c.now
	return c, func() *job.Job {
		return &job.Job{Table: to, Now: c.now, PK: "R#job", Input: "input", Keep: 24 * time.Hour}
	}
}

// do does a part, which writes an item.
func do(t *testing.T, j *job.Job, part string) error {
	t.Helper()
	w, err := j.Done(part, "result of "+part)
	if err != nil {
		return err
	}
	item := table.Item{Key: table.Key{PK: "work", SK: part}, Version: 1, Data: []byte(`{}`)}
	return j.Table.Transact(t.Context(), table.Insert(item), w)
}

func requireParts(t *testing.T, j *job.Job, names ...string) {
	t.Helper()
	parts, err := j.Parts(t.Context())
	require.NoError(t, err)
	require.Len(t, parts, len(names))
	for _, name := range names {
		require.JSONEq(t, `"result of `+name+`"`, string(parts[name]))
	}
}

func requireClaimed(t *testing.T, err error, until time.Time) {
	t.Helper()
	claimed := (*job.ClaimedError)(nil)
	require.ErrorAs(t, err, &claimed)
	require.WithinDuration(t, until, claimed.Until, time.Second)
}

func TestAJobIsDoneInPartsAndFinished(t *testing.T) {
	_, worker := start(t)
	j := worker()
	require.NoError(t, j.Claim(t.Context()))
	requireParts(t, j)
	require.NoError(t, do(t, j, "a"))
	require.NoError(t, do(t, j, "b"))
	require.ErrorIs(t, do(t, j, "b"), job.ErrLost, "a part is done once")
	require.NoError(t, j.Finish(t.Context(), map[string]int{"done": 2}))
	require.False(t, j.Finished(), "Load has not found it so")

	later := worker()
	data, err := later.Load(t.Context())
	require.NoError(t, err)
	require.Contains(t, string(data), `"finished":true`)
	require.True(t, later.Finished())
	require.NoError(t, later.Claim(t.Context()), "needs no claim")
	_, err = later.Done("c", "")
	require.ErrorIs(t, err, job.ErrLost, "nothing more is done")
	requireParts(t, later, "a", "b")
	var result map[string]int
	require.NoError(t, later.Result(&result))
	require.Equal(t, map[string]int{"done": 2}, result)
}

func TestOneWorkerAtATime(t *testing.T) {
	c, worker := start(t)
	first, second := worker(), worker()
	_, err := second.Load(t.Context())
	require.NoError(t, err)
	require.NoError(t, first.Claim(t.Context()))
	requireClaimed(t, second.Claim(t.Context()), c.at.Add(job.Lease))
	requireClaimed(t, worker().Claim(t.Context()), c.at.Add(job.Lease))
	require.NoError(t, first.Release(t.Context()))
	require.NoError(t, first.Release(t.Context()), "once is enough")
	third := worker()
	require.NoError(t, third.Claim(t.Context()))
	require.Equal(t, first.Begun(), third.Begun())
	_, err = first.Done("a", "")
	require.ErrorIs(t, err, job.ErrLost)
}

// TestAJobThatWasCutOffIsRolledForward: the first worker writes nothing more.
func TestAJobThatWasCutOffIsRolledForward(t *testing.T) {
	c, worker := start(t)
	first := worker()
	require.NoError(t, first.Claim(t.Context()))
	require.NoError(t, do(t, first, "a"))
	c.at = c.at.Add(job.Lease - 28*time.Second)
	require.ErrorIs(t, do(t, first, "b"), job.ErrLost, "so near the end nothing begins")
	c.at = c.at.Add(28 * time.Second)
	second := worker()
	require.NoError(t, second.Claim(t.Context()))
	requireParts(t, second, "a")
	require.NoError(t, do(t, second, "b"))
	require.ErrorIs(t, first.Finish(t.Context(), nil), job.ErrLost)
	require.NoError(t, second.Finish(t.Context(), nil))
}

func TestAJobThatIsLeftIsClaimedToTheEndOfItsLease(t *testing.T) {
	c, worker := start(t)
	j := worker()
	require.NoError(t, j.Claim(t.Context()))
	j.Leave()
	require.NoError(t, j.Release(t.Context()), "does nothing")
	requireClaimed(t, worker().Claim(t.Context()), c.at.Add(job.Lease))
	c.at = c.at.Add(job.Lease)
	require.NoError(t, worker().Claim(t.Context()))
}

func TestAJobHasOneInput(t *testing.T) {
	_, worker := start(t)
	require.NoError(t, worker().Claim(t.Context()))
	other := worker()
	other.Input = "another"
	require.ErrorIs(t, other.Claim(t.Context()), job.ErrInput)
}

// TestAJobIsForgottenWithItsParts: job and parts expire at the same time, and the job is not
// claimed shortly before.
func TestAJobIsForgottenWithItsParts(t *testing.T) {
	c, worker := start(t)
	j := worker()
	require.NoError(t, j.Claim(t.Context()))
	begun, ends := j.Begun(), c.at.Add(24*time.Hour)
	require.NoError(t, do(t, j, "a"))
	require.NoError(t, j.Release(t.Context()))
	c.at = ends.Add(-time.Minute)
	requireClaimed(t, worker().Claim(t.Context()), ends)
	c.at = ends.Add(time.Second)
	again := worker()
	require.NoError(t, again.Claim(t.Context()))
	require.NotEqual(t, begun, again.Begun())
	requireParts(t, again)
}

func TestAJobMayBeKeptForEver(t *testing.T) {
	c, worker := start(t)
	j := worker()
	j.Keep = 0
	require.NoError(t, j.Claim(t.Context()))
	require.NoError(t, do(t, j, "a"))
	require.NoError(t, j.Release(t.Context()))
	c.at = c.at.Add(1000 * time.Hour)
	later := worker()
	later.Keep = 0
	require.NoError(t, later.Claim(t.Context()))
	requireParts(t, later, "a")
	require.False(t, errors.Is(do(t, later, "b"), job.ErrLost))
}
