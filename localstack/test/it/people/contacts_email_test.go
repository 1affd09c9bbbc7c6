package people_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func TestAnAddressIsOneContacts(t *testing.T) {
	p := NewContacts(t)
	made := p.Create(200, object{"email": "  Ada@Example.org\t"})
	require.Equal(t, "Ada@Example.org", made["email"], "trimmed, in the case it was written")
	for _, same := range []string{"Ada@Example.org", "ada@example.org", "ADA@EXAMPLE.ORG", " ada@example.org "} {
		isTakenBy(t, p.Create(409, object{"email": same, "title": "Other"}), object{"id": made.ID()})
	}
	require.Equal(t, []entity{made}, p.Search(object{}).Results, "nothing is written")
	other := p.WithAddresses("other@example.org")[0]
	isTakenBy(t, p.Put(409, other, object{"email": "ada@EXAMPLE.org", "title": "Other"}), object{"id": made.ID()})
	require.Equal(t, "other@example.org", p.Get(200, other)["email"])
	require.Nil(t, p.Get(200, other)["title"])
	p.InOtherOrganization().Create(200, object{"email": "ada@example.org"})
	p.WithAddresses("a.da@example.org", "ada+1@example.org")
}

func TestAnAddressIsChanged(t *testing.T) {
	p := NewContacts(t)
	ids := p.WithAddresses("ada@example.org", "bob@example.org")
	require.Equal(t, "ADA@example.org", p.Put(200, ids[0], object{"email": " ADA@example.org "})["email"], "its own, in another case")
	isTakenBy(t, p.Create(409, object{"email": "ada@example.org"}), object{"id": ids[0]})
	p.Put(200, ids[0], object{"email": "ada@example.com"})
	isTakenBy(t, p.Create(409, object{"email": "ada@example.com"}), object{"id": ids[0]})
	third := p.WithAddresses("ada@example.org")[0]
	require.NotContains(t, ids, third, "the address before is free")
	isTakenBy(t, p.Put(409, ids[0], object{"email": "ada@example.org"}), object{"id": third})
	p.Put(200, third, object{"email": "third@example.org"})
	require.Equal(t, "ada@example.org", p.Put(200, ids[0], object{"email": "ada@example.org"})["email"])
	p.Put(200, ids[1], object{"email": "ada@example.com"})
	require.Equal(t, []string{"ada@example.org", "ada@example.com", "third@example.org"}, it.Texts(p.Search(object{}).Results, "email"))
}

func TestAnAddressIsNeverEmpty(t *testing.T) {
	p := NewContacts(t)
	id := p.WithAddresses("ada@example.org")[0]
	it.RequireInvalid(t, p.Create(400, object{}), "email")
	for _, wrong := range []any{
		nil, "", "  ", "ada", "ada@", "@example.org", "Ada <ada@example.org>", "ada@example.org, bob@example.org", "a b@example.org",
		7, true, []string{"ada@example.org"}, object{}, strings.Repeat("x", 250) + "@example.org",
	} {
		it.RequireInvalid(t, p.Create(400, object{"email": wrong}), "email")
		it.RequireInvalid(t, p.Put(400, id, object{"email": wrong}), "email")
		o := p.Bulk(it.Creating(object{"email": wrong}), it.Updating(id, object{"email": wrong}))
		o.PlainError(t, 0)
		o.PlainError(t, 1)
	}
	require.Equal(t, []string{"ada@example.org"}, it.Texts(p.Search(object{}).Results, "email"))
}

