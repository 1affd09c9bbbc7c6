package idempotency_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/apierr"
	"lectern/shared/idempotency"
	"lectern/shared/table"
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
func begin(t *testing.T, s idempotency.Store, key string) *idempotency.Key {
	t.Helper()
	k, err := s.Begin(t.Context(), request(key))
	require.NoError(t, err)
	return k
}

// request is the request of the tests under a key.
func request(key string) idempotency.Request {
	return idempotency.Request{Org: 1, Token: 2, Method: "POST", Path: path, Key: key, Body: []byte(body)}
}

// refused is the error of a request that is refused.
func refused(t *testing.T, err error) *apierr.Error {
	t.Helper()
	var e *apierr.Error
	require.ErrorAs(t, err, &e)
	return e
}

// write does a single write that consists of its key alone.
func write(t *testing.T, s idempotency.Store, k *idempotency.Key, id string) error {
	t.Helper()
	w, err := k.Write(id, 3)
	require.NoError(t, err)
	return s.Table.Transact(t.Context(), w)
}

func TestASingleWriteIsNoted(t *testing.T) {
	s, _ := newStore(t)
	k := begin(t, s, "k1")
	require.False(t, k.Replays())
	require.Empty(t, k.Ref())
	require.NoError(t, write(t, s, k, "s1"))
	k = begin(t, s, "k1")
	require.True(t, k.Replays())
	require.Equal(t, "s1", k.Ref())
}

func TestAKeyIsOfOneTokenMethodAndPath(t *testing.T) {
	s, _ := newStore(t)
	require.NoError(t, write(t, s, begin(t, s, "k1"), "s1"))
	for _, change := range []func(*idempotency.Request){
		func(r *idempotency.Request) { r.Token = 3 }, func(r *idempotency.Request) { r.Org = 2 }, func(r *idempotency.Request) { r.Method = "PUT" },
		func(r *idempotency.Request) { r.Path += "/x" }, func(r *idempotency.Request) { r.Key = "K1" },
	} {
		r := request("k1")
		r.Body = []byte("another body")
		change(&r)
		k, err := s.Begin(t.Context(), r)
		require.NoError(t, err)
		require.False(t, k.Replays())
	}
}

func TestAnotherBodyIsRefused(t *testing.T) {
	s, _ := newStore(t)
	other := request("k1")
	other.Body = []byte(`{"title":"Other"}`)
	require.NoError(t, write(t, s, begin(t, s, "k1"), "s1"))
	_, err := s.Begin(t.Context(), other)
	require.Equal(t, 422, refused(t, err).Status)
	require.Equal(t, idempotency.CodeReused, refused(t, err).Code)

	other.Key = "bulk"
	require.NoError(t, begin(t, s, "bulk").Claim(t.Context()))
	_, err = s.Begin(t.Context(), other)
	require.Equal(t, 422, refused(t, err).Status, "while it is under way too")
}

func TestKeysThatAreNone(t *testing.T) {
	s, _ := newStore(t)
	for _, key := range []string{"", strings.Repeat("k", 256), "tab\t", "über"} {
		_, err := s.Begin(t.Context(), request(key))
		require.Equal(t, 400, refused(t, err).Status, key)
		require.Equal(t, "Idempotency-Key", refused(t, err).Details["field"])
	}
	begin(t, s, strings.Repeat("k", 255))
}

func TestTheSecondOfTwoAtOnceIsRaced(t *testing.T) {
	s, _ := newStore(t)
	first, second := begin(t, s, "k1"), begin(t, s, "k1")
	require.NoError(t, write(t, s, first, "s1"))
	require.ErrorIs(t, write(t, s, second, "s2"), idempotency.ErrRaced)
	require.Equal(t, "s1", begin(t, s, "k1").Ref())
}

func TestAKeyIsKeptForADay(t *testing.T) {
	s, c := newStore(t)
	require.NoError(t, write(t, s, begin(t, s, "k1"), "s1"))
	c.at = c.at.Add(24*time.Hour - time.Second)
	require.True(t, begin(t, s, "k1").Replays())
	c.at = c.at.Add(2 * time.Second)
	k := begin(t, s, "k1")
	require.False(t, k.Replays())
	require.NoError(t, write(t, s, k, "s2"), "though nobody has swept the old one away")
}

