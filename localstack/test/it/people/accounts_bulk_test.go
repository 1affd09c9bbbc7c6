package people_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

func TestAccountBulkMixesOperationsInOrder(t *testing.T) {
	stacktest.Everywhere(t)
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		ids, second := s.named("A", "B"), s.other().named("C")[0]
		o := s.bulk(
			it.Creating(object{"name": "New 1", "phone": "123456"}), it.Updating(ids[0], object{"name": "A2"}), it.Deleting(ids[1]),
			it.Creating(object{"account_id": strings.ToUpper(second), "address_city": "Bonn"}), it.Creating(object{"name": ""}),
			it.Updating(uuid.NewString(), object{"name": "nobody"}), it.Creating(object{"name": "New 2"}), it.Deleting(ids[1]),
			it.Updating(ids[0], object{"address_country": "Atlantis"}), object{"action": "restore", "id": ids[1]}, object{"action": "update", "id": ids[0]},
			object{"action": "create", "id": ids[0]}, it.Updating("x", object{}), object{"action": "delete"},
		)
		require.Equal(t, o.Data(t, 0), s.get(200, o.Data(t, 0).ID()), "the data is what the single operation would answer")
		require.Equal(t, "A2", o.Data(t, 1)["name"])
		require.NotNil(t, o.Data(t, 2)["deleted_at"])
		require.Equal(t, second, o.Data(t, 3).ID(), "the id is the account's")
		require.Equal(t, o.Data(t, 3), s.other().get(200, second))
		require.Equal(t, "Bonn", o.Data(t, 3)["address_city"])
		o.Failed(t, 4, "VALIDATION_ERROR", "name")
		require.Nil(t, o.Results[4]["id"], "nothing was created")
		o.Failed(t, 5, "NOT_FOUND", "")
		o.Failed(t, 7, "NOT_FOUND", "")
		require.Equal(t, ids[1], o.Results[7]["id"])
		o.Failed(t, 8, "VALIDATION_ERROR", "address_country")
		o.Failed(t, 9, "VALIDATION_ERROR", "action")
		o.Failed(t, 10, "VALIDATION_ERROR", "data")
		o.Failed(t, 11, "VALIDATION_ERROR", "data")
		o.Failed(t, 12, "VALIDATION_ERROR", "id")
		o.Failed(t, 13, "VALIDATION_ERROR", "id")
		require.Equal(t, 5, o.Stats.Succeeded)
		require.Less(t, o.Data(t, 0)["friendly_id_raw"], o.Data(t, 6)["friendly_id_raw"], "numbers follow the order of the request")
		require.ElementsMatch(t, []string{"A2", "New 1", "C", "New 2"}, s.names(object{}))
	})
}

func TestAccountBulkOperationsSeeEarlierOnes(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id, second := s.named("A")[0], s.other().named("B")[0]
		seen := s.get(200, id)
		o := s.bulk(
			it.Creating(object{"account_id": second, "name": nil}),
			it.Creating(object{"account_id": second, "description": "one"}), it.Updating(second, object{"phone": "123456"}),
			it.Creating(object{"account_id": strings.ToUpper(second), "description": "two"}), it.Deleting(second), it.Creating(object{"account_id": second}), it.Deleting(second),
			it.Updating(id, object{"address_city": "Bonn"}), it.Updating(id, object{"name": "A2", "updated_at": seen["updated_at"]}),
			it.Updating(id, object{"address_state": "NW"}), it.Creating(object{"account_id": id}), it.Deleting(id), it.Updating(id, object{"name": "A3"}),
		)
		o.Failed(t, 0, "VALIDATION_ERROR", "name")
		require.Equal(t, "one", o.Data(t, 2)["description"])
		require.Equal(t, "123456", o.Data(t, 2)["phone"])
		require.Equal(t, second, o.Failed(t, 3, "DUPLICATE_ROLE", "account_id").At("details.id"), "twice in one request")
		require.Equal(t, "123456", o.Data(t, 4)["phone"])
		gone := o.Failed(t, 5, "DUPLICATE_ROLE", "account_id")
		require.Equal(t, true, gone.At("details.deleted"))
		o.Failed(t, 6, "NOT_FOUND", "")
		require.Equal(t, o.Data(t, 7)["updated_at"], o.Failed(t, 8, "STALE_UPDATE", "").At("details.updated_at"), "the current one, of the operation before")
		last := o.Data(t, 9)
		require.Equal(t, []any{"A", "Bonn", "NW"}, []any{last["name"], last["address_city"], last["address_state"]})
		o.Failed(t, 10, "DUPLICATE_ROLE", "account_id")
		o.Failed(t, 12, "NOT_FOUND", "")
		require.IsIncreasing(t, []string{
			seen.Text("updated_at"), o.Data(t, 7).Text("updated_at"), last.Text("updated_at"), o.Data(t, 11).Text("updated_at"),
		})
		require.Empty(t, s.names(object{}))
		require.Equal(t, "one", s.other().get(200, second)["description"], "the other role is still held")
	})
}

