// Package job does a piece of work once, in parts, even if several requests take up the
// work. Examples are the operations of a bulk under an Idempotency-Key, and work that lasts
// longer than a request may. A worker claims the job for a minute. The worker writes the
// result of each part in the transaction that does the part, and finishes the job after the
// last part. An interrupted job is rolled forward: the next worker does the missing parts.
//
//	PK      SK                  content
//	<job>   -                   the claim, and the result once the job is finished
//	        P#<claim>#<part>    the result of a part
//
// Clocks. A worker compares its own clock with the end of its lease. It begins no part in
// the last 28.2 seconds of the lease, the margin: a transaction ends within the margin,
// with all retries and with the items of the hours that change.Commit puts before the
// transaction. Another worker takes the job over when the other worker's own clock has
// passed the end. So two workers never have a job at one time while their clocks differ by
// less than the time that a transaction leaves of the margin. With clocks further apart, a
// part may be done twice, unless both workers give the part the same name: then the second
// transaction fails with ErrLost. The clocks of Lambda are synchronized
// (docs/decisions/0014).
package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lectern/shared/table"
	"lectern/shared/wire"
)

const (
	// Lease is the duration of a claim, longer than a request may last.
	Lease = 60 * time.Second
	// margin is the end of a lease in which the worker begins no part. It covers up to
	// three writes: the transaction of a part, and before the transaction the item of an
	// hour, put by change.Commit, or of two hours if the change records cross the border of
	// an hour.
	margin = 3 * table.LongestWrite
	// releaseTime is the time that Release may take, even after the request's own time is
	// over.
	releaseTime = 2 * time.Second
)

// ErrLost tells a worker that its lease is ending, or that another worker has taken the job
// over. The worker must write nothing more.
var ErrLost = errors.New("job: the claim is lost")

// ErrInput is the error of Load for a job that was begun with another input.
var ErrInput = errors.New("job: it was begun with another input")

// ClaimedError is the error of Claim and Claimed while another worker has the job.
type ClaimedError struct{ Until time.Time }

// Error implements error.
func (e *ClaimedError) Error() string { return "job: it is claimed until " + e.Until.String() }

// Job is a piece of work, for one worker. A recurring job takes a PK for each run, for
// example a PK that ends with the day.
type Job struct {
	Table *table.Table
	Now   func() time.Time
	// PK is the partition of the job's items.
	PK string
	// Input distinguishes works under one PK, for example by a hash. Input may be empty.
	Input string
	// Keep is the time for which the job and its results are kept, from the moment when the
	// first worker loaded the job; 0 keeps the job for ever.
	Keep time.Duration

	state   state
	version int64
	// claimed reports whether this worker has claimed the job. finished reports whether the job was
	// finished when Load read the item.
	claimed, finished bool
}

// state is the content of the job's item.
type state struct {
	Input string `json:"body,omitempty"`
	// Claim is the time when the first worker loaded the job, just before the first claim,
	// in nanoseconds. It distinguishes the works that were under the PK one after the
	// other.
	Claim int64 `json:"claim,omitempty"`
	// Lease is the time from which another worker may take over, in milliseconds; 0 allows
	// a takeover at once.
	Lease    int64           `json:"lease,omitempty"`
	Finished bool            `json:"finished,omitempty"`
	Result   json.RawMessage `json:"results,omitempty"`
}

// Key returns the key of the job's item.
func (j *Job) Key() table.Key { return table.Key{PK: j.PK, SK: "-"} }

