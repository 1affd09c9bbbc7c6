package sessions_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// TestWritesOfPeopleKeepTheirBudget of round trips (design.md section 11): whom a write
// names is found together, of a bulk for all operations.
func TestWritesOfPeopleKeepTheirBudget(t *testing.T) {
	log := &stacktest.Log{}
	s := it.NewPeople(&it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t})
	const many = 50
	s.AddSpeakers(many)
	s.AddAccount("sponsor", "Acme")
	s.AddAccount("exhibitor", "Bolt")
	member := object{s.NewField("Owner", "user"): s.Member}
	people := func(i int) object {
		return object{"participants": []object{
			{"email": it.EmailOf(fmt.Sprint("P", i%many)), "core_role": "speaker"}, s.Participant(fmt.Sprint("P", (i+1)%many), "moderator"),
		}, "sponsor_ids": s.AccountIDs("Acme"), "exhibitor_ids": s.AccountIDs("Bolt"), "custom_fields": member}
	}
	var creations, updates []object
	for i := range 100 {
		creations = append(creations, it.Creating(it.Merged(people(i), object{"title": "A"})))
	}
	for i, id := range s.NewSessions(slices.Repeat([]string{"A"}, 100)...) {
		s.Put(200, id, people(i+2))
		updates = append(updates, it.Updating(id, people(i)))
	}
	at := func(i int) string { return "/sessions/" + updates[i]["id"].(string) }
	under := object{"title": "A", "parent_session_id": updates[0]["id"]}
	for _, check := range []struct {
		name, method string
		path         func(try int) string
		body         object
		most         float64
	}{
		{"update of other things", http.MethodPut, at, object{"capacity": 1}, 4},
		{"update", http.MethodPut, at, people(7), 4},
		{"create", http.MethodPost, always("/sessions/create"), it.Merged(people(0), object{"title": "A"}), 5},
		{"subsession", http.MethodPost, always("/sessions/create"), it.Merged(people(0), under), 4},
		{"bulk of creations", http.MethodPost, always("/sessions/bulk"), object{"operations": creations}, 9},
		{"bulk of updates", http.MethodPost, always("/sessions/bulk"), object{"operations": updates}, 9},
		{"delete", http.MethodDelete, func(try int) string { return at(try + 1) }, nil, 4},
	} {
		fewest := math.Inf(1)
		// Calls that are made side by side count as one only where they overlap, which a
		// busy machine does not always let them do.
		for try := 0; try < 10 && fewest > check.most; try++ {
			request := uuid.NewString()
			answer := s.Do(200, check.method, check.path(try), check.body, "X-Request-Id", request)
			if stats, ok := answer["stats"].(map[string]any); ok {
				require.Equal(t, 100.0, stats["succeeded"], check.name)
			}
			fewest = min(fewest, log.Fields(t, request)["round_trips"].(float64))
		}
		require.LessOrEqual(t, fewest, check.most, check.name)
	}
}

func always(path string) func(int) string { return func(int) string { return path } }
