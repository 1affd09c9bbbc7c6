package idempotency_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/tabletest"
	"lectern/shared/apierr"
	"lectern/shared/idempotency"
)

const (
	path = "/v1/event/1/sessions/create"
	body = `{"title":"Keynote"}`
)

// clock is a time that only a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newStore(t *testing.T) (idempotency.Store, *clock) {
	t.Helper()
	c := &clock{time.Now()}
	tab := tabletest.Start(t)
	tab.Now = c.now
	return idempotency.Store{Table: tab, Now: c.now}, c
}

// begin begins a request that must not be refused.
func begin(t *testing.T, s idempotency.Store, key string) (*idempotency.Key, *idempotency.Answer) {
	t.Helper()
	k, answer, err := s.Begin(t.Context(), 1, 2, "POST", path, key, []byte(body))
	require.NoError(t, err)
	return k, answer
}

// refused is the error of a request that is refused.
func refused(t *testing.T, err error) *apierr.Error {
	t.Helper()
	var e *apierr.Error
	require.ErrorAs(t, err, &e)
	return e
}

type record struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

func (record) Revision() int64 { return 3 }

// write does a single write that consists of its key alone.
func write(t *testing.T, s idempotency.Store, k *idempotency.Key, answer any) error {
	t.Helper()
	w, err := k.Write(answer)
	require.NoError(t, err)
	return s.Table.Transact(t.Context(), w)
}

func TestASingleWriteIsReplayed(t *testing.T) {
	s, _ := newStore(t)
	k, answer := begin(t, s, "k1")
	require.Nil(t, answer)
	require.NoError(t, write(t, s, k, record{"s1", "Keynote"}))

	_, answer = begin(t, s, "k1")
	require.Equal(t, &idempotency.Answer{Version: 3, Body: json.RawMessage(`{"id":"s1","title":"Keynote"}`)}, answer)
}

func TestAKeyIsOfOneTokenMethodAndPath(t *testing.T) {
	s, _ := newStore(t)
	k, _ := begin(t, s, "k1")
	require.NoError(t, write(t, s, k, record{"s1", "Keynote"}))
	for _, c := range []struct {
		org, token        int64
		method, path, key string
	}{
		{1, 3, "POST", path, "k1"}, {2, 2, "POST", path, "k1"}, {1, 2, "PUT", path, "k1"},
		{1, 2, "POST", path + "/x", "k1"}, {1, 2, "POST", path, "K1"},
	} {
		_, answer, err := s.Begin(t.Context(), c.org, c.token, c.method, c.path, c.key, []byte("another body"))
		require.NoError(t, err)
		require.Nil(t, answer)
	}
}

func TestAnotherBodyIsRefused(t *testing.T) {
	s, _ := newStore(t)
	k, _ := begin(t, s, "k1")
	require.NoError(t, write(t, s, k, record{"s1", "Keynote"}))
	_, _, err := s.Begin(t.Context(), 1, 2, "POST", path, "k1", []byte(`{"title":"Other"}`))
	require.Equal(t, 422, refused(t, err).Status)
	require.Equal(t, idempotency.CodeReused, refused(t, err).Code)
}

func TestKeysThatAreNone(t *testing.T) {
	s, _ := newStore(t)
	for _, key := range []string{"", strings.Repeat("k", 256), "tab\t", "über"} {
		_, _, err := s.Begin(t.Context(), 1, 2, "POST", path, key, nil)
		require.Equal(t, 400, refused(t, err).Status, key)
		require.Equal(t, "Idempotency-Key", refused(t, err).Details["field"])
	}
	_, answer := begin(t, s, strings.Repeat("k", 255))
	require.Nil(t, answer)
}

func TestTheSecondOfTwoAtOnceIsRaced(t *testing.T) {
	s, _ := newStore(t)
	first, _ := begin(t, s, "k1")
	second, _ := begin(t, s, "k1")
	require.NoError(t, write(t, s, first, record{"s1", "Keynote"}))
	require.ErrorIs(t, write(t, s, second, record{"s2", "Keynote"}), idempotency.ErrRaced)
	_, answer := begin(t, s, "k1")
	require.Contains(t, string(answer.Body), "s1")
}

