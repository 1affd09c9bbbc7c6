package it_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// at is the caller limited to the events.
func (s *stand) at(events ...int64) *stand {
	s.t.Helper()
	return s.as(s.TokenWith(s.t, object{
		"scopes": []string{"read:contacts", "read:events", "write:sponsors", "write:exhibitors"}, "event_ids": events, "limit": 1_000_000,
	}))
}

func TestAnAccountOfAnotherEventTakesARole(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
		there := s.elsewhere()
		local, global := s.field("Booth", "text"), s.field("Tier", "text", object{"scope": "global"})
		far := there.field("Booth", "text")
		made := s.create(200, object{"name": "A", "custom_fields": object{local: "B1", global: "gold"}, "contacts": []object{{"contact_id": s.person("ann@example.org").id()}}})
		there.isUnknown(there.get(404, made.id()))
		taken := there.takes(200, made.id(), object{"custom_fields": object{far: "Z9"}})
		require.Equal(t, made.id(), taken.id())
		require.Equal(t, "ACCT-1", taken["friendly_id"])
		require.Equal(t, made["created_at"], taken["created_at"])
		require.Equal(t, "gold", taken.value(global), "a field of the organization goes with the account")
		require.Equal(t, "Z9", taken.value(far), "a field of the event has its value there")
		require.Equal(t, []any{}, taken["contacts"], "contacts belong to the event")
		require.Equal(t, made, s.get(200, made.id()), "what is of the other event changes nothing here")

		changed := there.put(200, made.id(), object{"name": "B", "custom_fields": object{global: "silver", far: nil}})
		here := s.get(200, made.id())
		require.Equal(t, "B", here["name"])
		require.Equal(t, "silver", here.value(global))
		require.Equal(t, "B1", here.value(local))
		require.Equal(t, changed["updated_at"], here["updated_at"], "the record has changed")
		require.Len(t, here.list("contacts"), 1)
		require.Equal(t, []entity{here}, s.search(object{}).Results, "the search here sees it at once")

		there.remove(200, made.id())
		require.Equal(t, here, s.get(200, made.id()), "the role here stays")
		there.other().isUnknown(there.other().get(404, made.id()))
		require.Equal(t, "B", there.restore(200, made.id())["name"])
	})
}

func TestEventLimitedTokensDoNotKnowOtherAccounts(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
		there := s.elsewhere()
		far, near := there.named("Far")[0], s.named("Near")[0]
		limited := s.at(s.Event)
		isInvalid(t, limited.takes(400, far), "account_id")
		limited.bulk(creating(object{"account_id": far})).failed(t, 0, "VALIDATION_ERROR", "account_id")
		limited.isUnknown(limited.get(404, far))
		require.Equal(t, []string{"Near"}, limited.names(object{}))
		require.Equal(t, near, limited.other().takes(200, near).id())
		limited.In(there.Event).Call(t, 404, "GET", there.EventPath(there.path("/"+far)), nil)
		require.Equal(t, far, s.at(s.Event, there.Event).takes(200, far).id(), "a token that sees both events knows it")
		require.Equal(t, far, limited.get(200, far).id(), "it is on this event now")

		lost := there.named("Lost")[0]
		there.remove(200, lost)
		isInvalid(t, limited.takes(400, lost), "account_id")
	})
}

// An account that was deleted from the event is known there still: it is to be
// restored, not hidden.
func TestEventLimitedTokensKnowDeletedAccountsOfTheirEvent(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
		id := s.named("A")[0]
		limited := s.at(s.Event)
		limited.remove(200, id)
		isTaken(t, limited.takes(409, id), id, true)
		require.Equal(t, id, limited.other().takes(200, id).id())
		require.Equal(t, id, limited.restore(200, id).id())
	})
}

func TestAnotherInstanceSeesAccountsAtOnce(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
		second := &stand{&desk{s.Instance(t), t}, s.role}
		require.Zero(t, second.search(object{}).Pagination.TotalResults)
		made := s.create(200, object{"name": "A"})
		require.Equal(t, []entity{made}, second.search(object{}).Results)
		changed := second.put(200, made.id(), object{"name": "B"})
		require.Equal(t, []entity{changed}, s.search(object{}).Results)
		require.Equal(t, []string{"B"}, second.names(object{"filters": object{"search": "b"}}))
		s.remove(200, made.id())
		require.Zero(t, second.search(object{}).Pagination.TotalResults)
		require.Equal(t, []entity{second.restore(200, made.id())}, s.search(object{}).Results)
	})
}