// TestACreateAssociatesWhoIsThere: the person that another event has, with what was
// sent as an update; what is not sent stays.
func TestACreateAssociatesWhoIsThere(t *testing.T) {
	p := NewContacts(t)
	badge, seat := p.NewField("Badge", "text", it.GlobalScope), p.NewField("Seat", "text")
	there := p.InNewEvent()
	row := there.NewField("Row", "text")
	first := p.Create(200, object{
		"email": "ada@example.org", "first_name": "Ada", "title": "Countess", "custom_fields": object{badge: "A", seat: "12"},
	})
	same := there.Create(200, object{
		"email": "ADA@example.org", "title": "Analyst", "company": "Engines", "custom_fields": object{badge: "B", row: "4"},
	})
	id := first.ID()
	require.Equal(t, id, same.ID())
	want := entity(it.Merged(object(first), object{
		"email": "ADA@example.org", "title": "Analyst", "company_name": "Engines", "custom_fields": same["custom_fields"], "updated_at": same["updated_at"],
	}))
	require.Equal(t, want, same)
	require.Equal(t, []any{"B", nil, "4"}, []any{same.FieldValue(badge), same.FieldValue(seat), same.FieldValue(row)})
	require.Equal(t, same, there.Get(200, id))
	here := p.Get(200, id)
	require.Equal(t, []any{"B", "12", nil}, []any{here.FieldValue(badge), here.FieldValue(seat), here.FieldValue(row)})
	require.Equal(t, "Analyst", here["title"])
	isTakenBy(t, there.Create(409, object{"email": "ada@example.org"}), object{"id": id})
	isTakenBy(t, p.Create(409, object{"email": "ada@example.org"}), object{"id": id})
	require.Equal(t, 1, p.SearchOrganization(object{}).Pagination.TotalResults)
	require.Equal(t, []string{id}, it.Texts(there.Search(object{}).Results, "id"))
	require.Equal(t, "CONT-2", p.Create(200, object{"email": "next@example.org"})["friendly_id"], "an association takes no number")
	it.RequireInvalid(t, p.InNewEvent().Create(400, object{"email": "ada@example.org", "photo_url": "x"}), "photo_url")
}

func TestADeletedAssociationIsRestoredNotMade(t *testing.T) {
	p := NewContacts(t)
	there := p.InNewEvent()
	id := p.WithAddresses("ada@example.org")[0]
	there.WithAddresses("ada@example.org")
	p.Delete(200, id)
	isTakenBy(t, p.Create(409, object{"email": "Ada@example.org", "title": "x"}), object{"id": id, "deleted": true})
	isTakenBy(t, p.Put(409, p.WithAddresses("bob@example.org")[0], object{"email": "ada@example.org"}), object{"id": id})
	isTakenBy(t, there.Create(409, object{"email": "ada@example.org"}), object{"id": id})
	require.Nil(t, p.Restore(200, id)["title"], "nothing was written")
	isTakenBy(t, p.Create(409, object{"email": "ada@example.org"}), object{"id": id})
	there.Delete(200, id)
	p.Delete(200, id)
	require.Equal(t, id, p.InNewEvent().WithAddresses("ada@example.org")[0], "who is on no event is still there")
}

// TestAnAddressOfAnotherEventIsNotTold to who may see this event only: neither whose
// it is, nor by getting them.
func TestAnAddressOfAnotherEventIsNotTold(t *testing.T) {
	p := NewContacts(t)
	there := p.InNewEvent()
	hidden := there.Create(200, object{"email": "ada@example.org"})
	limited := p.LimitedToEvent()
	mine := limited.Create(200, object{"email": "bob@example.org"})
	for range 2 {
		isTakenBy(t, limited.Create(409, object{"email": "ada@example.org", "title": "x"}), object{})
		isTakenBy(t, limited.Put(409, mine.ID(), object{"email": "Ada@example.org"}), object{})
		require.NotContains(t, limited.Bulk(it.Creating(object{"email": "ada@example.org"})).PlainError(t, 0), hidden.ID())
	}
	p.Get(404, hidden.ID())
	require.Equal(t, hidden, there.Get(200, hidden.ID()), "nothing is written")
	require.Equal(t, []string{mine.ID()}, it.Texts(p.Search(object{}).Results, "id"))
	both := p.WithToken(p.TokenWith(t, object{"scopes": []string{"write:contacts"}, "limit": 1000, "event_ids": []int64{p.Event, there.Event}}))
	isTakenBy(t, both.Put(409, mine.ID(), object{"email": "ada@example.org"}), object{"id": hidden.ID()})
	require.Equal(t, hidden.ID(), both.Create(200, object{"email": "ada@example.org"}).ID(), "who may see both may associate")
	isTakenBy(t, limited.Create(409, object{"email": "ada@example.org"}), object{"id": hidden.ID()})
	there.Delete(200, hidden.ID())
	require.NoError(t, uuid.Validate(restoreLater(limited, hidden.ID())))
}

// restoreLater takes a contact from the event and brings it back, and gives its id.
func restoreLater(p *it.Contacts, id string) string {
	p.T.Helper()
	p.Delete(200, id)
	isTakenBy(p.T, p.Create(409, object{"email": "ada@example.org"}), object{"id": id, "deleted": true})
	return p.Restore(200, id).ID()
}
