package it

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/purge"
	"lectern/shared/upload"
)

// StableAnswer holds the part of an answer that two equal requests share.
type StableAnswer struct {
	Status int
	Header http.Header
	Body   string
}

// changing lists the headers that differ between equal answers, gateway headers included.
var changing = []string{
	"Date", "X-Request-Id", "Ratelimit", "Ratelimit-Policy", "Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset",
	"X-Amz-Request-Id", "X-Amzn-Requestid", "X-Amz-Apigw-Id", "X-Amzn-Trace-Id",
}

// EnvLong asks for the long sizes of the batteries, envSeed for a seed.
const (
	EnvLong = "LECTERN_LONG"
	envSeed = "LECTERN_SEED"
)

// Stable returns the answer without the headers that always change.
func Stable(a stacktest.Answer) StableAnswer {
	header := maps.Clone(a.Header)
	for _, name := range changing {
		delete(header, name)
	}
	return StableAnswer{a.Status, header, string(a.Body)}
}

// Concurrently runs the clients at the same time and waits for all. Clients must report
// failures with Errorf, because only the test's goroutine may end the test.
func Concurrently(clients int, run func(client int)) {
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() { run(client) })
	}
	all.Wait()
}

// MustCreate creates a record with a POST below the event and returns its id.
func MustCreate(t *testing.T, s *stacktest.Stack, path string, body any) string {
	t.Helper()
	id, _ := s.Call(t, http.StatusOK, http.MethodPost, s.EventPath(path), body).JSON(t)["id"].(string)
	require.NotEmpty(t, id)
	return id
}

// DecodeObject decodes an object; nil for any other text. DecodeObject never ends the
// test.
func DecodeObject(body []byte) map[string]any {
	var object map[string]any
	_ = json.Unmarshal(body, &object)
	return object
}

// Size returns the size of a battery: short, or long if EnvLong is set.
func Size(short, long int) int {
	if os.Getenv(EnvLong) == "1" {
		return long
	}
	return short
}

// Seed returns the seed of envSeed, or a random seed. A failed test prints its seed.
func Seed(t *testing.T) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv(envSeed), 10, 64)
	if err != nil {
		seed = rand.Uint64() //nolint:gosec // a seed of a test
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the seed was %d: run again with %s=%d", seed, envSeed, seed)
		}
	})
	return seed
}

// Source returns the random source of one of a test's callers.
func Source(seed uint64, caller int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(caller))) //nolint:gosec // draws of a test
}

// OneOf draws an element of a list that is not empty.
func OneOf[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// Describe formats an operation of a history and its result.
func Describe(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) }

// Walks are sequences of random calls that a test compares with a model.
type Walks struct {
	// Number is the number of sequences. Scopes are those of the tokens, Features those of each sequence's event.
	Number           int
	Scopes, Features []string
	// Do makes the calls of a sequence.
	Do func(w *Walk, number int)
	// Cells has the states in which each call must be made, by the calls. Both are separated by "; ".
	Cells map[string]string
}

// walksPerToken bounds the sequences of one token: their clocks end in the same hours of the rate limit.
const walksPerToken = 500

// Run makes each sequence in a parallel subtest, so -run with LECTERN_SEED repeats a single one. It checks the
// table and the Cells afterwards.
func (all Walks) Run(t *testing.T, s *stacktest.Stack) {
	t.Helper()
	s.Inside(t, "each sequence has a clock of its own")
	seed, made := Seed(t), &calls{cells: map[string]int{}}
	tokens := make([]string, (all.Number+walksPerToken-1)/walksPerToken)
	for i := range tokens {
		tokens[i] = s.NewToken(t, all.Scopes...)
	}
	t.Run("sequences", func(t *testing.T) {
		for i := range all.Number {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				made.walks.Add(1)
				caller := s.As(tokens[i%len(tokens)])
				w := &Walk{Real: &Client{caller.In(caller.NewEvent(t, all.Features...)), t}, R: Source(seed, i), all: made}
				w.set(time.Now().Truncate(time.Millisecond))
				t.Cleanup(w.tell)
				all.Do(w, i)
			})
		}
	})
	if t.Failed() {
		return
	}
	EngineOf(t, s).RequireWhole(t)
	if int(made.walks.Load()) == all.Number { // Otherwise -run has chosen some.
		made.require(t, all.Cells)
	}
}

// calls counts how often each call was made in each state.
type calls struct {
	walks atomic.Int64
	mu    sync.Mutex
	cells map[string]int
}