func TestAnAnswerIsKeptForADay(t *testing.T) {
	s, c := newStore(t)
	k, _ := begin(t, s, "k1")
	require.NoError(t, write(t, s, k, record{"s1", "Keynote"}))
	c.at = c.at.Add(24*time.Hour - time.Second)
	_, answer := begin(t, s, "k1")
	require.NotNil(t, answer)
	c.at = c.at.Add(2 * time.Second)
	k, answer = begin(t, s, "k1")
	require.Nil(t, answer)
	require.NoError(t, write(t, s, k, record{"s2", "Again"}), "though nobody has swept the old one away")
}

func TestALongAnswerIsRenderedAgain(t *testing.T) {
	s, _ := newStore(t)
	k, _ := begin(t, s, "k1")
	require.Empty(t, k.Ref())
	require.NoError(t, write(t, s, k, record{"s1", strings.Repeat("x", 400<<10)}))
	k, answer := begin(t, s, "k1")
	require.Nil(t, answer)
	require.Equal(t, "s1", k.Ref())

	nameless, _ := begin(t, s, "k2")
	_, err := nameless.Write(record{"", strings.Repeat("x", 400<<10)})
	require.ErrorContains(t, err, "no id")
}

func TestABulkHoldsItsKeyWhileItRuns(t *testing.T) {
	s, c := newStore(t)
	first, _ := begin(t, s, "k1")
	second, _ := begin(t, s, "k1")
	require.NoError(t, first.Claim(t.Context()))

	busy := refused(t, second.Claim(t.Context()))
	require.Equal(t, 409, busy.Status)
	require.Equal(t, idempotency.CodeInUse, busy.Code)
	require.NotEmpty(t, busy.Header.Get("Retry-After"))

	_, _, err := s.Begin(t.Context(), 1, 2, "POST", path, "k1", []byte(body))
	require.Equal(t, 409, refused(t, err).Status)
	c.at = c.at.Add(61 * time.Second)
	begin(t, s, "k1")
}

// pack writes the results of one pack.
func pack(t *testing.T, s idempotency.Store, k *idempotency.Key, results ...idempotency.Result) error {
	t.Helper()
	w, err := k.Pack(results)
	require.NoError(t, err)
	return s.Table.Transact(t.Context(), w)
}

func result(k *idempotency.Key, index int, answer string) idempotency.Result {
	return idempotency.Result{Index: index, ID: k.ID(index), Answer: json.RawMessage(answer)}
}

func TestABulkThatWasCutOffIsTakenUp(t *testing.T) {
	s, c := newStore(t)
	first, _ := begin(t, s, "k1")
	early := first.ID(1)
	require.NoError(t, first.Claim(t.Context()))
	require.Equal(t, early, first.ID(1), "known before the claim")
	require.NoError(t, pack(t, s, first, result(first, 0, `{"a":1}`), result(first, 2, `{"a":2}`)))

	c.at = c.at.Add(time.Minute)
	second, answer := begin(t, s, "k1")
	require.Nil(t, answer)
	require.NoError(t, second.Claim(t.Context()))
	done, err := second.Done(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[int]idempotency.Result{0: result(first, 0, `{"a":1}`), 2: result(first, 2, `{"a":2}`)}, done)
	require.Equal(t, first.ID(1), second.ID(1), "what is missing gets the id it would have got")
	require.NotEqual(t, first.ID(1), first.ID(2))
	require.NoError(t, uuid.Validate(first.ID(-1)))

	_, err = first.Pack([]idempotency.Result{result(first, 1, `{}`)})
	require.ErrorIs(t, err, idempotency.ErrRaced, "the first one's lease has ended")
	require.ErrorIs(t, first.Finish(t.Context(), 0, []byte(`{}`)), idempotency.ErrRaced)
}

