package it_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/table"
)

// diary is a desk that tells the changes of contacts.
type diary struct {
	*people
	*watch
}

func newDiary(d *desk) *diary { return &diary{&people{d}, d.watch("contact")} }

// tells checks that exactly one change came since the last call, of a contact on an
// event: its action, and the published kinds with their fields.
func (l *diary) tells(at *people, id, action string, kinds ...change.Kind) change.Record {
	l.t.Helper()
	fresh := l.since()
	require.Len(l.t, fresh, 1)
	r := fresh[0]
	require.Equal(l.t, []any{action, id, at.Org, at.Event, change.SourceAPI}, []any{r.Action, r.RecordID, r.Org, r.Event, r.Source})
	require.Equal(l.t, []any{change.ActorToken, at.Member}, []any{r.Actor.Type, r.Actor.ID})
	require.NotEmpty(l.t, r.RequestID)
	require.Equal(l.t, kinds, r.Kinds)
	return r
}

// publishes is a published kind of a change.
func publishes(name string, sequence int64, fields ...string) change.Kind {
	return change.Kind{Name: name, Sequence: sequence, Fields: fields}
}

// TestChangesOfAContact: created and deleted are the organization's, with the first
// and the last event; associated and disassociated are each event's.
func TestChangesOfAContact(t *testing.T) {
	l := newDiary(newDesk(t))
	there := l.elsewhere()
	id := l.addressed("ada@x.org")[0]
	l.tells(l.people, id, "contact.created", publishes("contact.created", 1, "email", "roles"), publishes("contact.event.associated", 2, "email", "roles"))
	there.create(200, object{"email": "Ada@x.org"})
	l.tells(there, id, "contact.associated", publishes("contact.event.associated", 3, "email", "roles"), publishes("contact.updated", 4, "email"))
	third := l.elsewhere()
	third.create(200, object{"email": "Ada@x.org"})
	l.tells(third, id, "contact.associated", publishes("contact.event.associated", 5, "roles"))
	for i, at := range []*people{third, l.people} {
		at.remove(200, id)
		l.tells(at, id, "contact.deleted", publishes("contact.event.disassociated", int64(6+i), "roles"))
	}
	there.remove(200, id)
	l.tells(there, id, "contact.deleted", publishes("contact.event.disassociated", 8, "roles"), publishes("contact.deleted", 9, "roles"))
	l.restore(200, id)
	l.tells(l.people, id, "contact.restored", publishes("contact.created", 10, "roles"), publishes("contact.event.associated", 11, "roles"))
	there.restore(200, id)
	l.tells(there, id, "contact.restored", publishes("contact.event.associated", 12, "roles"))
	there.put(200, id, object{})
	l.tells(there, id, "contact.updated", change.Kind{Name: "contact.updated", Sequence: 13})
}

// TestAnUpdateOfBothKindsOfFieldsIsOneChange that lists contact.updated twice, each
// with its own names.
func TestAnUpdateOfBothKindsOfFieldsIsOneChange(t *testing.T) {
	l := newDiary(newDesk(t))
	badge, seat := l.field("Badge", "text", organizationWide), l.field("Seat", "text")
	made := l.create(200, object{"email": "ada@x.org", "title": "Countess", "about": "x", "custom_fields": object{badge: "A"}})
	id := made.id()
	l.tells(l.people, id, "contact.created",
		publishes("contact.created", 1, "about", "email", "roles", "title", "custom_fields."+badge),
		publishes("contact.event.associated", 2, "about", "email", "roles", "title", "custom_fields."+badge))
	changed := l.put(200, id, object{"title": "Analyst", "about": "x", "company": "E", "custom_fields": object{badge: "B", seat: "1"}})
	var custom []string
	for _, name := range []string{badge, seat} {
		custom = append(custom, "custom_fields."+name)
	}
	fresh := l.since()
	require.Len(t, fresh, 1, "one record of the change")
	r := fresh[0]
	require.Equal(t, "contact.updated", r.Action)
	require.Equal(t, change.SourceAPI, r.Source)
	require.Equal(t, changed["updated_at"], r.At.String())
	require.Len(t, r.Kinds, 2)
	require.Equal(t, publishes("contact.updated", 3, "company_name", "title"), r.Kinds[0])
	require.Equal(t, []any{"contact.updated", int64(4)}, []any{r.Kinds[1].Name, r.Kinds[1].Sequence})
	require.ElementsMatch(t, custom, r.Kinds[1].Fields)
	require.ElementsMatch(t, []change.Value{
		{Field: "company_name", Old: nil, New: "E"}, {Field: "title", Old: "Countess", New: "Analyst"},
		{Field: "custom_fields." + badge, Old: "A", New: "B"}, {Field: "custom_fields." + seat, Old: nil, New: "1"},
	}, r.Values)
	l.put(200, id, object{"custom_fields": object{seat: "2"}})
	l.tells(l.people, id, "contact.updated", publishes("contact.updated", 5, "custom_fields."+seat))
	l.put(200, id, object{"title": nil})
	l.tells(l.people, id, "contact.updated", publishes("contact.updated", 6, "title"))
	l.bulk(updating(id, object{"title": "x", "custom_fields": object{badge: nil}}))
	l.tells(l.people, id, "contact.updated", publishes("contact.updated", 7, "title"), publishes("contact.updated", 8, "custom_fields."+badge))
}

func TestRefusedWritesOfContactsLeaveNoChange(t *testing.T) {
	l := newDiary(newDesk(t))
	id := l.addressed("ada@x.org")[0]
	l.since()
	l.put(400, id, object{"title": 7})
	l.put(409, id, object{"title": "B", "updated_at": "2020-01-01T00:00:00Z"})
	l.create(409, object{"email": "ada@x.org"})
	l.elsewhere().limited().create(409, object{"email": "ada@x.org"})
	l.restore(404, id)
	l.bulk(creating(object{"email": "ada@x.org"}), updating(id, object{"email": ""}))
	require.Empty(t, l.since())
}

// TestWhereAPersonsValuesStand: each change of a contact stands whole beside it, and a
// person's texts are nowhere but in places that are known: not in the feed.
func TestWhereAPersonsValuesStand(t *testing.T) {
	s, engine := startOpen(t, nil)
	l := newDiary(&desk{s, t})
	there := l.elsewhere()
	seat := l.field("Seat", "text")
	secret := "Ada-of-Ockham"
	id := l.create(200, object{"email": secret + "@x.org", "first_name": secret, "custom_fields": object{seat: secret}}).id()
	there.addressed(secret + "@x.org")
	l.put(200, id, object{"title": secret})
	l.remove(200, id)
	l.restore(200, id)
	l.bulk(updating(id, object{"about": secret}))
	fresh := l.since()
	require.Len(t, fresh, 6)

	partition, prefix := contact.Kind.PK(l.Org, id), table.Org(l.Org)+"#"
	var beside, want []string
	for _, r := range fresh {
		want = append(want, "H#"+r.ID)
	}
	for key, item := range engine.dump(t) {
		if key.PK == partition && strings.HasPrefix(key.SK, "H#") {
			beside = append(beside, key.SK)
		}
		if !strings.Contains(strings.ToLower(key.PK+key.SK+item.data), strings.ToLower(secret)) {
			continue
		}
		rest, ok := strings.CutPrefix(key.PK, prefix)
		require.True(t, ok, key.PK)
		known := key.PK == partition || rest == "RC" || key == contact.ByEmail(l.Org, secret+"@x.org")
		require.True(t, known, "%v", key)
	}
	require.ElementsMatch(t, want, beside)
}