// Load reads the job and returns the content of its item. It returns nil for a job without
// an item, since no worker has begun the job, and ErrInput for a job that was begun with
// another input.
func (j *Job) Load(ctx context.Context) (data []byte, err error) {
	item, err := j.Table.Get(ctx, j.Key())
	if errors.Is(err, table.ErrNotFound) {
		j.state, j.version = state{Input: j.Input, Claim: j.Now().UnixNano()}, 0
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(item.Data, &j.state); err != nil {
		return nil, fmt.Errorf("job: decode %s: %w", j.PK, err)
	}
	if j.state.Input != j.Input {
		return nil, ErrInput
	}
	j.version, j.finished = item.Version, j.state.Finished
	return item.Data, nil
}

// Begun returns the number of the claim, the same for every worker of the job.
func (j *Job) Begun() int64 { return j.state.Claim }

// Finished reports whether the job was finished when Load read the item.
func (j *Job) Finished() bool { return j.finished }

// Result decodes the result that Finish stored.
func (j *Job) Result(into any) error {
	if err := json.Unmarshal(j.state.Result, into); err != nil {
		return fmt.Errorf("job: decode the result of %s: %w", j.PK, err)
	}
	return nil
}

// Claimed returns a ClaimedError if another worker had the job when Load read the item. It also
// returns a ClaimedError for a job that is about to expire: the parts would expire while the
// worker does the work.
func (j *Job) Claimed() error {
	switch now := j.Now(); {
	case j.version == 0 || j.finished:
		return nil
	case now.UnixMilli() < j.state.Lease:
		return &ClaimedError{time.UnixMilli(j.state.Lease)}
	case j.Keep > 0 && now.Add(2*Lease).After(j.ends()):
		return &ClaimedError{j.ends()}
	}
	return nil
}

// ends returns the time when the job and its parts expire.
func (j *Job) ends() time.Time { return time.Unix(0, j.state.Claim).Add(j.Keep) }

// Claim takes the job for Lease. It loads the job first if Load has not run. It returns a
// ClaimedError while another worker has the job. A finished job needs no claim.
func (j *Job) Claim(ctx context.Context) error {
	if j.state.Claim == 0 {
		if _, err := j.Load(ctx); err != nil {
			return err
		}
	}
	if j.finished {
		return nil
	}
	if err := j.Claimed(); err != nil {
		return err
	}
	err := j.lease(ctx)
	if errors.Is(err, ErrLost) {
		return &ClaimedError{j.Now().Add(Lease)}
	}
	j.claimed = err == nil
	return err
}

// lease claims the job for Lease from now.
func (j *Job) lease(ctx context.Context) error {
	return j.store(ctx, state{Lease: j.Now().Add(Lease).UnixMilli()})
}

// store replaces the item of the job. It returns ErrLost if another worker has replaced the
// item.
func (j *Job) store(ctx context.Context, next state) error {
	next.Input, next.Claim = j.Input, j.state.Claim
	item, err := j.item(j.Key(), next, j.version+1)
	if err != nil {
		return err
	}
	w := table.Replace(item, j.version)
	if j.version == 0 {
		w = table.Insert(item)
	}
	if err := j.Table.Transact(ctx, w.Or(ErrLost)); err != nil {
		return err
	}
	j.state, j.version = next, j.version+1
	return nil
}

// item returns an item of the job. All items of a job expire at one time, however many
// workers take the job up: a claim must not outlive the results of the parts.
func (j *Job) item(key table.Key, data any, version int64) (table.Item, error) {
	text, err := wire.Encode(data)
	if err != nil {
		return table.Item{}, fmt.Errorf("job: encode %s: %w", j.PK, err)
	}
	item := table.Item{Key: key, Version: version, Data: text}
	if j.Keep > 0 {
		item.Expires = j.ends().Unix()
	}
	return item, nil
}

// part returns the sort key of a part.
func (j *Job) part(name string) string { return fmt.Sprintf("P#%d#%s", j.state.Claim, name) }

// Parts reads the results of the finished parts, by name.
func (j *Job) Parts(ctx context.Context) (map[string]json.RawMessage, error) {
	parts, first := map[string]json.RawMessage{}, j.part("")
	for item, err := range j.Table.Between(ctx, j.PK, first, j.part("~")) {
		if err != nil {
			return nil, fmt.Errorf("job: read the parts of %s: %w", j.PK, err)
		}
		parts[item.SK[len(first):]] = item.Data
	}
	return parts, nil
}

// Done returns the write that stores the result of a part. The write belongs into the
// transaction that does the part. The transaction fails with ErrLost if the part was done
// before. Near the end of the lease, Done itself returns ErrLost: a delayed worker must
// write nothing after another worker has taken over. A condition on the claim would prevent
// the same, but makes the transactions of one worker conflict with each other.
func (j *Job) Done(part string, result any) (table.Write, error) {
	if !j.claimed || j.Now().Add(margin).UnixMilli() > j.state.Lease {
		return table.Write{}, ErrLost
	}
	item, err := j.item(table.Key{PK: j.PK, SK: j.part(part)}, result, 1)
	return table.Insert(item).Or(ErrLost), err
}

// Finish stores the result of the job and ends the claim. Without a claim, Finish does
// nothing.
func (j *Job) Finish(ctx context.Context, result any) error {
	if !j.claimed {
		return nil
	}
	text, err := wire.Encode(result)
	if err != nil {
		return fmt.Errorf("job: encode the result of %s: %w", j.PK, err)
	}
	j.claimed = false
	return j.store(ctx, state{Finished: true, Result: text})
}

// Release ends the claim of an unfinished job, so that another worker can do the missing
// parts at once. Without a claim, Release does nothing.
func (j *Job) Release(ctx context.Context) error {
	if !j.claimed {
		return nil
	}
	j.claimed = false
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	return j.store(ctx, state{})
}

// Leave gives the job up and lets the lease end by itself. Use Leave instead of Release
// while a part may still be on the way to the table.
func (j *Job) Leave() { j.claimed = false }
