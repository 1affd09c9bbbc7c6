package it_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestAnAddressIsOneContacts(t *testing.T) {
	p := newPeople(t)
	made := p.create(200, object{"email": "  Ada@Example.org\t"})
	require.Equal(t, "Ada@Example.org", made["email"], "trimmed, in the case it was written")
	for _, same := range []string{"Ada@Example.org", "ada@example.org", "ADA@EXAMPLE.ORG", " ada@example.org "} {
		isTakenBy(t, p.create(409, object{"email": same, "title": "Other"}), object{"id": made.id()})
	}
	require.Equal(t, []entity{made}, p.search(object{}).Results, "nothing is written")
	other := p.addressed("other@example.org")[0]
	isTakenBy(t, p.put(409, other, object{"email": "ada@EXAMPLE.org", "title": "Other"}), object{"id": made.id()})
	require.Equal(t, "other@example.org", p.get(200, other)["email"])
	require.Nil(t, p.get(200, other)["title"])
	p.stranger().create(200, object{"email": "ada@example.org"})
	p.addressed("a.da@example.org", "ada+1@example.org")
}

func TestAnAddressIsChanged(t *testing.T) {
	p := newPeople(t)
	ids := p.addressed("ada@example.org", "bob@example.org")
	require.Equal(t, "ADA@example.org", p.put(200, ids[0], object{"email": " ADA@example.org "})["email"], "its own, in another case")
	isTakenBy(t, p.create(409, object{"email": "ada@example.org"}), object{"id": ids[0]})
	p.put(200, ids[0], object{"email": "ada@example.com"})
	isTakenBy(t, p.create(409, object{"email": "ada@example.com"}), object{"id": ids[0]})
	third := p.addressed("ada@example.org")[0]
	require.NotContains(t, ids, third, "the address before is free")
	isTakenBy(t, p.put(409, ids[0], object{"email": "ada@example.org"}), object{"id": third})
	p.put(200, third, object{"email": "third@example.org"})
	require.Equal(t, "ada@example.org", p.put(200, ids[0], object{"email": "ada@example.org"})["email"])
	p.put(200, ids[1], object{"email": "ada@example.com"})
	require.Equal(t, []string{"ada@example.org", "ada@example.com", "third@example.org"}, texts(p.search(object{}).Results, "email"))
}

func TestAnAddressIsNeverEmpty(t *testing.T) {
	p := newPeople(t)
	id := p.addressed("ada@example.org")[0]
	isInvalid(t, p.create(400, object{}), "email")
	for _, wrong := range []any{
		nil, "", "  ", "ada", "ada@", "@example.org", "Ada <ada@example.org>", "ada@example.org, bob@example.org", "a b@example.org",
		7, true, []string{"ada@example.org"}, object{}, strings.Repeat("x", 250) + "@example.org",
	} {
		isInvalid(t, p.create(400, object{"email": wrong}), "email")
		isInvalid(t, p.put(400, id, object{"email": wrong}), "email")
		o := p.bulk(creating(object{"email": wrong}), updating(id, object{"email": wrong}))
		o.plain(t, 0)
		o.plain(t, 1)
	}
	require.Equal(t, []string{"ada@example.org"}, texts(p.search(object{}).Results, "email"))
}

