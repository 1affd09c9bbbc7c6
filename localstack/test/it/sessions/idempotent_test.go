package sessions_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

func TestCreateIsReplayedUnderItsKey(t *testing.T) {
	d := it.NewClient(t)
	body := object{"title": "A & <B>", "description": "<p>x</p>"}
	first := d.CallSession(200, "POST", "create", body, it.KeyHeader, "k")
	require.Empty(t, first.Header.Get("Idempotent-Replayed"))
	id := entity(first.JSON(t)).ID()
	it.RequireReplay(t, first, d.CallSession(200, "POST", "create", body, it.KeyHeader, "k"))
	d.Put(200, id, object{"title": "Changed meanwhile"})
	now := d.CallSession(200, "POST", "create", body, it.KeyHeader, "k")
	require.Equal(t, d.Get(200, id), it.ReplayedRecord(t, now), "as it is now")
	require.True(t, strings.HasPrefix(now.Header.Get("ETag"), `"2.`))
	require.Equal(t, 1, d.Search(object{}).Pagination.TotalResults)
	it.RequireError(t, d.CallSession(422, "POST", "create", object{"title": "B"}, it.KeyHeader, "k").JSON(t), "IDEMPOTENCY_KEY_REUSED", "")

	d.CallSession(200, "POST", "create", body, it.KeyHeader, "k2")
	d.WithToken(d.NewToken(t, "write:sessions")).CallSession(200, "POST", "create", object{"title": "C"}, it.KeyHeader, "k")
	there := d.InNewEvent()
	there.CallSession(200, "POST", "create", object{"title": "D"}, it.KeyHeader, "k")
	require.Equal(t, 3, d.Search(object{}).Pagination.TotalResults)
	require.Equal(t, 1, there.Search(object{}).Pagination.TotalResults)
	require.NotEqual(t, entity(d.CallSession(200, "POST", "create", body).JSON(t)).ID(), id, "without a key")
}

func TestARefusedRequestLeavesItsKeyUnused(t *testing.T) {
	d := it.NewClient(t)
	it.RequireInvalid(t, d.CallSession(400, "POST", "create", object{"title": ""}, it.KeyHeader, "k").JSON(t), "title")
	d.CallSession(403, "POST", "create", object{"title": "A", "is_abstract": true}, it.KeyHeader, "k")
	d.CallSession(200, "POST", "create", object{"title": "A"}, it.KeyHeader, "k")
	for _, key := range []string{"", strings.Repeat("x", 256), "é"} {
		if key != "" {
			it.RequireInvalid(t, d.CallSession(400, "POST", "create", object{"title": "A"}, it.KeyHeader, key).JSON(t), it.KeyHeader)
		}
	}
	d.CallSession(200, "POST", "create", object{"title": "B"}, it.KeyHeader, strings.Repeat("x", 255))
	require.Equal(t, 2, d.Search(object{}).Pagination.TotalResults)
}

func TestOtherMethodsAndSearchesIgnoreAKey(t *testing.T) {
	d := it.NewClient(t)
	id := d.NewSessions("A")[0]
	for _, title := range []string{"B", "C"} {
		require.Equal(t, title, d.Do(200, "PUT", "/sessions/"+id, object{"title": title}, it.KeyHeader, "k")["title"])
	}
	for _, size := range []string{"1", "2"} {
		answer := d.Call(t, 200, "POST", d.EventPath("/sessions?pageSize="+size), stacktest.WithHeaders(object{"filters": object{}}, it.KeyHeader, strings.Repeat("x", 300)))
		require.Empty(t, answer.Header.Get("Idempotent-Replayed"))
	}
}

func TestSimultaneousCreatesUnderOneKeyMakeOneSession(t *testing.T) {
	d := it.NewClient(t)
	bodies := make([]string, 12)
	var all sync.WaitGroup
	for i := range bodies {
		all.Go(func() {
			answer, err := d.Send(t, "POST", d.EventPath("/sessions/create"), stacktest.WithHeaders(object{"title": "A"}, it.KeyHeader, "k"))
			if err == nil && answer.Status == 200 {
				bodies[i] = string(answer.Body)
			}
		})
	}
	all.Wait()
	for _, body := range bodies {
		require.Equal(t, bodies[0], body)
	}
	require.NotEmpty(t, bodies[0])
	require.Equal(t, 1, d.Search(object{}).Pagination.TotalResults)
}
