package write_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/faulty"
	"lectern/localstack/test/it"
	"lectern/localstack/test/tabletest"
	"lectern/shared/apierr"
	"lectern/shared/idempotency"
	"lectern/shared/table"
	"lectern/shared/write"
)

func add(p place, id string) funcs { return command{Kind: "add", ID: id}.op(p) }

func mustCreate(t *testing.T, to *table.Table, p place, ids ...string) {
	t.Helper()
	for _, id := range ids {
		_, err := write.Run[any](t.Context(), to, command{Kind: "create", ID: id, Email: id + "@x"}.op(p))
		require.NoError(t, err)
	}
}

func mustRead(t *testing.T, to *table.Table, p place, id string) (person, int64) {
	t.Helper()
	item, err := to.Get(t.Context(), p.record(id))
	require.NoError(t, err)
	return decode(item), item.Version
}

// TestNoUpdateIsLost adds to one record from sixteen writers.
func TestNoUpdateIsLost(t *testing.T) {
	const writers = 16
	for name, faults := range map[string]faulty.Config{
		"without faults": {},
		"all faults":     {Seed: 1, Torn: 0.1, Conflict: 0.1, Throttle: 0.03, DropBefore: 0.03, DropAfter: 0.03},
	} {
		t.Run(name, func(t *testing.T) {
			to := tabletest.Behind(t, func(c table.Client) table.Client { return faulty.New(c, faults) })
			mustCreate(t, to, "p", "a")
			each := it.Size(8, 100)
			var all sync.WaitGroup
			for range writers {
				all.Go(func() {
					for range each {
						if _, err := write.Run[any](t.Context(), to, add("p", "a")); err != nil {
							t.Errorf("add: %v", err)
						}
					}
				})
			}
			all.Wait()
			a, version := mustRead(t, to, "p", "a")
			require.Equal(t, writers*each, a.Value)
			require.EqualValues(t, 1+writers*each, version)
		})
	}
}

// TestOneWriterAVersion guards sixteen writers by the version all have seen.
func TestOneWriterAVersion(t *testing.T) {
	to := tabletest.Start(t)
	mustCreate(t, to, "p", "a")
	guarded := add("p", "a")
	plan := guarded.Do
	guarded.Do = func(ctx context.Context, got write.Items) (*write.Plan, error) {
		err := write.Guard{IfMatch: `"1.x"`}.Check(got[place("p").record("a")].Version, now)
		if err != nil {
			return nil, err
		}
		return plan(ctx, got)
	}
	errs := make([]error, 16)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { _, errs[i] = write.Run[any](t.Context(), to, guarded) })
	}
	all.Wait()
	admitted := 0
	for _, err := range errs {
		if err == nil {
			admitted++
			continue
		}
		requireStatus(t, http.StatusConflict, err)
	}
	require.Equal(t, 1, admitted)
	a, version := mustRead(t, to, "p", "a")
	require.Equal(t, 1, a.Value)
	require.EqualValues(t, 2, version)
}

func requireStatus(t *testing.T, status int, err error) {
	t.Helper()
	var shown *apierr.Error
	require.ErrorAs(t, err, &shown)
	require.Equal(t, status, shown.Status)
}

func TestForeverStaleIsA503(t *testing.T) {
	to := tabletest.Start(t)
	mustCreate(t, to, "p", "a")
	_, err := write.Run[any](t.Context(), to, funcs{Do: func(context.Context, write.Items) (*write.Plan, error) {
		return &write.Plan{Writes: []table.Write{table.Version(place("p").record("a"), 7)}, Answer: "a"}, nil
	}})
	requireStatus(t, http.StatusServiceUnavailable, err)
}

func TestRefusals(t *testing.T) {
	to := tabletest.Start(t)
	mustCreate(t, to, "p", "a")
	_, err := write.Run[any](t.Context(), to, add("p", "none"))
	require.ErrorIs(t, err, errGone, "an error of Plan is returned unchanged")

	_, err = write.Run[any](t.Context(), to, funcs{Do: func(context.Context, write.Items) (*write.Plan, error) {
		return &write.Plan{Writes: []table.Write{place("p").claim("a@x", "b")}, Answer: "a"}, nil
	}})
	require.ErrorIs(t, err, errTaken, "so is one of a condition")
}

func TestBumpsOfOneKeyAreMerged(t *testing.T) {
	to := tabletest.Start(t)
	shard := table.Key{PK: "p#V", SK: "0"}
	_, err := write.Run[any](t.Context(), to, funcs{Do: func(context.Context, write.Items) (*write.Plan, error) {
		return &write.Plan{Writes: []table.Write{table.Bump(shard, 1), table.Bump(shard, 2)}, Answer: shard}, nil
	}})
	require.NoError(t, err)
	item, err := to.Get(t.Context(), shard)
	require.NoError(t, err)
	require.EqualValues(t, 3, item.Version)
}

// keys begins requests with an Idempotency-Key, on a clock of its own.
type keys struct {
	store idempotency.Store
	now   time.Time
}

func newKeys(to *table.Table) *keys {
	k := &keys{now: time.Now()}
	k.store = idempotency.Store{Table: to, Now: func() time.Time { return k.now }}
	return k
}

// request is the one request of the tests.
var request = idempotency.Request{Org: 1, Token: 2, Method: "POST", Path: "/x", Key: "key", Body: []byte("body")}

func (k *keys) begin(t *testing.T) (context.Context, *idempotency.Key) {
	t.Helper()
	key, err := k.store.Begin(t.Context(), request)
	require.NoError(t, err)
	return idempotency.With(t.Context(), key), key
}

func TestKeyedRunIsDoneOnce(t *testing.T) {
	to := tabletest.Start(t)
	mustCreate(t, to, "p", "a")
	k := newKeys(to)
	first, _ := k.begin(t)
	second, _ := k.begin(t)
	require.Empty(t, write.Ref(first))

	_, err := write.Run[any](first, to, add("p", "a"))
	require.NoError(t, err)
	_, err = write.Run[any](second, to, add("p", "a"))
	require.ErrorIs(t, err, idempotency.ErrRaced)
	third, key := k.begin(t)
	require.True(t, key.Replays())
	require.Equal(t, "a", write.Ref(third))
	_, err = write.Run[any](third, to, add("p", "a"))
	require.ErrorContains(t, err, "Ref")
	a, _ := mustRead(t, to, "p", "a")
	require.Equal(t, 1, a.Value)
}

// TestAKeyNeedsARecord: what a repetition is shown must be known.
func TestAKeyNeedsARecord(t *testing.T) {
	to := tabletest.Start(t)
	mustCreate(t, to, "p", "a")
	op := add("p", "a")
	plan := op.Do
	op.Do = func(ctx context.Context, got write.Items) (*write.Plan, error) {
		p, err := plan(ctx, got)
		p.Answer = "no record"
		return p, err
	}
	ctx, _ := newKeys(to).begin(t)
	_, err := write.Run[any](ctx, to, op)
	require.ErrorContains(t, err, "no record")
	a, _ := mustRead(t, to, "p", "a")
	require.Zero(t, a.Value)
}

func TestCancelledRunStops(t *testing.T) {
	to := tabletest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := write.Run[any](ctx, to, add("p", "a"))
	require.True(t, errors.Is(err, context.Canceled))
}

// change edits the operation of an entry.
func change(e *write.Entry, edit func(*funcs)) {
	op, _ := e.Op.(funcs)
	edit(&op)
	e.Op = op
}
