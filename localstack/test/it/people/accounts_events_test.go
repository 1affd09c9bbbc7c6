package people_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// at is the caller limited to the events.
func (s *accountClient) at(events ...int64) *accountClient {
	s.T.Helper()
	return s.as(s.TokenWith(s.T, object{
		"scopes": []string{"read:contacts", "read:events", "write:sponsors", "write:exhibitors"}, "event_ids": events, "limit": 1_000_000,
	}))
}

func TestAnAccountOfAnotherEventTakesARole(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		there := s.elsewhere()
		local, global := s.field("Booth", "text"), s.field("Tier", "text", object{"scope": "global"})
		far := there.field("Booth", "text")
		made := s.create(200, object{"name": "A", "custom_fields": object{local: "B1", global: "gold"}, "contacts": []object{{"contact_id": s.NewContact("ann@example.org").ID()}}})
		there.isUnknown(there.get(404, made.ID()))
		taken := there.takes(200, made.ID(), object{"custom_fields": object{far: "Z9"}})
		require.Equal(t, made.ID(), taken.ID())
		require.Equal(t, "ACCT-1", taken["friendly_id"])
		require.Equal(t, made["created_at"], taken["created_at"])
		require.Equal(t, "gold", taken.FieldValue(global), "a field of the organization goes with the account")
		require.Equal(t, "Z9", taken.FieldValue(far), "a field of the event has its value there")
		require.Equal(t, []any{}, taken["contacts"], "contacts belong to the event")
		require.Equal(t, made, s.get(200, made.ID()), "what is of the other event changes nothing here")

		changed := there.put(200, made.ID(), object{"name": "B", "custom_fields": object{global: "silver", far: nil}})
		here := s.get(200, made.ID())
		require.Equal(t, "B", here["name"])
		require.Equal(t, "silver", here.FieldValue(global))
		require.Equal(t, "B1", here.FieldValue(local))
		require.Equal(t, changed["updated_at"], here["updated_at"], "the record has changed")
		require.Len(t, here.List("contacts"), 1)
		require.Equal(t, []entity{here}, s.search(object{}).Results, "the search here sees it at once")

		there.remove(200, made.ID())
		require.Equal(t, here, s.get(200, made.ID()), "the role here stays")
		there.other().isUnknown(there.other().get(404, made.ID()))
		require.Equal(t, "B", there.restore(200, made.ID())["name"])
	})
}

// TestAnAccountThatIsWrittenElsewhereIsChangedHere: as often as it was, a change here that
// leaves the values of this event alone is checked against those that it has read.
func TestAnAccountThatIsWrittenElsewhereIsChangedHere(t *testing.T) {
	stacktest.Everywhere(t)
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		there := s.elsewhere()
		booth := there.field("Booth", "text")
		made := s.create(200, object{"name": "A"})
		there.takes(200, made.ID())
		for i := range 5 {
			there.put(200, made.ID(), object{"custom_fields": object{booth: fmt.Sprint(i)}})
		}
		require.Equal(t, "B", s.put(200, made.ID(), object{"name": "B"})["name"])
		require.Equal(t, "4", there.get(200, made.ID()).FieldValue(booth))
	})
}

func TestEventLimitedTokensDoNotKnowOtherAccounts(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		there := s.elsewhere()
		far, near := there.named("Far")[0], s.named("Near")[0]
		limited := s.at(s.Event)
		it.RequireInvalid(t, limited.takes(400, far), "account_id")
		limited.bulk(it.Creating(object{"account_id": far})).Failed(t, 0, "VALIDATION_ERROR", "account_id")
		limited.isUnknown(limited.get(404, far))
		require.Equal(t, []string{"Near"}, limited.names(object{}))
		require.Equal(t, near, limited.other().takes(200, near).ID())
		limited.In(there.Event).Call(t, 404, "GET", there.EventPath(there.path("/"+far)), nil)
		require.Equal(t, far, s.at(s.Event, there.Event).takes(200, far).ID(), "a token that sees both events knows it")
		require.Equal(t, far, limited.get(200, far).ID(), "it is on this event now")

		lost := there.named("Lost")[0]
		there.remove(200, lost)
		it.RequireInvalid(t, limited.takes(400, lost), "account_id")
	})
}

// An account that was deleted from the event is known there still: it is to be
// restored, not hidden.
func TestEventLimitedTokensKnowDeletedAccountsOfTheirEvent(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id := s.named("A")[0]
		limited := s.at(s.Event)
		limited.remove(200, id)
		isTaken(t, limited.takes(409, id), id, true)
		require.Equal(t, id, limited.other().takes(200, id).ID())
		require.Equal(t, id, limited.restore(200, id).ID())
	})
}

func TestAnotherInstanceSeesAccountsAtOnce(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		second := &accountClient{&it.Client{Stack: s.Instance(t), T: t}, s.role}
		require.Zero(t, second.search(object{}).Pagination.TotalResults)
		made := s.create(200, object{"name": "A"})
		require.Equal(t, []entity{made}, second.search(object{}).Results)
		changed := second.put(200, made.ID(), object{"name": "B"})
		require.Equal(t, []entity{changed}, s.search(object{}).Results)
		require.Equal(t, []string{"B"}, second.names(object{"filters": object{"search": "b"}}))
		s.remove(200, made.ID())
		require.Zero(t, second.search(object{}).Pagination.TotalResults)
		require.Equal(t, []entity{second.restore(200, made.ID())}, s.search(object{}).Results)
	})
}
