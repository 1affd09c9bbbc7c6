package it_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
)

// TestWritesOfPeopleKeepTheirBudget of round trips (design.md section 11): whom a write
// names is found together, of a bulk for all operations.
func TestWritesOfPeopleKeepTheirBudget(t *testing.T) {
	log := new(journal)
	s := newTroupe(&desk{stacktest.Start(t, stacktest.WithLog(slog.New(slog.NewJSONHandler(log, nil)))), t})
	const many = 50
	s.speakers(many)
	s.sign("sponsor", "Acme")
	s.sign("exhibitor", "Bolt")
	member := object{s.field("Owner", "user"): s.Member}
	cast := func(i int) object {
		return object{"participants": []object{
			{"email": emailOf(fmt.Sprint("P", i%many)), "core_role": "speaker"}, s.part(fmt.Sprint("P", (i+1)%many), "moderator"),
		}, "sponsor_ids": s.accounts("Acme"), "exhibitor_ids": s.accounts("Bolt"), "custom_fields": member}
	}
	var creations, updates []object
	for i := range 100 {
		creations = append(creations, creating(merged(cast(i), object{"title": "A"})))
	}
	for i, id := range s.titled(slices.Repeat([]string{"A"}, 100)...) {
		s.put(200, id, cast(i+2))
		updates = append(updates, updating(id, cast(i)))
	}
	id := updates[0]["id"].(string)
	for _, check := range []struct {
		name, method, path string
		body               object
		most               float64
	}{
		{"update of other things", http.MethodPut, "/sessions/" + id, object{"capacity": 1}, 4},
		{"update", http.MethodPut, "/sessions/" + id, cast(7), 4},
		{"create", http.MethodPost, "/sessions/create", merged(cast(0), object{"title": "A"}), 5},
		{"subsession", http.MethodPost, "/sessions/create", merged(cast(0), object{"title": "A", "parent_session_id": id}), 4},
		{"bulk of creations", http.MethodPost, "/sessions/bulk", object{"operations": creations}, 9},
		{"bulk of updates", http.MethodPost, "/sessions/bulk", object{"operations": updates}, 9},
		{"delete", http.MethodDelete, "/sessions/" + updates[1]["id"].(string), nil, 4},
	} {
		request := uuid.NewString()
		answer := s.send(200, check.method, check.path, check.body, "X-Request-Id", request)
		if stats, ok := answer["stats"].(map[string]any); ok {
			require.Equal(t, 100.0, stats["succeeded"], check.name)
		}
		require.LessOrEqual(t, log.last(t, request)["round_trips"], check.most, check.name)
	}
}