// TestACreateAssociatesWhoIsThere: the person that another event has, with what was
// sent as an update; what is not sent stays.
func TestACreateAssociatesWhoIsThere(t *testing.T) {
	p := newPeople(t)
	badge, seat := p.field("Badge", "text", organizationWide), p.field("Seat", "text")
	there := p.elsewhere()
	row := there.field("Row", "text")
	first := p.create(200, object{
		"email": "ada@example.org", "first_name": "Ada", "title": "Countess", "custom_fields": object{badge: "A", seat: "12"},
	})
	same := there.create(200, object{
		"email": "ADA@example.org", "title": "Analyst", "company": "Engines", "custom_fields": object{badge: "B", row: "4"},
	})
	id := first.id()
	require.Equal(t, id, same.id())
	want := entity(merged(object(first), object{
		"email": "ADA@example.org", "title": "Analyst", "company_name": "Engines", "custom_fields": same["custom_fields"], "updated_at": same["updated_at"],
	}))
	require.Equal(t, want, same)
	require.Equal(t, []any{"B", nil, "4"}, []any{same.value(badge), same.value(seat), same.value(row)})
	require.Equal(t, same, there.get(200, id))
	here := p.get(200, id)
	require.Equal(t, []any{"B", "12", nil}, []any{here.value(badge), here.value(seat), here.value(row)})
	require.Equal(t, "Analyst", here["title"])
	isTakenBy(t, there.create(409, object{"email": "ada@example.org"}), object{"id": id})
	isTakenBy(t, p.create(409, object{"email": "ada@example.org"}), object{"id": id})
	require.Equal(t, 1, p.searchAll(object{}).Pagination.TotalResults)
	require.Equal(t, []string{id}, texts(there.search(object{}).Results, "id"))
	require.Equal(t, "CONT-2", p.create(200, object{"email": "next@example.org"})["friendly_id"], "an association takes no number")
	isInvalid(t, p.elsewhere().create(400, object{"email": "ada@example.org", "photo_url": "x"}), "photo_url")
}

func TestADeletedAssociationIsRestoredNotMade(t *testing.T) {
	p := newPeople(t)
	there := p.elsewhere()
	id := p.addressed("ada@example.org")[0]
	there.addressed("ada@example.org")
	p.remove(200, id)
	isTakenBy(t, p.create(409, object{"email": "Ada@example.org", "title": "x"}), object{"id": id, "deleted": true})
	isTakenBy(t, p.put(409, p.addressed("bob@example.org")[0], object{"email": "ada@example.org"}), object{"id": id})
	isTakenBy(t, there.create(409, object{"email": "ada@example.org"}), object{"id": id})
	require.Nil(t, p.restore(200, id)["title"], "nothing was written")
	isTakenBy(t, p.create(409, object{"email": "ada@example.org"}), object{"id": id})
	there.remove(200, id)
	p.remove(200, id)
	require.Equal(t, id, p.elsewhere().addressed("ada@example.org")[0], "who is on no event is still there")
}

// TestAnAddressOfAnotherEventIsNotTold to who may see this event only: neither whose
// it is, nor by getting them.
func TestAnAddressOfAnotherEventIsNotTold(t *testing.T) {
	p := newPeople(t)
	there := p.elsewhere()
	hidden := there.create(200, object{"email": "ada@example.org"})
	limited := p.limited()
	mine := limited.create(200, object{"email": "bob@example.org"})
	for range 2 {
		isTakenBy(t, limited.create(409, object{"email": "ada@example.org", "title": "x"}), object{})
		isTakenBy(t, limited.put(409, mine.id(), object{"email": "Ada@example.org"}), object{})
		require.NotContains(t, limited.bulk(creating(object{"email": "ada@example.org"})).plain(t, 0), hidden.id())
	}
	p.get(404, hidden.id())
	require.Equal(t, hidden, there.get(200, hidden.id()), "nothing is written")
	require.Equal(t, []string{mine.id()}, texts(p.search(object{}).Results, "id"))
	both := p.as(p.TokenWith(t, object{"scopes": []string{"write:contacts"}, "limit": 1000, "event_ids": []int64{p.Event, there.Event}}))
	isTakenBy(t, both.put(409, mine.id(), object{"email": "ada@example.org"}), object{"id": hidden.id()})
	require.Equal(t, hidden.id(), both.create(200, object{"email": "ada@example.org"}).id(), "who may see both may associate")
	isTakenBy(t, limited.create(409, object{"email": "ada@example.org"}), object{"id": hidden.id()})
	there.remove(200, hidden.id())
	require.NoError(t, uuid.Validate(limited.restoreLater(hidden.id())))
}

// restoreLater takes a contact from the event and brings it back, and gives its id.
func (p *people) restoreLater(id string) string {
	p.t.Helper()
	p.remove(200, id)
	isTakenBy(p.t, p.create(409, object{"email": "ada@example.org"}), object{"id": id, "deleted": true})
	return p.restore(200, id).id()
}