// require checks that each call was made in each of its states.
func (c *calls) require(t *testing.T, cells map[string]string) {
	t.Helper()
	var missing []string
	for names, states := range cells {
		for name := range strings.SplitSeq(names, "; ") {
			for state := range strings.SplitSeq(states, "; ") {
				if cell := name + " | " + state; c.cells[cell] == 0 {
					missing = append(missing, cell)
				}
			}
		}
	}
	slices.Sort(missing)
	require.Empty(t, missing)
	t.Logf("%d pairs of call and state", len(c.cells))
}

// State is what the models of a session have in common: the time, and whether the session is deleted.
type State struct {
	Now     time.Time
	Deleted bool
}

// Walk is a sequence of random calls in an event of its own, with a clock of its own.
type Walk struct {
	// State is that of the model.
	State State
	// Real is a client of all groups, with the real clock.
	Real   *Client
	R      *rand.Rand
	now    atomic.Int64
	memory api.Memory
	all    *calls
	done   []string
}

// Serve returns a client of a group that has the clock of the sequence.
func (w *Walk) Serve(group api.Group) *Client {
	w.Real.T.Helper()
	return w.Real.ServeGroup(group, func(env *api.Env) { env.Now, env.Memory = w.Now, &w.memory })
}

// Now returns the time of the sequence.
func (w *Walk) Now() time.Time { return time.UnixMilli(w.now.Load()) }

// Forward moves the clock.
func (w *Walk) Forward(by time.Duration) {
	w.Note("%v later", by)
	w.set(w.State.Now.Add(by))
}

// set sets the clock.
func (w *Walk) set(now time.Time) {
	w.State.Now = now
	w.now.Store(now.UnixMilli())
}

// Note adds a line to the calls of the sequence. A sequence that fails prints the lines.
func (w *Walk) Note(format string, args ...any) {
	w.done = append(w.done, fmt.Sprintf(format, args...))
}

// Made returns the number of calls of the sequence.
func (w *Walk) Made() int { return len(w.done) }

// Count counts a call in a state.
func (w *Walk) Count(call, state string) {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	w.all.cells[call+" | "+state]++
}

// tell prints the calls of a sequence that failed.
func (w *Walk) tell() {
	if w.Real.T.Failed() {
		w.Real.T.Logf("the calls were:\n%s", strings.Join(w.done, "\n"))
	}
}

// TurnSession deletes the session of the model, or restores it.
func (w *Walk) TurnSession(id string) {
	w.Real.T.Helper()
	if w.Note("turn the session, deleted %v", w.State.Deleted); w.State.Deleted {
		w.Real.Restore(http.StatusOK, id)
	} else {
		w.Real.Delete(http.StatusOK, id)
	}
	w.State.Deleted = !w.State.Deleted
}

// Sweep does the maintenance of the event's uploads at the time of the sequence, and returns the number of
// removed uploads.
func (w *Walk) Sweep() int64 {
	w.Real.T.Helper()
	w.Note("maintain")
	counts := purge.Counts{}
	require.NoError(w.Real.T, w.purge(&counts).Uploads(w.Real.T.Context(), w.Real.Org, w.Real.Event))
	return counts.Uploads
}

// SweepSessions removes the event's sessions that were deleted long ago, and returns their number.
func (w *Walk) SweepSessions() int64 {
	w.Real.T.Helper()
	counts := purge.Counts{}
	require.NoError(w.Real.T, w.purge(&counts).Sessions(w.Real.T.Context(), w.Real.Org, w.Real.Event))
	return counts.Sessions
}

// purge returns the store of the maintenance.
func (w *Walk) purge(counts *purge.Counts) purge.Store {
	env := w.Real.Env(w.Real.T)
	return purge.Store{Table: env.Table, Blobs: env.Blobs, Now: w.Now, Until: time.Now().Add(time.Minute), Counts: counts}
}

// Keys returns the keys of the bytes of all uploads that have a record, sorted.
func (w *Walk) Keys() []string {
	t := w.Real.T
	t.Helper()
	all := []string{}
	for item, err := range w.Real.Table(t).Between(t.Context(), upload.At(w.Real.Org, w.Real.Event).Partition(), "0", "~") {
		require.NoError(t, err)
		u, err := upload.DecodeAny(item)
		require.NoError(t, err)
		all = append(all, u.Object)
	}
	slices.Sort(all)
	return all
}