// former stores what a release before decision 14 kept of a request under a key.
func former(t *testing.T, s idempotency.Store, key, data string) (pk string) {
	t.Helper()
	place, sum := sha256.Sum256([]byte("POST\n"+path+"\n"+key)), sha256.Sum256([]byte(body))
	pk = "O#1#I#2#" + hex.EncodeToString(place[:])
	item := table.Item{Key: table.Key{PK: pk, SK: "-"}, Version: 2, Expires: s.Now().Add(time.Hour).Unix()}
	item.Data = []byte(strings.Replace(data, "{", `{"body":"`+hex.EncodeToString(sum[:])+`",`, 1))
	require.NoError(t, s.Table.Transact(t.Context(), table.Insert(item)))
	return pk
}

// TestWhatFormerReleasesKeptIsHonoured: answers, long and short, of single writes and of
// bulks.
func TestWhatFormerReleasesKeptIsHonoured(t *testing.T) {
	s, _ := newStore(t)
	former(t, s, "answer", `{"done":true,"version":4,"answer":{"id":"s1","title":"Keynote"}}`)
	former(t, s, "long answer", `{"done":true,"version":4,"ref":"s1"}`)
	for _, key := range []string{"answer", "long answer"} {
		k := begin(t, s, key)
		require.True(t, k.Replays())
		require.Equal(t, "s1", k.Ref())
	}
	former(t, s, "bulk", `{"claim":7,"done":true,"answer":{"batch_id":"b","results":[
		{"index":0,"action":"create","status":"success","id":"s1","data":{"id":"s1"}},
		{"index":1,"action":"update","status":"error","id":"s2","error":{"code":"NO","message":"No.","details":{"field":"x"},"valid_options":["a"]}},
		{"index":2,"action":"update","status":"error","id":null,"error":"Not that."},
		{"index":3,"action":"delete","status":"success","id":"s4"}],"stats":{}}}`)
	former(t, s, "long bulk", `{"claim":7,"done":true,"results":[{"index":0,"id":"s1"},
		{"index":1,"id":"s2","error":{"status":400,"error":{"code":"NO","message":"No.","details":{"field":"x"}}}},
		{"index":2,"error":{"status":400,"error":{"message":"Not that."}}},{"index":3,"id":"s4"}]}`)
	for _, key := range []string{"bulk", "long bulk"} {
		k := begin(t, s, key)
		require.True(t, k.Replays())
		require.NoError(t, k.Claim(t.Context()), "nothing is left to claim")
		done, err := k.Done(t.Context())
		require.NoError(t, err)
		require.Len(t, done, 4)
		require.Equal(t, idempotency.Result{ID: "s1"}, done[0])
		require.Equal(t, idempotency.Result{Index: 3, ID: "s4"}, done[3])
		one := refused(t, idempotency.DecodeError(done[1].Error))
		require.Equal(t, []any{"NO", "No.", map[string]any{"field": "x"}}, []any{one.Code, one.Message, one.Details})
		require.Equal(t, "Not that.", idempotency.DecodeError(done[2].Error).Error())
	}
	claim := s.Now().UnixNano()
	pk := former(t, s, "cut off", fmt.Sprintf(`{"claim":%d,"lease":1}`, claim))
	require.NoError(t, s.Table.Transact(t.Context(), table.Insert(table.Item{
		Key: table.Key{PK: pk, SK: fmt.Sprintf("P#%d#0003", claim)}, Version: 1, Data: []byte(`[{"index":3,"id":"s4","answer":{"id":"s4"}}]`),
	})))
	k := begin(t, s, "cut off")
	require.False(t, k.Replays())
	require.NoError(t, k.Claim(t.Context()))
	done, err := k.Done(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[int]idempotency.Result{3: {Index: 3, ID: "s4"}}, done)
}

