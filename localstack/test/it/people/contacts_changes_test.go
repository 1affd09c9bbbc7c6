package people_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/keys"
	"lectern/shared/layout"
	"lectern/shared/table"
)

// contactChanges is a client that checks the changes of contacts.
type contactChanges struct {
	*it.Contacts
	*it.ChangeWatch
}

func newContactChanges(d *it.Client) *contactChanges {
	return &contactChanges{&it.Contacts{Client: d}, d.WatchChanges("contact")}
}

// tells checks that exactly one change came since the last call, of a contact on an
// event: its action, and the published kinds with their fields.
func (l *contactChanges) tells(at *it.Contacts, id, action string, kinds ...change.Kind) change.Record {
	l.T.Helper()
	fresh := l.Since()
	require.Len(l.T, fresh, 1)
	r := fresh[0]
	require.Equal(l.T, []any{action, id, at.Org, at.Event, change.SourceAPI}, []any{r.Action, r.RecordID, r.Org, r.Event, r.Source})
	require.Equal(l.T, []any{change.ActorToken, at.Member}, []any{r.Actor.Type, r.Actor.ID})
	require.NotEmpty(l.T, r.RequestID)
	require.Equal(l.T, kinds, r.Kinds)
	return r
}

// TestChangesOfAContact: created and deleted are the organization's, with the first
// and the last event; associated and disassociated are each event's.
func TestChangesOfAContact(t *testing.T) {
	l := newContactChanges(it.NewClient(t))
	there := l.InNewEvent()
	id := l.WithAddresses("ada@x.org")[0]
	l.tells(l.Contacts, id, "contact.created", it.Publishes("contact.created", 1, "email", "roles"), it.Publishes("contact.event.associated", 2, "email", "roles"))
	there.Create(200, object{"email": "Ada@x.org"})
	l.tells(there, id, "contact.associated", it.Publishes("contact.event.associated", 3, "email", "roles"), it.Publishes("contact.updated", 4, "email"))
	third := l.InNewEvent()
	third.Create(200, object{"email": "Ada@x.org"})
	l.tells(third, id, "contact.associated", it.Publishes("contact.event.associated", 5, "roles"))
	for i, at := range []*it.Contacts{third, l.Contacts} {
		at.Delete(200, id)
		l.tells(at, id, "contact.deleted", it.Publishes("contact.event.disassociated", int64(6+i), "roles"))
	}
	there.Delete(200, id)
	l.tells(there, id, "contact.deleted", it.Publishes("contact.event.disassociated", 8, "roles"), it.Publishes("contact.deleted", 9, "roles"))
	l.Restore(200, id)
	l.tells(l.Contacts, id, "contact.restored", it.Publishes("contact.created", 10, "roles"), it.Publishes("contact.event.associated", 11, "roles"))
	there.Restore(200, id)
	l.tells(there, id, "contact.restored", it.Publishes("contact.event.associated", 12, "roles"))
	there.Put(200, id, object{})
	l.tells(there, id, "contact.updated", change.Kind{Name: "contact.updated", Sequence: 13})
}

