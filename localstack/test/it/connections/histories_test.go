package connections_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"lectern/localstack/local/faulty"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// kept is how many access tokens a connection has at once: the newest.
const kept = 10

// family is what a connection is: the refresh token that gives new tokens, the one that was exchanged for it, and the access tokens. A
// pair of tokens is known by its refresh token. The text is empty for a pair that nobody was told.
type family struct {
	inactive, ended   bool
	current, replaced string
	access            [kept]string
}

// add adds a pair of tokens.
func (f *family) add(pair string) {
	copy(f.access[:], f.access[1:])
	f.current, f.access[kept-1] = pair, pair
}

// doing is an operation on a connection.
type doing struct {
	connection int
	// kind is request, refresh, revoke, take or give. The last two change whether the member is active.
	kind string
	// pair is the pair whose access token a request has, or whose refresh token the others have.
	pair string
	// late reports whether the time may be over in which an exchange is repeated.
	late bool
}

// done is the answer: a status, which is 0 where it is open whether the operation was done, and the new pair of a refresh.
type done struct {
	status int
	pair   string
}

// next returns the states that an operation may leave behind it; none if the answer is wrong.
func (f family) next(in doing, out done) []any {
	switch in.kind {
	case "request":
		return f.afterRequest(in, out)
	case "refresh":
		return f.afterRefresh(in, out)
	}
	after := f
	switch in.kind {
	case "revoke":
		after.ended = true
	case "take":
		after.inactive = true
	case "give":
		after.inactive = false
	}
	if out.status == 0 {
		return []any{f, after}
	}
	return []any{after}
}

func (f family) afterRequest(in doing, out done) []any {
	want := http.StatusOK
	if f.ended || f.inactive || !slices.Contains(f.access[:], in.pair) {
		want = http.StatusUnauthorized
	}
	if out.status != 0 && out.status != want {
		return nil
	}
	return []any{f}
}

// afterRefresh: the newest refresh token gives a new pair, the one before gives the same pair again, and an older one ends the connection.
func (f family) afterRefresh(in doing, out done) []any {
	refused, ended := []any{f}, f
	ended.ended = true
	switch {
	case out.status == 0 && in.pair == f.current && !f.ended && !f.inactive:
		after := f
		after.replaced = in.pair
		after.add("")
		return []any{f, after}
	case out.status == 0 && in.pair != f.current && (in.pair != f.replaced || in.late):
		return []any{f, ended}
	case out.status == 0:
		return []any{f}
	case out.status == http.StatusOK:
		return f.afterExchange(in, out)
	case f.ended:
		return refused
	case in.pair != f.current && in.pair != f.replaced:
		return []any{ended}
	case in.pair == f.replaced && in.late:
		return []any{f, ended}
	case f.inactive:
		return refused
	}
	return nil
}

// afterExchange is afterRefresh for an answer with a pair.
func (f family) afterExchange(in doing, out done) []any {
	after := f
	switch {
	case f.ended || f.inactive:
		return nil
	case in.pair == f.current && !slices.Contains(f.access[:], out.pair):
		after.replaced = in.pair
		after.add(out.pair)
	case in.pair == f.replaced && f.current == "":
		after.current, after.access[kept-1] = out.pair, out.pair
	case in.pair != f.replaced || out.pair != f.current:
		return nil
	}
	return []any{after}
}

// families is the sequential meaning of the operations on connections that begin with the given pairs.
func families(first []string) porcupine.Model {
	model := porcupine.NondeterministicModel{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			parts := make([][]porcupine.Operation, len(first))
			for _, op := range history {
				at := op.Input.(doing).connection
				parts[at] = append(parts[at], op)
			}
			return parts
		},
		Init: func() []any { return []any{family{}} },
		Step: func(state, input, output any) []any {
			f := state.(family)
			if f.access == (family{}).access { // Nothing has happened.
				f.add(first[input.(doing).connection])
			}
			return f.next(input.(doing), output.(done))
		},
		Equal:             func(a, b any) bool { return a.(family) == b.(family) },
		DescribeOperation: it.Describe,
	}
	return model.ToModel()
}

