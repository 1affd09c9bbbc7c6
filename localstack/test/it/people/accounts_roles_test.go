package people_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func TestAccountNeedsANameOrAnAccount(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		account := s.other().named("A")[0]
		for _, wrong := range []object{
			{}, {"description": "x"}, {"name": ""}, {"name": " \t\n"}, {"name": nil}, {"name": 1}, {"name": "A", "account_id": account},
		} {
			it.RequireInvalid(t, s.create(400, wrong), "name")
			s.bulk(it.Creating(wrong)).Failed(t, 0, "VALIDATION_ERROR", "name")
		}
		for _, wrong := range []any{nil, "x", 1, ""} {
			it.RequireInvalid(t, s.create(400, object{"account_id": wrong}), "account_id")
		}
		require.Zero(t, s.search(object{}).Pagination.TotalResults)
		id := s.named("B")[0]
		for _, blank := range []any{"", " ", nil, 1} {
			it.RequireInvalid(t, s.put(400, id, object{"name": blank}), "name")
			s.bulk(it.Updating(id, object{"name": blank})).Failed(t, 0, "VALIDATION_ERROR", "name")
		}
		require.Equal(t, "B", s.get(200, id)["name"])
	})
}

func TestAccountTakesItsSecondRole(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		made, other := s.create(200, everyText()), s.other()
		other.isUnknown(other.get(404, made.ID()))
		require.Zero(t, other.search(object{}).Pagination.TotalResults)
		both := other.takes(200, strings.ToUpper(made.ID()), object{"address_city": "Hamburg", "phone": nil})
		want := it.Merged(made, object{"address_city": "Hamburg", "phone": nil, "updated_at": both["updated_at"]})
		require.Equal(t, entity(want), both, "the same record, with what else was sent")
		require.Greater(t, both["updated_at"], made["updated_at"])
		for _, role := range []*accountClient{s, other} {
			require.Equal(t, both, role.get(200, made.ID()))
			require.Equal(t, []entity{both}, role.search(object{}).Results)
		}
		for _, role := range []*accountClient{s, other} {
			isTaken(t, role.takes(409, made.ID()), made.ID(), false)
		}
		require.Equal(t, both, s.get(200, made.ID()), "a refused create changes nothing")
		require.Equal(t, "New", other.put(200, made.ID(), object{"name": "New"})["name"])
		require.Equal(t, "New", s.get(200, made.ID())["name"])
	})
}

// TestAnUpdateWhoseAssociationMayBeTorn is made like any other: the record has
// forgotten the association's last write for those of four other events.
func TestAnUpdateWhoseAssociationMayBeTorn(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id := s.named("A")[0]
		for range 4 {
			s.elsewhere().takes(200, id)
		}
		changed := s.put(200, id, object{"name": "B"})
		require.Equal(t, "B", changed["name"])
		require.Equal(t, changed, s.get(200, id))
		require.Equal(t, []entity{changed}, s.search(object{}).Results)
	})
	p := &it.Contacts{Client: it.NewClient(t)}
	id := p.WithAddresses("ada@x.org")[0]
	for range 4 {
		p.InNewEvent().WithAddresses("ada@x.org")
	}
	require.Equal(t, p.Put(200, id, object{"title": "Countess"}), p.Get(200, id))
}

// TestAnUpdateNamesItsOwnAccountOnly: it may say again in account_id what the path
// says.
func TestAnUpdateNamesItsOwnAccountOnly(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		ids := s.named("A", "B")
		for _, other := range []any{ids[1], uuid.NewString(), "x", "", nil, 1} {
			body := object{"account_id": other, "name": "C"}
			it.RequireInvalid(t, s.put(400, ids[0], body), "account_id")
			s.bulk(it.Updating(ids[0], body)).Failed(t, 0, "VALIDATION_ERROR", "account_id")
		}
		require.Equal(t, "A", s.get(200, ids[0])["name"])
		for _, same := range []string{ids[0], strings.ToUpper(ids[0])} {
			require.Equal(t, "C", s.put(200, ids[0], object{"account_id": same, "name": "C"})["name"])
			require.Equal(t, "D", s.bulk(it.Updating(ids[0], object{"account_id": same, "name": "D"})).Data(t, 0)["name"])
		}
	})
}

func TestAccountsOfOneNameAreUnrelated(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		first, again, third := s.create(200, object{"name": "Acme"}), s.create(200, object{"name": "Acme"}), s.other().create(200, object{"name": "Acme"})
		require.Equal(t, []string{"ACCT-1", "ACCT-2"}, it.Texts([]entity{first, again}, "friendly_id"))
		require.Equal(t, []any{1.0, 2.0}, it.Column([]entity{first, again}, "friendly_id_raw"))
		require.Equal(t, []entity{first, again}, s.search(object{}).Results)
		require.Equal(t, []entity{third}, s.other().search(object{}).Results)
		s.remove(200, again.ID())
		later := []entity{first, again, third, s.create(200, object{"name": "Acme"}), s.elsewhere().create(200, object{"name": "Acme"})}
		numbers := it.Texts(later, "friendly_id")
		slices.Sort(numbers)
		require.Len(t, slices.Compact(numbers), len(later), "numbers are the organization's, and never reused")
	})
}

