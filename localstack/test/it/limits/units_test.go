package limits_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// TestUnitsOfASingleRead: two for the caller, one for each item that is shown, and next to
// nothing for the limiter where the token's limit is high.
func TestUnitsOfASingleRead(t *testing.T) {
	log := &stacktest.Log{}
	s := it.NewPeople(&it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t})
	session := s.Create(200, object{"title": "A", "participants": s.AddSpeakers(2)})
	for path, units := range map[string]float64{"/contacts/" + s.IDs["P0"]: 4, "/sessions/" + session.ID(): 7} {
		fewest, written := math.Inf(1), math.Inf(1)
		for try := range 5 {
			request := fmt.Sprint("units-", len(path), "-", try)
			s.Call(t, 200, "GET", s.EventPath(path), stacktest.WithHeaders(nil, "X-Request-Id", request))
			line := log.Fields(t, request)
			fewest, written = min(fewest, line["rcu"].(float64)), min(written, line["wcu"].(float64))
		}
		require.Equal(t, []float64{units, 0}, []float64{fewest, written}, path)
	}
}

// TestUnitsOfACreate: how many sessions there are is asked for once in an instance, to count one
// more takes no write unit, and a busy instance takes numbers ahead.
func TestUnitsOfACreate(t *testing.T) {
	log := &stacktest.Log{}
	s := it.NewPeople(&it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t})
	body := object{"title": "A", "participants": s.AddSpeakers(2)}
	s.Create(200, body)
	read, fewest, written := make([]float64, 5), math.Inf(1), math.Inf(1)
	for try := range read {
		request := fmt.Sprint("create-", try)
		s.Call(t, 200, "POST", s.EventPath("/sessions/create"), stacktest.WithHeaders(body, "X-Request-Id", request))
		line := log.Fields(t, request)
		read[try] = line["rcu"].(float64)
		fewest, written = min(fewest, read[try]), min(written, line["wcu"].(float64))
	}
	require.Equal(t, 12.0, written)
	require.Equal(t, []float64{fewest, fewest, fewest, fewest, fewest}, read)
	all := 0.0
	const many = 40
	for try := range many {
		request := fmt.Sprint("many-", try)
		s.Call(t, 200, "POST", s.EventPath("/sessions/create"), stacktest.WithHeaders(body, "X-Request-Id", request))
		all += log.Fields(t, request)["wcu"].(float64)
	}
	require.LessOrEqual(t, all, many*12.25)
}

// TestUnitsUnderAKey: a key costs two units more, and a bulk's two for each transaction.
func TestUnitsUnderAKey(t *testing.T) {
	log := &stacktest.Log{}
	s := it.NewPeople(&it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t})
	s.Inside(t, "a function that runs alone counts its reads before its first write")
	body := object{"title": "A", "participants": s.AddSpeakers(2)}
	units := func(path string, body any, id string) float64 {
		s.Call(t, 200, "POST", s.EventPath(path), stacktest.WithHeaders(body, "X-Request-Id", id, "Idempotency-Key", id))
		return log.Fields(t, id)["wcu"].(float64)
	}
	fewest := math.Inf(1)
	for _, id := range []string{"one", "two", "three"} {
		fewest = min(fewest, units("/sessions/create", body, id))
	}
	require.Equal(t, 14.0, fewest)
	operations := make([]object, 100)
	for i := range operations {
		operations[i] = it.Creating(body)
	}
	written := units("/sessions/bulk", object{"operations": operations}, "bulk")
	require.LessOrEqual(t, written, 1_220.0)
	require.Zero(t, units("/sessions/bulk", object{"operations": operations}, "bulk"))
}