func TestAFinishedBulkIsReplayed(t *testing.T) {
	s, _ := newStore(t)
	k, _ := begin(t, s, "k1")
	require.NoError(t, k.Claim(t.Context()))
	k.Settle([]idempotency.Result{result(k, 0, `{}`)})
	require.NoError(t, k.Finish(t.Context(), 0, []byte(`{"results":[]}`)))
	_, answer := begin(t, s, "k1")
	require.Equal(t, &idempotency.Answer{Body: json.RawMessage(`{"results":[]}`)}, answer)
}

func TestALongBulkIsRenderedAgainFromItsResults(t *testing.T) {
	s, _ := newStore(t)
	k, _ := begin(t, s, "k1")
	require.NoError(t, k.Claim(t.Context()))
	long := `"` + strings.Repeat("x", 310<<10) + `"`
	require.NoError(t, pack(t, s, k, result(k, 0, long)))
	failed := idempotency.Result{Index: 1, Error: json.RawMessage(`{"code":"VALIDATION_ERROR"}`)}
	k.Settle([]idempotency.Result{result(k, 0, long), failed})
	require.NoError(t, k.Finish(t.Context(), 0, []byte(long)))

	again, answer := begin(t, s, "k1")
	require.Nil(t, answer)
	require.NoError(t, again.Claim(t.Context()))
	done, err := again.Done(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[int]idempotency.Result{0: {Index: 0, ID: k.ID(0)}, 1: failed}, done)
	require.Equal(t, k.ID(-1), again.ID(-1))
	require.NoError(t, again.Finish(t.Context(), 0, []byte(`{}`)), "nothing is left to store")
	_, answer = begin(t, s, "k1")
	require.Nil(t, answer)
}

func TestFinishOfASingleWriteDoesNothing(t *testing.T) {
	s, _ := newStore(t)
	k, _ := begin(t, s, "k1")
	require.NoError(t, k.Finish(t.Context(), 0, []byte(`{}`)))
	_, answer := begin(t, s, "k1")
	require.Nil(t, answer)
}

// TestAClaimDoesNotOutliveItsResults: a bulk that is repeated late, and fails in
// part again, keeps what was done no longer than the key itself.
func TestAClaimDoesNotOutliveItsResults(t *testing.T) {
	s, c := newStore(t)
	k, _ := begin(t, s, "bulk")
	first := k.ID(0)
	require.NoError(t, k.Claim(t.Context()))
	part, err := k.Pack([]idempotency.Result{{Index: 0, ID: first}})
	require.NoError(t, err)
	require.NoError(t, s.Table.Transact(t.Context(), part))
	require.NoError(t, k.Release(t.Context()))
	c.at = c.at.Add(23 * time.Hour)
	k, _ = begin(t, s, "bulk")
	require.NoError(t, k.Claim(t.Context()))
	require.NoError(t, k.Release(t.Context()))
	c.at = c.at.Add(time.Hour - time.Minute)
	_, _, err = s.Begin(t.Context(), 1, 2, "POST", path, "bulk", []byte(body))
	require.Equal(t, 409, refused(t, err).Status, "it would end while it is served")
	c.at = c.at.Add(2 * time.Minute)
	k, _ = begin(t, s, "bulk")
	done, err := k.Done(t.Context())
	require.NoError(t, err)
	require.Empty(t, done)
	require.NotEqual(t, first, k.ID(0), "the key begins anew with its results gone")
}

func TestAReusedKeyAfterADayGivesNewIDs(t *testing.T) {
	s, c := newStore(t)
	first, _ := begin(t, s, "k1")
	require.NoError(t, first.Claim(t.Context()))
	require.NoError(t, pack(t, s, first, result(first, 0, `{}`)))
	c.at = c.at.Add(25 * time.Hour)
	second, _ := begin(t, s, "k1")
	require.NoError(t, second.Claim(t.Context()))
	require.NotEqual(t, first.ID(0), second.ID(0))
	done, err := second.Done(t.Context())
	require.NoError(t, err)
	require.Empty(t, done)
}

func TestTheKeyTravelsInTheContext(t *testing.T) {
	s, _ := newStore(t)
	k, _ := begin(t, s, "k1")
	require.Same(t, k, idempotency.From(idempotency.With(context.Background(), k)))
	require.Nil(t, idempotency.From(context.Background()))
}