// TestHistoriesOfConnections records requests, refreshes, revocations and deactivations of 16 clients at four instances, and looks for an
// order in which every answer is right and comes between its request and its arrival. So no request is served that began after a
// revocation was acknowledged, and no connection has two refresh tokens that give new tokens.
func TestHistoriesOfConnections(t *testing.T) {
	seed := it.Seed(t)
	for name, door := range map[string]func(table.Client) table.Client{
		"plain": func(inner table.Client) table.Client { return inner },
		"behind faults": func(inner table.Client) table.Client {
			return faulty.New(inner, faulty.Mixed(seed))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, stacktest.WithClient(door))
			places := []*stacktest.Stack{s.Stack, s.Instance(t), s.Instance(t), s.Instance(t)}
			counts := map[string]int{}
			for round := range it.Size(2, 20) {
				h := &history{site: s, places: places, seed: seed + uint64(round)}
				h.record()
				for _, op := range h.operations {
					counts[fmt.Sprintf("%s %d", op.Input.(doing).kind, op.Output.(done).status)]++
				}
				if result := porcupine.CheckOperationsTimeout(families(h.first), h.operations, time.Minute); result != porcupine.Ok {
					h.log()
					require.Failf(t, "no order of these operations explains their answers", "%s", result)
				}
			}
			for _, kind := range []string{"request 200", "request 401", "refresh 200", "refresh 400", "revoke 200", "take 200", "give 200"} {
				require.Positive(t, counts[kind], kind)
			}
			t.Logf("answers by status, 0 for an uncertain one: %v", counts)
		})
	}
}

// history records the operations on new connections.
type history struct {
	*site
	places     []*stacktest.Stack
	seed       uint64
	began      time.Time
	first      []string
	users      []int64
	mu         sync.Mutex
	known      [][]pair
	operations []porcupine.Operation
}

// pair is a pair of tokens that a client was told.
type pair struct{ access, refresh string }

const connectionsEach, clients = 4, 16

// record makes the connections, each of another member, and lets the clients use them.
func (h *history) record() {
	h.t.Helper()
	for i := range connectionsEach {
		email := fmt.Sprintf("m%d-%d@%s", h.seed, i, h.domain)
		h.users = append(h.users, h.member(email, object{"ai_access": true}))
		b := h.newBrowser()
		b.signIn(b.get("/oauth/signin"), email)
		tokens := h.tokens(http.StatusOK, b.approve(h.request()).Get("code"))
		one := pair{tokens["access_token"].(string), tokens["refresh_token"].(string)}
		h.first, h.known = append(h.first, one.refresh), append(h.known, []pair{one})
	}
	h.began = time.Now()
	it.Concurrently(clients, func(client int) {
		r := it.Source(h.seed, client)
		for range it.Size(25, 40) {
			h.act(client, r, r.IntN(connectionsEach), h.drawn(r))
		}
	})
	last := it.Source(h.seed, clients)
	for connection := range connectionsEach { // Each pair that was ever given, the newest first: at most one chain goes on.
		h.act(clients, last, connection, "give")
		for back := range h.known[connection] {
			p := h.known[connection][len(h.known[connection])-1-back]
			h.actWith(clients, last, doing{connection: connection, kind: "refresh", pair: p.refresh}, p)
			h.actWith(clients, last, doing{connection: connection, kind: "request", pair: p.refresh}, p)
		}
	}
}

// TestTheModelOfConnectionsRefuses histories that no connection may have.
func TestTheModelOfConnectionsRefuses(t *testing.T) {
	const ok, out, bad = http.StatusOK, http.StatusUnauthorized, http.StatusBadRequest
	for name, history := range map[string][]porcupine.Operation{
		"a request after a revocation":      {after("revoke", "a", ok, ""), after("request", "a", ok, "")},
		"a refresh after a revocation":      {after("revoke", "a", ok, ""), after("refresh", "a", ok, "b")},
		"a request of an inactive member":   {after("take", "a", ok, ""), after("request", "a", ok, "")},
		"two pairs of one token":            {after("refresh", "a", ok, "b"), after("refresh", "a", ok, "c")},
		"an older token gives a pair":       {after("refresh", "a", ok, "b"), after("refresh", "b", ok, "c"), after("refresh", "a", ok, "c")},
		"a request after a reuse":           {after("refresh", "a", ok, "b"), after("refresh", "b", ok, "c"), after("refresh", "a", bad, ""), after("request", "c", ok, "")},
		"a refused request without a cause": {after("request", "a", out, "")},
		"a refused refresh without a cause": {after("refresh", "a", bad, "")},
	} {
		for i := range history {
			history[i].Call, history[i].Return = int64(2*i), int64(2*i+1)
		}
		require.Equal(t, porcupine.Illegal, porcupine.CheckOperationsTimeout(families([]string{"a"}), history, time.Minute), name)
	}
}

