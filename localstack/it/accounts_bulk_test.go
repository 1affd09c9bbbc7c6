package it_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestAccountBulkMixesOperationsInOrder(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
		ids, second := s.named("A", "B"), s.other().named("C")[0]
		o := s.bulk(
			creating(object{"name": "New 1", "phone": "123456"}), updating(ids[0], object{"name": "A2"}), deleting(ids[1]),
			creating(object{"account_id": strings.ToUpper(second), "address_city": "Bonn"}), creating(object{"name": ""}),
			updating(uuid.NewString(), object{"name": "nobody"}), creating(object{"name": "New 2"}), deleting(ids[1]),
			updating(ids[0], object{"address_country": "Atlantis"}), object{"action": "restore", "id": ids[1]}, object{"action": "update", "id": ids[0]},
			object{"action": "create", "id": ids[0]}, updating("x", object{}), object{"action": "delete"},
		)
		require.Equal(t, o.data(t, 0), s.get(200, o.data(t, 0).id()), "the data is what the single operation would answer")
		require.Equal(t, "A2", o.data(t, 1)["name"])
		require.NotNil(t, o.data(t, 2)["deleted_at"])
		require.Equal(t, second, o.data(t, 3).id(), "the id is the account's")
		require.Equal(t, o.data(t, 3), s.other().get(200, second))
		require.Equal(t, "Bonn", o.data(t, 3)["address_city"])
		o.failed(t, 4, "VALIDATION_ERROR", "name")
		require.Nil(t, o.Results[4]["id"], "nothing was created")
		o.failed(t, 5, "NOT_FOUND", "")
		o.failed(t, 7, "NOT_FOUND", "")
		require.Equal(t, ids[1], o.Results[7]["id"])
		o.failed(t, 8, "VALIDATION_ERROR", "address_country")
		o.failed(t, 9, "VALIDATION_ERROR", "action")
		o.failed(t, 10, "VALIDATION_ERROR", "data")
		o.failed(t, 11, "VALIDATION_ERROR", "data")
		o.failed(t, 12, "VALIDATION_ERROR", "id")
		o.failed(t, 13, "VALIDATION_ERROR", "id")
		require.Equal(t, 5, o.Stats.Succeeded)
		require.Less(t, o.data(t, 0)["friendly_id_raw"], o.data(t, 6)["friendly_id_raw"], "numbers follow the order of the request")
		require.ElementsMatch(t, []string{"A2", "New 1", "C", "New 2"}, s.names(object{}))
	})
}

func TestAccountBulkOperationsSeeEarlierOnes(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
		id, second := s.named("A")[0], s.other().named("B")[0]
		seen := s.get(200, id)
		o := s.bulk(
			creating(object{"account_id": second, "name": nil}),
			creating(object{"account_id": second, "description": "one"}), updating(second, object{"phone": "123456"}),
			creating(object{"account_id": strings.ToUpper(second), "description": "two"}), deleting(second), creating(object{"account_id": second}), deleting(second),
			updating(id, object{"address_city": "Bonn"}), updating(id, object{"name": "A2", "updated_at": seen["updated_at"]}),
			updating(id, object{"address_state": "NW"}), creating(object{"account_id": id}), deleting(id), updating(id, object{"name": "A3"}),
		)
		o.failed(t, 0, "VALIDATION_ERROR", "name")
		require.Equal(t, "one", o.data(t, 2)["description"])
		require.Equal(t, "123456", o.data(t, 2)["phone"])
		require.Equal(t, second, o.failed(t, 3, "DUPLICATE_ROLE", "account_id").at("details.id"), "twice in one request")
		require.Equal(t, "123456", o.data(t, 4)["phone"])
		gone := o.failed(t, 5, "DUPLICATE_ROLE", "account_id")
		require.Equal(t, true, gone.at("details.deleted"))
		o.failed(t, 6, "NOT_FOUND", "")
		require.Equal(t, o.data(t, 7)["updated_at"], o.failed(t, 8, "STALE_UPDATE", "").at("details.updated_at"), "the current one, of the operation before")
		last := o.data(t, 9)
		require.Equal(t, []any{"A", "Bonn", "NW"}, []any{last["name"], last["address_city"], last["address_state"]})
		o.failed(t, 10, "DUPLICATE_ROLE", "account_id")
		o.failed(t, 12, "NOT_FOUND", "")
		require.IsIncreasing(t, []string{
			seen.text("updated_at"), o.data(t, 7).text("updated_at"), last.text("updated_at"), o.data(t, 11).text("updated_at"),
		})
		require.Empty(t, s.names(object{}))
		require.Equal(t, "one", s.other().get(200, second)["description"], "the other role is still held")
	})
}

