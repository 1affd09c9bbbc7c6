package people_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/change"
)

// accountChanges is a client that checks the changes of accounts.
type accountChanges struct {
	*accountClient
	*it.ChangeWatch
}

// tells checks that one change came since the last call: its action, and what it
// publishes, where R stands for the role and O for the other one.
func (l *accountChanges) tells(id, action string, kinds ...string) change.Record {
	l.T.Helper()
	fresh := l.Since()
	require.Len(l.T, fresh, 1)
	r := fresh[0]
	names := make([]string, len(r.Kinds))
	for i, k := range r.Kinds {
		names[i] = k.Name
	}
	for i, kind := range kinds {
		kinds[i] = l.kind(kind)
	}
	require.Equal(l.T, l.kind(action), r.Action)
	require.ElementsMatch(l.T, kinds, names)
	require.Equal(l.T, id, r.RecordID)
	require.Equal(l.T, l.Org, r.Org)
	require.Equal(l.T, change.SourceAPI, r.Source)
	require.Equal(l.T, change.ActorToken, r.Actor.Type)
	require.Equal(l.T, l.Member, r.Actor.ID)
	require.NotEmpty(l.T, r.RequestID)
	return r
}

func (l *accountChanges) kind(of string) string {
	return strings.NewReplacer("R.", l.role+".", "O.", l.other().role+".").Replace(of)
}

func sequences(records ...change.Record) (all []int64) {
	for _, r := range records {
		for _, k := range r.Kinds {
			all = append(all, k.Sequence)
		}
	}
	return all
}

func TestChangesOfAnAccount(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		l := &accountChanges{s, s.WatchChanges("account")}
		made := s.create(200, object{"name": "A"})
		id := made.ID()
		all := []change.Record{l.tells(id, "R.created", "R.created", "R.event.associated")}
		require.Equal(t, made["updated_at"], all[0].At.String())
		require.Equal(t, s.Event, all[0].Event)
		note := func(action string, kinds ...string) change.Record {
			all = append(all, l.tells(id, action, kinds...))
			return all[len(all)-1]
		}
		s.put(200, id, object{"name": "B"})
		require.Equal(t, []change.Value{{Field: "name", Old: "A", New: "B"}}, note("R.updated", "R.updated").Values)
		s.other().takes(200, id)
		note("O.associated", "O.created", "O.event.associated")
		s.put(200, id, object{"phone": "123456"})
		note("R.updated", "R.updated", "O.updated")
		s.remove(200, id)
		note("R.deleted", "R.event.disassociated", "R.deleted")
		s.other().put(200, id, object{"name": "C"})
		note("O.updated", "O.updated")
		s.restore(200, id)
		note("R.restored", "R.event.associated", "R.created")

		there := s.elsewhere()
		there.takes(200, id, object{"description": "x"})
		far := note("R.associated", "R.event.associated", "R.updated")
		require.Equal(t, there.Event, far.Event)
		there.remove(200, id)
		note("R.deleted", "R.event.disassociated")
		s.remove(200, id)
		note("R.deleted", "R.event.disassociated", "R.deleted")
		for i, n := range sequences(all...) {
			require.Equal(t, int64(i+1), n, "each published kind takes the record's next number")
		}
	})
}

func TestChangesNameTheFieldsOfAccounts(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		l := &accountChanges{s, s.WatchChanges("account")}
		local, global := s.field("Booth", "text"), s.field("Tier", "text", object{"scope": "global"})
		ann := s.NewContact("ann@example.org").ID()
		id := s.named("A")[0]
		l.Since()
		s.put(200, id, object{"name": "B", "address_coutnry": 276, "custom_fields": object{local: "B1", global: "gold"}, "contacts": []object{{"contact_id": ann}}})
		r := l.tells(id, "R.updated", "R.updated", "R.updated")
		require.Equal(t, []string{"address_country", "contacts", "name"}, r.Kinds[0].Fields)
		require.Equal(t, []string{"custom_fields." + local, "custom_fields." + global}, sortedLike(r.Kinds[1].Fields, local))
		require.Len(t, r.Values, 5)
		s.put(200, id, object{"custom_fields": object{local: "B1", global: nil}})
		r = l.tells(id, "R.updated", "R.updated")
		require.Equal(t, []change.Value{{Field: "custom_fields." + global, Old: "gold", New: nil}}, r.Values)
		s.other().takes(200, id, object{"custom_fields": object{local: "B2"}})
		l.tells(id, "O.associated", "O.created", "O.event.associated", "R.updated", "O.updated")
		s.put(200, id, object{"name": "C", "custom_fields": object{local: "B3"}})
		l.tells(id, "R.updated", "R.updated", "R.updated", "O.updated", "O.updated")
	})
}

// sortedLike puts the custom field named first, for they stand in the order of ids.
func sortedLike(fields []string, first string) []string {
	if len(fields) == 2 && fields[1] == "custom_fields."+first {
		return []string{fields[1], fields[0]}
	}
	return fields
}

func TestRefusedAccountWritesLeaveNoChange(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		l := &accountChanges{s, s.WatchChanges("account")}
		id := s.named("A")[0]
		l.Since()
		s.create(400, object{"name": " "})
		s.takes(409, id)
		s.put(400, id, object{"phone": "x"})
		s.put(409, id, object{"name": "B", "updated_at": "2020-01-01T00:00:00Z"})
		s.remove(409, id, "If-Match", `"999"`)
		s.restore(404, id)
		s.other().remove(404, id)
		s.bulk(it.Updating(id, object{"name": ""}), it.Creating(object{"account_id": id}))
		require.Empty(t, l.Since())
		o := s.bulk(it.Creating(object{"name": "B"}), it.Updating(id, object{"name": "C"}), it.Updating(id, object{"name": "D"}), it.Deleting(id))
		var told []string
		for _, r := range l.Since() {
			told = append(told, r.RecordID+" "+r.Action)
		}
		require.ElementsMatch(t, []string{
			o.Data(t, 0).ID() + " " + s.role + ".created", id + " " + s.role + ".updated", id + " " + s.role + ".updated", id + " " + s.role + ".deleted",
		}, told)
	})
}