func TestAccountBulkRelatesContacts(t *testing.T) {
	stacktest.Everywhere(t)
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		ann, far := s.NewContact("ann@example.org").ID(), s.elsewhere().NewContact("far@example.org").ID()
		id := s.named("A")[0]
		contacts := func(entries ...object) object { return object{"contacts": entries} }
		o := s.bulk(
			it.Updating(id, contacts(object{"contact_id": ann, "is_primary": true})), it.Updating(id, contacts(object{"contact_id": ann}, object{"contact_id": far})),
			it.Creating(it.Merged(contacts(object{"email": "ANN@example.org"}), object{"name": "B"})),
		)
		require.Equal(t, true, o.Data(t, 0).List("contacts")[0]["is_primary"])
		o.Failed(t, 1, "VALIDATION_ERROR", "contacts[1].contact_id")
		require.Equal(t, []string{ann}, it.Texts(o.Data(t, 2).List("contacts"), "id"))
		require.Equal(t, o.Data(t, 0), s.get(200, id))
	})
}

func TestAccountBulkTakesOneToAHundredOperations(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		operations := make([]object, 101)
		for i := range operations {
			operations[i] = it.Creating(object{"name": fmt.Sprintf("%03d", i)})
		}
		for _, wrong := range []any{operations, []object{}, nil, "x", object{}} {
			it.RequireInvalid(t, s.call(400, http.MethodPost, "/bulk", object{"operations": wrong}).JSON(t), "operations")
		}
		it.RequireInvalid(t, s.call(400, http.MethodPost, "/bulk", object{}).JSON(t), "operations")
		require.Zero(t, s.search(object{}).Pagination.TotalResults)
		o := s.bulk(operations[:100]...)
		require.Equal(t, 100, o.Stats.Succeeded)
		taking := make([]object, 100)
		for i := range o.Results {
			require.Equal(t, fmt.Sprintf("ACCT-%d", i+1), o.Data(t, i)["friendly_id"])
			taking[i] = it.Creating(object{"account_id": o.Data(t, i).ID()})
		}
		second := s.other().bulk(taking...)
		require.Equal(t, 100, second.Stats.Succeeded)
		require.Equal(t, o.Data(t, 57).ID(), second.Data(t, 57).ID())
		require.Equal(t, 100, s.other().search(object{}).Pagination.TotalResults)
	})
}

// TestAccountBodiesUpToTheirLimits: a single body of 1 MB, a bulk of 5 MB, a record
// of 150 KB.
func TestAccountBodiesUpToTheirLimits(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id := s.named("A")[0]
		padded := func(bytes int) object { return object{"name": "B", "ignored": strings.Repeat("x", bytes)} }
		s.create(200, padded(900<<10))
		s.create(413, padded(1<<20))
		s.put(413, id, padded(1<<20))
		s.bulk(it.Updating(id, padded(4<<20)))
		s.call(413, http.MethodPost, "/bulk", object{"operations": []object{it.Updating(id, padded(5<<20))}})
		for _, scope := range []string{"event", "global"} {
			values := object{}
			for i := range 3 {
				values[s.field(fmt.Sprint("Note ", i), "wysiwyg", object{"scope": scope})] = strings.Repeat("x", 60_000)
			}
			it.RequireInvalid(t, s.put(400, id, object{"custom_fields": values}), "")
			it.RequireInvalid(t, s.put(400, id, object{"custom_fields": values, "updated_at": "2020-01-01T00:00:00Z"}), "")
			it.RequireInvalid(t, s.create(400, object{"name": "C", "custom_fields": values}), "")
			s.bulk(it.Updating(id, object{"custom_fields": values})).Failed(t, 0, "VALIDATION_ERROR", "")
		}
	})
}