func TestAccountBulkRelatesContacts(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
		ann, far := s.person("ann@example.org").id(), s.elsewhere().person("far@example.org").id()
		id := s.named("A")[0]
		contacts := func(entries ...object) object { return object{"contacts": entries} }
		o := s.bulk(
			updating(id, contacts(object{"contact_id": ann, "is_primary": true})), updating(id, contacts(object{"contact_id": ann}, object{"contact_id": far})),
			creating(merged(contacts(object{"email": "ANN@example.org"}), object{"name": "B"})),
		)
		require.Equal(t, true, o.data(t, 0).list("contacts")[0]["is_primary"])
		o.failed(t, 1, "VALIDATION_ERROR", "contacts[1].contact_id")
		require.Equal(t, []string{ann}, texts(o.data(t, 2).list("contacts"), "id"))
		require.Equal(t, o.data(t, 0), s.get(200, id))
	})
}

func TestAccountBulkTakesOneToAHundredOperations(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
		operations := make([]object, 101)
		for i := range operations {
			operations[i] = creating(object{"name": fmt.Sprintf("%03d", i)})
		}
		for _, wrong := range []any{operations, []object{}, nil, "x", object{}} {
			isInvalid(t, s.call(400, http.MethodPost, "/bulk", object{"operations": wrong}).JSON(t), "operations")
		}
		isInvalid(t, s.call(400, http.MethodPost, "/bulk", object{}).JSON(t), "operations")
		require.Zero(t, s.search(object{}).Pagination.TotalResults)
		o := s.bulk(operations[:100]...)
		require.Equal(t, 100, o.Stats.Succeeded)
		taking := make([]object, 100)
		for i := range o.Results {
			require.Equal(t, fmt.Sprintf("ACCT-%d", i+1), o.data(t, i)["friendly_id"])
			taking[i] = creating(object{"account_id": o.data(t, i).id()})
		}
		second := s.other().bulk(taking...)
		require.Equal(t, 100, second.Stats.Succeeded)
		require.Equal(t, o.data(t, 57).id(), second.data(t, 57).id())
		require.Equal(t, 100, s.other().search(object{}).Pagination.TotalResults)
	})
}

// TestAccountBodiesUpToTheirLimits: a single body of 1 MB, a bulk of 5 MB, a record
// of 150 KB.
func TestAccountBodiesUpToTheirLimits(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
		id := s.named("A")[0]
		padded := func(bytes int) object { return object{"name": "B", "ignored": strings.Repeat("x", bytes)} }
		s.create(200, padded(900<<10))
		s.create(413, padded(1<<20))
		s.put(413, id, padded(1<<20))
		s.bulk(updating(id, padded(4<<20)))
		s.call(413, http.MethodPost, "/bulk", object{"operations": []object{updating(id, padded(5<<20))}})
		for _, scope := range []string{"event", "global"} {
			values := object{}
			for i := range 3 {
				values[s.field(fmt.Sprint("Note ", i), "wysiwyg", object{"scope": scope})] = strings.Repeat("x", 60_000)
			}
			isInvalid(t, s.put(400, id, object{"custom_fields": values}), "")
			isInvalid(t, s.create(400, object{"name": "C", "custom_fields": values}), "")
			s.bulk(updating(id, object{"custom_fields": values})).failed(t, 0, "VALIDATION_ERROR", "")
		}
	})
}