// TestAnUpdateOfBothKindsOfFieldsIsOneChange that lists contact.updated twice, each
// with its own names.
func TestAnUpdateOfBothKindsOfFieldsIsOneChange(t *testing.T) {
	l := newContactChanges(it.NewClient(t))
	badge, seat := l.NewField("Badge", "text", it.GlobalScope), l.NewField("Seat", "text")
	made := l.Create(200, object{"email": "ada@x.org", "title": "Countess", "about": "x", "custom_fields": object{badge: "A"}})
	id := made.ID()
	l.tells(l.Contacts, id, "contact.created",
		it.Publishes("contact.created", 1, "about", "email", "roles", "title", "custom_fields."+badge),
		it.Publishes("contact.event.associated", 2, "about", "email", "roles", "title", "custom_fields."+badge))
	changed := l.Put(200, id, object{"title": "Analyst", "about": "x", "company": "E", "custom_fields": object{badge: "B", seat: "1"}})
	var custom []string
	for _, name := range []string{badge, seat} {
		custom = append(custom, "custom_fields."+name)
	}
	fresh := l.Since()
	require.Len(t, fresh, 1, "one record of the change")
	r := fresh[0]
	require.Equal(t, "contact.updated", r.Action)
	require.Equal(t, change.SourceAPI, r.Source)
	require.Equal(t, changed["updated_at"], r.At.String())
	require.Len(t, r.Kinds, 2)
	require.Equal(t, it.Publishes("contact.updated", 3, "company_name", "title"), r.Kinds[0])
	require.Equal(t, []any{"contact.updated", int64(4)}, []any{r.Kinds[1].Name, r.Kinds[1].Sequence})
	require.ElementsMatch(t, custom, r.Kinds[1].Fields)
	require.ElementsMatch(t, []change.Value{
		{Field: "company_name", Old: nil, New: "E"}, {Field: "title", Old: "Countess", New: "Analyst"},
		{Field: "custom_fields." + badge, Old: "A", New: "B"}, {Field: "custom_fields." + seat, Old: nil, New: "1"},
	}, r.Values)
	l.Put(200, id, object{"custom_fields": object{seat: "2"}})
	l.tells(l.Contacts, id, "contact.updated", it.Publishes("contact.updated", 5, "custom_fields."+seat))
	l.Put(200, id, object{"title": nil})
	l.tells(l.Contacts, id, "contact.updated", it.Publishes("contact.updated", 6, "title"))
	l.Bulk(it.Updating(id, object{"title": "x", "custom_fields": object{badge: nil}}))
	l.tells(l.Contacts, id, "contact.updated", it.Publishes("contact.updated", 7, "title"), it.Publishes("contact.updated", 8, "custom_fields."+badge))
}

func TestRefusedWritesOfContactsLeaveNoChange(t *testing.T) {
	l := newContactChanges(it.NewClient(t))
	id := l.WithAddresses("ada@x.org")[0]
	l.Since()
	l.Put(400, id, object{"title": 7})
	l.Put(409, id, object{"title": "B", "updated_at": "2020-01-01T00:00:00Z"})
	l.Create(409, object{"email": "ada@x.org"})
	l.InNewEvent().LimitedToEvent().Create(409, object{"email": "ada@x.org"})
	l.Restore(404, id)
	l.Bulk(it.Creating(object{"email": "ada@x.org"}), it.Updating(id, object{"email": ""}))
	require.Empty(t, l.Since())
}

// TestWhereAPersonsValuesStand: each change of a contact stands whole beside it, and a
// person's texts are nowhere but in places that are known: not in the feed.
func TestWhereAPersonsValuesStand(t *testing.T) {
	s, engine := it.StartWithEngine(t, nil)
	l := newContactChanges(&it.Client{Stack: s, T: t})
	there := l.InNewEvent()
	seat := l.NewField("Seat", "text")
	secret := "Ada-of-Ockham"
	id := l.Create(200, object{"email": secret + "@x.org", "first_name": secret, "custom_fields": object{seat: secret}}).ID()
	there.WithAddresses(secret + "@x.org")
	l.Put(200, id, object{"title": secret})
	l.Delete(200, id)
	l.Restore(200, id)
	l.Bulk(it.Updating(id, object{"about": secret}))
	fresh := l.Since()
	require.Len(t, fresh, 6)

	partition, prefix := contact.Kind.PK(l.Org, id), table.Org(l.Org)+"#"
	var beside, want []string
	for _, r := range fresh {
		want = append(want, "H#"+r.ID)
	}
	for key, item := range engine.Dump(t) {
		if key.PK == partition && strings.HasPrefix(key.SK, "H#") {
			beside = append(beside, key.SK)
		}
		if !strings.Contains(strings.ToLower(key.PK+key.SK+item.Data), strings.ToLower(secret)) {
			continue
		}
		rest, ok := strings.CutPrefix(key.PK, prefix)
		require.True(t, ok, key.PK)
		known := key.PK == partition || rest == "RC" || key == contact.ByEmail(l.Org, secret+"@x.org")
		require.True(t, known, "%v", key)
		pattern, _ := layout.Find(key)
		require.Equal(t, keys.Person, pattern.Personal, "%v", key)
	}
	require.ElementsMatch(t, want, beside)
}
