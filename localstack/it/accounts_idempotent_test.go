package it_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAccountCreateIsReplayedUnderItsKey(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
		first := s.call(200, http.MethodPost, "/create", object{"name": "A"}, keyHeader, "k")
		id := entity(first.JSON(t)).id()
		replayed(t, first, s.call(200, http.MethodPost, "/create", object{"name": "A"}, keyHeader, "k"))
		s.put(200, id, object{"name": "Changed meanwhile"})
		again := s.call(200, http.MethodPost, "/create", object{"name": "A"}, keyHeader, "k")
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		require.Equal(t, s.get(200, id), entity(again.JSON(t)), "as it is now")
		isRefused(t, s.call(422, http.MethodPost, "/create", object{"name": "B"}, keyHeader, "k").JSON(t), "IDEMPOTENCY_KEY_REUSED", "")
		require.Equal(t, 1, s.search(object{}).Pagination.TotalResults)

		other := s.other()
		taken := other.call(200, http.MethodPost, "/create", object{"account_id": id}, keyHeader, "k2")
		replayed := other.call(200, http.MethodPost, "/create", object{"account_id": id}, keyHeader, "k2")
		require.Equal(t, string(taken.Body), string(replayed.Body), "not the 409 of a role that is held")
		isTaken(t, other.takes(409, id), id, false)
	})
}

func TestAccountBulkIsReplayedUnderItsKey(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
		id, gone := s.other().named("A")[0], s.named("Gone")[0]
		operations := []object{
			creating(object{"name": "B"}), creating(object{"account_id": id}), deleting(gone), creating(object{"account_id": id}), updating(id, object{"name": "C"}),
		}
		first := s.bulkUnder("k", operations...)
		require.Equal(t, 4, first.Stats.Succeeded)
		require.Equal(t, first.asLeft(), s.bulkUnder("k", operations...))
		require.Equal(t, 2, s.search(object{}).Pagination.TotalResults)
		require.Equal(t, "C", s.get(200, id)["name"])
	})
}

// TestALargeBulkOfAccountsStaysDone: where answers are too long to be kept, the
// repetition shows the records as they are, those of account_id by their own ids.
func TestALargeBulkOfAccountsStaysDone(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
		made := make([]object, 12)
		for i := range made {
			made[i] = creating(object{"name": "A", "description": strings.Repeat("é", 30_000)})
		}
		o := s.other().bulk(made...)
		taking := make([]object, len(made))
		for i := range made {
			taking[i] = creating(object{"account_id": o.data(t, i).id(), "phone": "123456"})
		}
		first := s.bulkUnder("k", taking...)
		require.Equal(t, len(made), first.Stats.Succeeded)
		gone := o.data(t, 3).id()
		s.remove(200, gone)
		again := s.bulkUnder("k", taking...)
		require.Equal(t, first.Stats, again.Stats)
		for i := range made {
			require.Equal(t, o.data(t, i).id(), again.data(t, i).id())
			require.Equal(t, i == 3, again.data(t, i)["deleted_at"] != nil)
		}
		s.isUnknown(s.get(404, gone))
	})
}

// TestSimultaneousRolesAreTakenOnce: of simultaneous requests for one role one
// succeeds, and every other is told that the account has it.
func TestSimultaneousRolesAreTakenOnce(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
		id := s.other().named("A")[0]
		statuses := make(chan int, 8)
		for range cap(statuses) {
			go func() {
				answer, err := s.Send(t, http.MethodPost, s.EventPath(s.path("/create")), object{"account_id": id})
				if err != nil {
					answer.Status = 0
				}
				statuses <- answer.Status
			}()
		}
		counts := map[int]int{}
		for range cap(statuses) {
			counts[<-statuses]++
		}
		require.Equal(t, map[int]int{200: 1, 409: 7}, counts)
		require.Len(t, s.search(object{}).Results, 1)
	})
}