// after returns an operation of a history in which one follows the other.
func after(kind, pair string, status int, given string) porcupine.Operation {
	return porcupine.Operation{Input: doing{kind: kind, pair: pair}, Output: done{status, given}}
}

// drawn draws a kind of an operation.
func (*history) drawn(r *rand.Rand) string {
	switch n := r.IntN(1000); {
	case n < 8:
		return "revoke"
	case n < 28:
		return "take"
	case n < 68:
		return "give"
	case n < 350:
		return "refresh"
	}
	return "request"
}

// chooseOf chooses a pair of a connection: mostly the newest, sometimes the one before, and seldom an older one.
func (h *history) chooseOf(r *rand.Rand, connection int) pair {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.known[connection]
	back := 0
	switch n := r.IntN(300); {
	case n < 1:
		back = r.IntN(len(known))
	case n < 12:
		back = 1
	}
	return known[max(0, len(known)-1-back)]
}

// act does an operation with some pair and records it.
func (h *history) act(client int, r *rand.Rand, connection int, kind string) {
	p := h.chooseOf(r, connection)
	h.actWith(client, r, doing{connection: connection, kind: kind, pair: p.refresh}, p)
}

// actWith does an operation with a pair and records it.
func (h *history) actWith(client int, r *rand.Rand, in doing, p pair) {
	called := time.Since(h.began)
	out := h.do(h.places[r.IntN(len(h.places))], in, p)
	returned := int64(time.Since(h.began))
	in.late = time.Since(h.began) > 9*time.Second
	if out.status == 0 && in.kind != "request" {
		returned = math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operations = append(h.operations, porcupine.Operation{ClientId: client, Input: in, Call: int64(called), Output: out, Return: returned})
}

// do does an operation.
func (h *history) do(at *stacktest.Stack, in doing, p pair) done {
	switch in.kind {
	case "request":
		return certain(at.As(p.access).TrySend(h.t, http.MethodGet, "/v1/events", nil))
	case "revoke":
		return certain(at.As("").TrySend(h.t, http.MethodPost, "/oauth/revoke", object{"token": p.refresh}))
	case "refresh":
		answer := at.As("").TrySend(h.t, http.MethodPost, "/oauth/token", object{
			"grant_type": "refresh_token", "refresh_token": p.refresh, "client_id": h.app["client_id"],
		})
		out := certain(answer)
		if out.status == http.StatusOK {
			tokens := answer.JSON(h.t)
			out.pair = tokens["refresh_token"].(string)
			h.learn(in.connection, pair{tokens["access_token"].(string), out.pair})
		}
		return out
	}
	input := object{"org_id": h.Org, "user_id": h.users[in.connection], "active": in.kind == "give"}
	if _, err := at.TryOperator(h.t, "member-update", input); err != nil {
		return done{}
	}
	return done{status: http.StatusOK}
}

// certain returns the status of an answer, 0 for a 503.
func certain(answer stacktest.Answer) done {
	if answer.Status == http.StatusServiceUnavailable {
		return done{}
	}
	return done{status: answer.Status}
}

// learn adds a pair to those that all clients know.
func (h *history) learn(connection int, p pair) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(h.known[connection], p) {
		h.known[connection] = append(h.known[connection], p)
	}
}

// log writes the history to the log of the test.
func (h *history) log() {
	for _, op := range h.operations {
		h.t.Logf("%9d-%9d client %d: %s", op.Call/1000, op.Return/1000, op.ClientId, it.Describe(op.Input, op.Output))
	}
}
