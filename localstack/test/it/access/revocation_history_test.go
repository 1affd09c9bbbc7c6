package access_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
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

// admission is what a token may: nothing while its owner is inactive, and otherwise read
// rooms while it has the scope.
type admission struct{ active, scoped bool }

func (a admission) status() int {
	switch {
	case !a.active:
		return http.StatusUnauthorized
	case !a.scoped:
		return http.StatusForbidden
	}
	return http.StatusOK
}

// decree is an operation on a token: a request with it, where both are nil, or a change.
type decree struct {
	token          int
	active, scoped *bool
}

// admissions is the sequential meaning of decrees. An output is a status; 0 is one that
// leaves open whether the change was done.
func admissions() porcupine.Model {
	model := porcupine.NondeterministicModel{
		Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
			of := map[int][]porcupine.Operation{}
			for _, op := range history {
				token := op.Input.(decree).token
				of[token] = append(of[token], op)
			}
			for _, part := range of {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() []any { return []any{admission{true, true}} },
		Step: func(state, input, output any) []any {
			was, in, status := state.(admission), input.(decree), output.(int)
			next := was
			switch {
			case in.active != nil:
				next.active = *in.active
			case in.scoped != nil:
				next.scoped = *in.scoped
			case status == 0:
				return []any{was}
			case status != was.status():
				return nil
			}
			if status == 0 {
				return []any{was, next}
			}
			return []any{next}
		},
		DescribeOperation: it.Describe,
	}
	return model.ToModel()
}

// TestNoRequestAfterARevocationIsServed records requests of 16 clients at four instances
// beside three operators who forbid and allow, and looks for an order in which every
// answer is right and comes between its request and its arrival: what began after a
// revocation was acknowledged is refused.
func TestNoRequestAfterARevocationIsServed(t *testing.T) {
	seed := it.Seed(t)
	for name, door := range map[string]func(table.Client) table.Client{
		"plain": nil,
		"behind faults": func(inner table.Client) table.Client {
			return faulty.New(inner, faulty.Mixed(seed))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := it.StartWithEngine(t, door)
			places := []*stacktest.Stack{s, s.Instance(t), s.Instance(t), s.Instance(t)}
			statuses := map[int]int{}
			for round := range it.Size(2, 20) {
				history := decreed(t, places, seed+uint64(round))
				for _, op := range history {
					statuses[op.Output.(int)]++
				}
				if porcupine.CheckOperationsTimeout(admissions(), history, time.Minute) != porcupine.Ok {
					for _, op := range history {
						t.Logf("%9d-%9d client %d: %s", op.Call/1000, op.Return/1000, op.ClientId, it.Describe(op.Input, op.Output))
					}
					require.Fail(t, "no order of these operations explains their answers")
				}
			}
			require.Positive(t, min(statuses[200], statuses[401], statuses[403]))
			t.Logf("answers by status, 0 for an uncertain one: %v", statuses)
		})
	}
}

// subject is a token with what a command needs to change it.
type subject struct {
	value     string
	id, owner any
}

// decreed records a history of four new tokens.
func decreed(t *testing.T, places []*stacktest.Stack, seed uint64) []porcupine.Operation {
	t.Helper()
	s := places[0]
	subjects := make([]subject, 4)
	for i := range subjects {
		owner := s.Operator(t, "member-create", map[string]any{"org_id": s.Org, "name": "Owner", "email": fmt.Sprintf("o%d@example.org", i)})
		made := s.Operator(t, "token-create", map[string]any{"org_id": s.Org, "user_id": owner["id"], "name": "T",
			"scopes": []string{"read:events"}, "limit": 1_000_000})
		subjects[i] = subject{value: made["token"].(string), id: made["id"], owner: owner["id"]}
	}
	const clients, operators = 16, 3
	var mu sync.Mutex
	var history []porcupine.Operation
	start := time.Now()
	it.Concurrently(clients+operators, func(client int) {
		r := it.Source(seed, client)
		for range it.Size(30, 60) {
			in := decree{token: r.IntN(len(subjects))}
			if client >= clients {
				in = in.drawn(r)
				time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
			}
			called := time.Since(start)
			out := in.send(t, places[r.IntN(len(places))], subjects[in.token])
			returned := int64(time.Since(start))
			if out == 0 {
				returned = math.MaxInt64
			}
			mu.Lock()
			history = append(history, porcupine.Operation{ClientId: client, Input: in, Call: int64(called), Output: out, Return: returned})
			mu.Unlock()
		}
	})
	return history
}

// drawn makes a change of the operation.
func (in decree) drawn(r *rand.Rand) decree {
	to := r.IntN(2) == 0
	if r.IntN(2) == 0 {
		in.active = &to
	} else {
		in.scoped = &to
	}
	return in
}

// send does the operation and returns its status, 0 for one that may have been done or not.
func (in decree) send(t *testing.T, s *stacktest.Stack, on subject) int {
	if in.active == nil && in.scoped == nil {
		answer := s.As(on.value).TrySend(t, "GET", "/v1/events", nil)
		if answer.Status == http.StatusServiceUnavailable {
			return 0
		}
		return answer.Status
	}
	command, input := "member-update", map[string]any{"org_id": s.Org, "user_id": on.owner, "active": in.active}
	if in.scoped != nil {
		scopes := map[bool][]string{true: {"read:events"}, false: {"read:contacts"}}[*in.scoped]
		command, input = "token-update", map[string]any{"org_id": s.Org, "token_id": on.id, "scopes": scopes}
	}
	if _, err := s.TryOperator(t, command, input); err != nil {
		return 0
	}
	return http.StatusOK
}
