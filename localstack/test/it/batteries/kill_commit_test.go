package batteries_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/wire"
)

// placedSessions is the number of placements of a draft: several transactions.
const placedSessions = 90

// TestKillCommits kills the service at a random moment of the commit of a draft, and starts it again. The draft is
// then committed with all sessions where it places them, or it is still a draft and no session has moved.
func TestKillCommits(t *testing.T) {
	k := &committing{service: built(t), r: it.Source(it.Seed(t), 0), found: map[string]int{}}
	k.client = &it.Client{Stack: k.caller, T: t}
	for n := range placedSessions {
		k.sessions = append(k.sessions, k.client.NewSessions(fmt.Sprint("Talk ", n))...)
	}
	k.round(-1) // Without a kill, to measure how long a commit takes.
	clear(k.found)
	for round := range it.Size(10, 100) {
		k.round(round)
	}
	t.Logf("killed commits of %d sessions, which take %v: %v", placedSessions, k.takes, k.found)
	require.Positive(t, k.found["half committed"], k.found)
}

// committing kills a service during commits.
type committing struct {
	*service
	client   *it.Client
	r        *rand.Rand
	sessions []string
	// takes is how long the commit without a kill took.
	takes time.Duration
	// found counts the rounds by what the kill has left.
	found map[string]int
}

// round commits another draft, kills the service meanwhile, and looks at what a reader of the draft finds. The reader
// of a round reads the draft, its changes or the list of drafts, or commits again.
func (k *committing) round(number int) {
	k.t.Helper()
	next := time.Date(2027, 5, 10, 0, number, 0, 0, time.UTC)
	draft := "/agenda-drafts/" + k.draft(next)
	began := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = k.caller.Send(k.t, http.MethodPost, k.client.EventPath(draft+"/commit"), nil) // It may have no answer.
	}()
	if number < 0 {
		<-done
		k.takes = time.Since(began)
	} else {
		time.Sleep(time.Duration(k.r.Float64() * 1.1 * float64(k.takes)))
		k.kill(k.r.IntN(killWays), 0)
		<-done
		k.start()
	}
	moved := k.at(next)
	switch number % 4 {
	case 0:
		k.client.Do(200, http.MethodGet, draft+"/changes", nil)
	case 1:
		k.caller.Call(k.t, 200, http.MethodGet, k.client.EventPath("/agenda-drafts"), nil)
	case 2:
		if moved > 0 {
			status := k.client.TrySend(k.t, http.MethodPost, k.client.EventPath(draft+"/commit"), nil).Status
			require.Contains(k.t, []int{200, 409}, status)
		}
	}
	after := k.client.Do(200, http.MethodGet, draft, nil)
	switch after["status"] {
	case "committed":
		require.EqualValues(k.t, placedSessions, after["applied"])
		require.Equal(k.t, placedSessions, k.at(next))
		k.found[map[bool]string{true: "committed", false: "half committed"}[moved == placedSessions]]++
	default:
		require.Zero(k.t, moved, "a draft whose sessions have moved")
		require.Zero(k.t, k.at(next))
		k.found["draft"]++
	}
	k.client.Do(200, http.MethodDelete, draft+"?force=true", nil)
	k.engine.RequireWhole(k.t)
}

// draft makes a draft that places all sessions at a time.
func (k *committing) draft(at time.Time) (id string) {
	k.t.Helper()
	id = k.client.Do(200, http.MethodPost, "/agenda-drafts/create", object{"name": "Plan"}).ID()
	var operations []object
	for _, session := range k.sessions {
		operations = append(operations, object{"action": "create", "data": object{
			"session_id": session, "starts_at": at, "ends_at": at.Add(time.Hour),
		}})
	}
	placed := k.client.Do(200, http.MethodPost, fmt.Sprintf("/agenda-drafts/%s/sessions/bulk", id), object{"operations": operations})
	require.EqualValues(k.t, placedSessions, placed.At("stats.succeeded"))
	return id
}

// at returns how many sessions start at a time.
func (k *committing) at(time time.Time) (number int) {
	k.t.Helper()
	for _, s := range k.client.Do(200, http.MethodPost, "/sessions?pageSize=100", object{}).List("results") {
		if s["starts_at"] == wire.At(time).String() {
			number++
		}
	}
	return number
}
