package people_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func TestAccountCreateIsReplayedUnderItsKey(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		first := s.call(200, http.MethodPost, "/create", object{"name": "A"}, it.KeyHeader, "k")
		id := entity(first.JSON(t)).ID()
		it.RequireReplay(t, first, s.call(200, http.MethodPost, "/create", object{"name": "A"}, it.KeyHeader, "k"))
		s.put(200, id, object{"name": "Changed meanwhile"})
		again := s.call(200, http.MethodPost, "/create", object{"name": "A"}, it.KeyHeader, "k")
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		require.Equal(t, s.get(200, id), entity(again.JSON(t)), "as it is now")
		it.RequireError(t, s.call(422, http.MethodPost, "/create", object{"name": "B"}, it.KeyHeader, "k").JSON(t), "IDEMPOTENCY_KEY_REUSED", "")
		require.Equal(t, 1, s.search(object{}).Pagination.TotalResults)

		other := s.other()
		taken := other.call(200, http.MethodPost, "/create", object{"account_id": id}, it.KeyHeader, "k2")
		replayed := other.call(200, http.MethodPost, "/create", object{"account_id": id}, it.KeyHeader, "k2")
		require.Equal(t, string(taken.Body), string(replayed.Body), "not the 409 of a role that is held")
		isTaken(t, other.takes(409, id), id, false)
	})
}

// TestAReplayWithoutTheScopeOfContacts repeats the create of an account with contacts for a
// caller who may not read contacts.
func TestAReplayWithoutTheScopeOfContacts(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		ann := s.NewContact("ann@example.org").ID()
		writer, body := s.with(s.writer()), object{"name": "A", "contacts": []object{{"contact_id": ann}}}
		first := writer.call(200, http.MethodPost, "/create", body, it.KeyHeader, "k")
		require.NotContains(t, entity(first.JSON(t)), "contacts")
		it.RequireReplay(t, first, writer.call(200, http.MethodPost, "/create", body, it.KeyHeader, "k"))
		bulk := writer.bulkUnder("k2", it.Creating(body))
		require.Equal(t, bulk, writer.bulkUnder("k2", it.Creating(body)))
	})
}

func TestAccountBulkIsReplayedUnderItsKey(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id, gone := s.other().named("A")[0], s.named("Gone")[0]
		operations := []object{
			it.Creating(object{"name": "B"}), it.Creating(object{"account_id": id}), it.Deleting(gone), it.Creating(object{"account_id": id}), it.Updating(id, object{"name": "C"}),
		}
		first := s.bulkUnder("k", operations...)
		require.Equal(t, 4, first.Stats.Succeeded)
		require.Equal(t, first.Shortened(), s.bulkUnder("k", operations...))
		require.Equal(t, 2, s.search(object{}).Pagination.TotalResults)
		require.Equal(t, "C", s.get(200, id)["name"])
	})
}

// TestALargeBulkOfAccountsStaysDone: where answers are too long to be kept, the
// repetition shows the records as they are, those of account_id by their own ids.
func TestALargeBulkOfAccountsStaysDone(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		made := make([]object, 12)
		for i := range made {
			made[i] = it.Creating(object{"name": "A", "description": strings.Repeat("é", 30_000)})
		}
		o := s.other().bulk(made...)
		taking := make([]object, len(made))
		for i := range made {
			taking[i] = it.Creating(object{"account_id": o.Data(t, i).ID(), "phone": "123456"})
		}
		first := s.bulkUnder("k", taking...)
		require.Equal(t, len(made), first.Stats.Succeeded)
		gone := o.Data(t, 3).ID()
		s.remove(200, gone)
		again := s.bulkUnder("k", taking...)
		require.Equal(t, first.Stats, again.Stats)
		for i := range made {
			require.Equal(t, o.Data(t, i).ID(), again.Data(t, i).ID())
			require.Equal(t, i == 3, again.Data(t, i)["deleted_at"] != nil)
		}
		s.isUnknown(s.get(404, gone))
	})
}

// TestSimultaneousRolesAreTakenOnce: of simultaneous requests for one role one
// succeeds, and every other is told that the account has it.
func TestSimultaneousRolesAreTakenOnce(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
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
