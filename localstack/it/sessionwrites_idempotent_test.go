package it_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const keyHeader = "Idempotency-Key"

func TestCreateIsReplayedUnderItsKey(t *testing.T) {
	d := newDesk(t)
	body := object{"title": "A & <B>", "description": "<p>x</p>"}
	first := d.write(200, "POST", "create", body, keyHeader, "k")
	require.Empty(t, first.Header.Get("Idempotent-Replayed"))
	id := entity(first.JSON(t)).id()
	replayed(t, first, d.write(200, "POST", "create", body, keyHeader, "k"))
	d.put(200, id, object{"title": "Changed meanwhile"})
	now := d.write(200, "POST", "create", body, keyHeader, "k")
	require.Equal(t, d.get(200, id), again(t, now), "as it is now")
	require.True(t, strings.HasPrefix(now.Header.Get("ETag"), `"2.`))
	require.Equal(t, 1, d.search(object{}).Pagination.TotalResults)
	isRefused(t, d.write(422, "POST", "create", object{"title": "B"}, keyHeader, "k").JSON(t), "IDEMPOTENCY_KEY_REUSED", "")

	d.write(200, "POST", "create", body, keyHeader, "k2")
	d.as(d.NewToken(t, "write:sessions")).write(200, "POST", "create", object{"title": "C"}, keyHeader, "k")
	there := d.elsewhere()
	there.write(200, "POST", "create", object{"title": "D"}, keyHeader, "k")
	require.Equal(t, 3, d.search(object{}).Pagination.TotalResults)
	require.Equal(t, 1, there.search(object{}).Pagination.TotalResults)
	require.NotEqual(t, entity(d.write(200, "POST", "create", body).JSON(t)).id(), id, "without a key")
}

func TestARefusedRequestLeavesItsKeyUnused(t *testing.T) {
	d := newDesk(t)
	isInvalid(t, d.write(400, "POST", "create", object{"title": ""}, keyHeader, "k").JSON(t), "title")
	d.write(403, "POST", "create", object{"title": "A", "is_abstract": true}, keyHeader, "k")
	d.write(200, "POST", "create", object{"title": "A"}, keyHeader, "k")
	for _, key := range []string{"", strings.Repeat("x", 256), "é"} {
		if key != "" {
			isInvalid(t, d.write(400, "POST", "create", object{"title": "A"}, keyHeader, key).JSON(t), keyHeader)
		}
	}
	d.write(200, "POST", "create", object{"title": "B"}, keyHeader, strings.Repeat("x", 255))
	require.Equal(t, 2, d.search(object{}).Pagination.TotalResults)
}

func TestOtherMethodsAndSearchesIgnoreAKey(t *testing.T) {
	d := newDesk(t)
	id := d.titled("A")[0]
	for _, title := range []string{"B", "C"} {
		require.Equal(t, title, d.send(200, "PUT", "/sessions/"+id, object{"title": title}, keyHeader, "k")["title"])
	}
	for _, size := range []string{"1", "2"} {
		answer := d.Call(t, 200, "POST", d.EventPath("/sessions?pageSize="+size), object{"filters": object{}}, keyHeader, strings.Repeat("x", 300))
		require.Empty(t, answer.Header.Get("Idempotent-Replayed"))
	}
}

func TestSimultaneousCreatesUnderOneKeyMakeOneSession(t *testing.T) {
	d := newDesk(t)
	bodies := make([]string, 12)
	var all sync.WaitGroup
	for i := range bodies {
		all.Go(func() {
			answer, err := d.Send(t, "POST", d.EventPath("/sessions/create"), object{"title": "A"}, keyHeader, "k")
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
	require.Equal(t, 1, d.search(object{}).Pagination.TotalResults)
}