func TestABulkHoldsItsKeyWhileItRuns(t *testing.T) {
	s, c := newStore(t)
	first, second := begin(t, s, "k1"), begin(t, s, "k1")
	require.NoError(t, first.Claim(t.Context()))

	busy := refused(t, second.Claim(t.Context()))
	require.Equal(t, 409, busy.Status)
	require.Equal(t, idempotency.CodeInUse, busy.Code)
	require.NotEmpty(t, busy.Header.Get("Retry-After"))

	_, err := s.Begin(t.Context(), request("k1"))
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

func result(k *idempotency.Key, index int) idempotency.Result {
	return idempotency.Result{Index: index, ID: k.ID(index), Version: 1}
}

func TestABulkThatWasCutOffIsTakenUp(t *testing.T) {
	s, c := newStore(t)
	first := begin(t, s, "k1")
	early := first.ID(1)
	require.NoError(t, first.Claim(t.Context()))
	require.Equal(t, early, first.ID(1), "known before the claim")
	other := idempotency.Result{Index: 2, ID: "another", Version: 7}
	require.NoError(t, pack(t, s, first, result(first, 0), other))

	c.at = c.at.Add(time.Minute)
	second := begin(t, s, "k1")
	require.False(t, second.Replays())
	require.NoError(t, second.Claim(t.Context()))
	done, err := second.Done(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[int]idempotency.Result{0: result(first, 0), 2: other}, done)
	require.Equal(t, first.ID(1), second.ID(1), "what is missing gets the id it would have got")
	require.NotEqual(t, first.ID(1), first.ID(2))
	require.NoError(t, uuid.Validate(first.ID(-1)))

	_, err = first.Pack([]idempotency.Result{result(first, 1)})
	require.ErrorIs(t, err, idempotency.ErrRaced, "the first one's lease has ended")
	require.ErrorIs(t, first.Finish(t.Context(), nil), idempotency.ErrRaced)
}

// TestAFinishedBulkIsReplayed by the results of its parts and those that had none.
func TestAFinishedBulkIsReplayed(t *testing.T) {
	s, c := newStore(t)
	k := begin(t, s, "k1")
	require.NoError(t, k.Claim(t.Context()))
	require.NoError(t, pack(t, s, k, result(k, 0), result(k, 1)))
	failed := idempotency.Result{Index: 2, Error: json.RawMessage(`{"status":400,"error":{"message":"No."}}`)}
	require.NoError(t, k.Finish(t.Context(), []idempotency.Result{failed, result(k, 3)}))
	require.False(t, k.Replays(), "it is the first")
	for range 2 {
		again := begin(t, s, "k1")
		require.True(t, again.Replays())
		require.NoError(t, again.Claim(t.Context()))
		done, err := again.Done(t.Context())
		require.NoError(t, err)
		require.Equal(t, map[int]idempotency.Result{0: result(k, 0), 1: result(k, 1), 2: failed, 3: result(k, 3)}, done)
		require.Equal(t, k.ID(-1), again.ID(-1))
		require.NoError(t, again.Finish(t.Context(), nil), "nothing is left to store")
		require.NoError(t, again.Release(t.Context()))
	}
	c.at = c.at.Add(24 * time.Hour)
	require.False(t, begin(t, s, "k1").Replays())
}

// TestAnErrorIsKeptShort but for what a program reads of it.
func TestAnErrorIsKeptShort(t *testing.T) {
	short := apierr.TypeMismatch("size", "No such size.", "S", "M")
	text, err := idempotency.EncodeError(short)
	require.NoError(t, err)
	require.Equal(t, short, idempotency.DecodeError(text))

	long := apierr.TypeMismatch("size", strings.Repeat("ö", 2_000), strings.Repeat("o", 600)).With("long", strings.Repeat("x", 600))
	text, err = idempotency.EncodeError(long)
	require.NoError(t, err)
	require.Less(t, len(text), 1_000)
	kept := refused(t, idempotency.DecodeError(text))
	require.Equal(t, []any{400, "TYPE_MISMATCH", strings.Repeat("ö", 250) + "…"}, []any{kept.Status, kept.Code, kept.Message})
	require.Empty(t, kept.ValidOptions)
	require.Empty(t, kept.Details)
	require.Len(t, long.ValidOptions, 1, "which stays what it is")
}

// TestAKeptErrorHasNoNamesOfPeople that a client has sent as the name of a property.
func TestAKeptErrorHasNoNamesOfPeople(t *testing.T) {
	for _, c := range []struct {
		refused        *apierr.Error
		field, message string
	}{
		{apierr.FieldNotFound("Ada Lovelace"), "…", `There is no custom field "…".`},
		{apierr.FieldNotFound("ada@example.org"), "…", `There is no custom field "…".`},
		{apierr.Invalid("E", "E must be an E-mail. Every E."), "…", "… must be an …-mail. Every …."},
		{apierr.Invalid("É", "É and Éa, aÉ."), "…", "… and Éa, aÉ."},
		{apierr.FieldNotFound("seat_2"), "seat_2", `There is no custom field "seat_2".`},
		{apierr.Invalid("a.Ada \"L\"[0]", "a.Ada \"L\"[0] must be a string."), "…", "… must be a string."},
		{apierr.Invalid("translations.de-AT.aboutMe[3]", "%s is %q.", "translations.de-AT.aboutMe[3]", "x\"Ada"),
			"translations.de-AT.aboutMe[3]", `translations.de-AT.aboutMe[3] is "…".`},
		{apierr.TypeMismatch("size", `Field "size" must be one of "Extra Large", "S".`, "Extra Large", "S"),
			"size", `Field "size" must be one of "Extra Large", "S".`},
	} {
		before := c.refused.Details["field"]
		text, err := idempotency.EncodeError(c.refused)
		require.NoError(t, err)
		kept := refused(t, idempotency.DecodeError(text))
		require.Equal(t, []any{c.field, c.message}, []any{kept.Details["field"], kept.Message})
		require.Equal(t, before, c.refused.Details["field"], "the answer stays what it is")
	}
}

// TestAKeptErrorThatIsNoneIsAnError of the service, and no panic.
func TestAKeptErrorThatIsNoneIsAnError(t *testing.T) {
	for _, text := range []string{`{"status":400}`, `{}`, `null`, `[]`} {
		err := idempotency.DecodeError([]byte(text))
		require.ErrorContains(t, err, "decode a kept error", text)
	}
}

// TestAClaimDoesNotOutliveItsResults: a bulk that is repeated late, and fails in
// part again, keeps what was done no longer than the key itself.
func TestAClaimDoesNotOutliveItsResults(t *testing.T) {
	s, c := newStore(t)
	k := begin(t, s, "bulk")
	first := k.ID(0)
	require.NoError(t, k.Claim(t.Context()))
	part, err := k.Pack([]idempotency.Result{{Index: 0, ID: first}})
	require.NoError(t, err)
	require.NoError(t, s.Table.Transact(t.Context(), part))
	require.NoError(t, k.Release(t.Context()))
	c.at = c.at.Add(23 * time.Hour)
	k = begin(t, s, "bulk")
	require.NoError(t, k.Claim(t.Context()))
	require.NoError(t, k.Release(t.Context()))
	c.at = c.at.Add(time.Hour - time.Minute)
	_, err = s.Begin(t.Context(), request("bulk"))
	require.Equal(t, 409, refused(t, err).Status, "it would end while it is served")
	c.at = c.at.Add(2 * time.Minute)
	k = begin(t, s, "bulk")
	done, err := k.Done(t.Context())
	require.NoError(t, err)
	require.Empty(t, done)
	require.NotEqual(t, first, k.ID(0), "the key begins anew with its results gone")
}

func TestAReusedKeyAfterADayGivesNewIDs(t *testing.T) {
	s, c := newStore(t)
	first := begin(t, s, "k1")
	require.NoError(t, first.Claim(t.Context()))
	require.NoError(t, pack(t, s, first, result(first, 0)))
	c.at = c.at.Add(25 * time.Hour)
	second := begin(t, s, "k1")
	require.NoError(t, second.Claim(t.Context()))
	require.NotEqual(t, first.ID(0), second.ID(0))
	done, err := second.Done(t.Context())
	require.NoError(t, err)
	require.Empty(t, done)
}

func TestTheKeyTravelsInTheContext(t *testing.T) {
	s, _ := newStore(t)
	k := begin(t, s, "k1")
	require.Same(t, k, idempotency.From(idempotency.With(context.Background(), k)))
	require.Nil(t, idempotency.From(context.Background()))
}