func TestUnknownAccountsTakeNoRole(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		foreign := &accountClient{&it.Client{Stack: s.NewOrganization(t), T: t}, s.role}
		session := s.NewSessions("A")[0]
		for _, unknown := range []string{uuid.NewString(), s.NewContact("ann@example.org").ID(), foreign.named("F")[0], session} {
			it.RequireInvalid(t, s.takes(400, unknown), "account_id")
			o := s.bulk(it.Creating(object{"account_id": unknown}))
			o.Failed(t, 0, "VALIDATION_ERROR", "account_id")
			require.Nil(t, o.Results[0]["id"])
		}
		require.Zero(t, s.search(object{}).Pagination.TotalResults)
	})
}

func TestAccountsWithoutTheRoleAreNotFound(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		gone := s.named("Gone")[0]
		s.remove(200, gone)
		foreign := &accountClient{&it.Client{Stack: s.NewOrganization(t), T: t}, s.role}
		unknown := map[string]string{
			"nothing": uuid.NewString(), "a contact": s.NewContact("ann@example.org").ID(), "the other role": s.other().named("O")[0],
			"deleted": gone, "elsewhere": s.elsewhere().named("E")[0], "foreign": foreign.named("F")[0],
		}
		for what, id := range unknown {
			s.isUnknown(s.get(404, id))
			s.isUnknown(s.put(404, id, object{"name": "x"}))
			s.isUnknown(s.remove(404, id))
			if what != "deleted" {
				s.isUnknown(s.restore(404, id))
			}
			o := s.bulk(it.Updating(id, object{"name": "x"}), it.Deleting(id))
			require.Equal(t, s.noun()+" not found", o.Failed(t, 0, "NOT_FOUND", "")["message"], what)
			o.Failed(t, 1, "NOT_FOUND", "")
		}
		s.isUnknown(s.restore(404, s.named("Living")[0]))
		require.Equal(t, []string{"F"}, foreign.names(object{}))
		require.Equal(t, []string{"O"}, s.other().names(object{}))
	})
}

func TestDeletingOneRoleLeavesTheOther(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		other := s.other()
		id := s.named("A")[0]
		made := other.takes(200, id)
		gone := s.remove(200, id)
		require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, gone["deleted_at"])
		require.Equal(t, gone["deleted_at"], gone["updated_at"])
		s.isUnknown(s.get(404, id))
		require.Zero(t, s.search(object{}).Pagination.TotalResults)
		left := other.get(200, id)
		require.NotContains(t, left, "deleted_at")
		require.Equal(t, made, without(left, made))
		require.Equal(t, []entity{left}, other.search(object{}).Results)
		isTaken(t, s.takes(409, id), id, true)
		renamed := other.put(200, id, object{"name": "B"})

		restored := s.restore(200, id)
		require.Equal(t, renamed, without(restored, renamed), "as it is now")
		require.NotContains(t, restored, "deleted_at")
		require.Equal(t, restored, s.get(200, id))
		require.Equal(t, []entity{restored}, s.search(object{}).Results)
		s.isUnknown(s.restore(404, id))
		other.isUnknown(other.restore(404, id))
	})
}

func TestAnAccountWithoutRolesIsKept(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id, other := s.named("A")[0], s.other()
		other.takes(200, id)
		s.remove(200, id)
		other.remove(200, id)
		for _, role := range []*accountClient{s, other} {
			role.isUnknown(role.get(404, id))
			isTaken(t, role.takes(409, id), id, true)
		}
		require.Equal(t, "A", s.restore(200, id)["name"])
		other.isUnknown(other.get(404, id))
		require.Equal(t, "A", other.restore(200, id)["name"])
	})
}

// A HEAD is answered as the GET is, and an id is taken in any case.
func TestAccountIsReadInEveryWay(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id := s.named("A")[0]
		require.Equal(t, s.get(200, id), s.get(200, strings.ToUpper(id)))
		require.Empty(t, s.call(200, http.MethodHead, "/"+id, nil).Body)
		require.Equal(t, "B", s.put(200, strings.ToUpper(id), object{"name": "B"})["name"])
		o := s.bulk(it.Updating(strings.ToUpper(id), object{"name": "C"}), it.Deleting(id))
		require.Equal(t, "C", o.Data(t, 1)["name"])
		require.Equal(t, id, s.restore(200, strings.ToUpper(id)).ID())
	})
}

// TestAnUnknownAccountIsToldBeforeAFeature: what is wrong with the body comes first.
func TestAnUnknownAccountIsToldBeforeAFeature(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		translations := object{"de": object{"name": "x"}}
		it.RequireInvalid(t, s.create(400, object{"account_id": uuid.NewString(), "translations": translations}), "account_id")
		it.RequireInvalid(t, s.create(400, object{"name": "A", "translations": translations, "contacts": []object{{"contact_id": uuid.NewString()}}}), "contacts[0].contact_id")
		s.create(403, object{"name": "A", "translations": translations})
	})
}
