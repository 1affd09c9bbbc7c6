package people_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// TestACreateOfAContactIsReplayed: of a new one and of one that the organization
// has, which would both be refused a second time.
func TestACreateOfAContactIsReplayed(t *testing.T) {
	p := NewContacts(t)
	there := p.InNewEvent()
	body := object{"email": "ada@x.org", "title": "A & <B>"}
	made := p.CallContacts(200, "POST", "/create", body, it.KeyHeader, "k")
	associated := there.CallContacts(200, "POST", "/create", body, it.KeyHeader, "k")
	id := entity(made.JSON(t)).ID()
	require.Equal(t, id, entity(associated.JSON(t)).ID())
	require.Empty(t, associated.Header.Get("Idempotent-Replayed"), "a key is one event's")
	it.RequireReplay(t, associated, there.CallContacts(200, "POST", "/create", body, it.KeyHeader, "k"))
	there.Put(200, id, object{"title": "Changed meanwhile"})
	require.Equal(t, p.Get(200, id), it.ReplayedRecord(t, p.CallContacts(200, "POST", "/create", body, it.KeyHeader, "k")))
	require.Equal(t, there.Get(200, id), it.ReplayedRecord(t, there.CallContacts(200, "POST", "/create", body, it.KeyHeader, "k")))
	gone := there.Delete(200, id)
	require.Equal(t, gone, it.ReplayedRecord(t, there.CallContacts(200, "POST", "/create", body, it.KeyHeader, "k")))
	it.RequireError(t, p.CallContacts(422, "POST", "/create", object{"email": "b@x.org"}, it.KeyHeader, "k").JSON(t), "IDEMPOTENCY_KEY_REUSED", "")
	isTakenBy(t, p.CallContacts(409, "POST", "/create", body, it.KeyHeader, "k2").JSON(t), object{"id": id})
	p.CallContacts(200, "POST", "/create", object{"email": "c@x.org"}, it.KeyHeader, "k2")
	require.Equal(t, "Changed meanwhile", p.Get(200, id)["title"])
}

// TestALargeAnswerOfAContactIsShownAgain, of a contact that was made and of one that was
// associated.
func TestALargeAnswerOfAContactIsShownAgain(t *testing.T) {
	p := NewContacts(t, "translated_fields")
	there := p.InNewEvent("translated_fields")
	texts, languages := object{}, object{}
	for _, name := range strings.Fields("title about salutation honorific pronouns gender industry brand availability audience_type company_name headcount") {
		texts[name] = "x"
	}
	for i := range 100 {
		languages[string([]rune{'a' + rune(i/10), 'a' + rune(i%10)})] = texts
	}
	body := object{"email": "ada@x.org", "translations": languages}
	for _, at := range []*it.Contacts{p, there} {
		first := at.CallContacts(200, "POST", "/create?expand=translated_fields", body, it.KeyHeader, "large")
		require.Greater(t, len(first.Body), 300<<10)
		it.RequireReplay(t, first, at.CallContacts(200, "POST", "/create?expand=translated_fields", body, it.KeyHeader, "large"))
	}
	require.Equal(t, 1, p.SearchOrganization(object{}).Pagination.TotalResults)
}

// TestABulkOfContactsIsReplayed: with an entry that associates, whose id is the
// contact's and not one of the key's.
func TestABulkOfContactsIsReplayed(t *testing.T) {
	p := NewContacts(t)
	there := p.InNewEvent()
	ids := p.WithAddresses("ada@x.org", "bob@x.org")
	there.WithAddresses("bob@x.org")
	operations := []object{
		it.Creating(object{"email": "new@x.org"}), it.Creating(object{"email": "ada@x.org", "title": "x"}), it.Creating(object{"email": "bob@x.org"}),
		it.Updating(ids[1], object{"email": "bobby@x.org"}), it.Creating(object{"email": "bob@x.org"}), it.Deleting(ids[1]),
	}
	first := there.BulkUnder("/contacts/bulk", "k", operations...)
	require.Equal(t, ids[0], first.Data(t, 1).ID())
	first.PlainError(t, 2)
	require.NotEqual(t, ids[1], first.Data(t, 4).ID())
	for range 2 {
		require.Equal(t, first.Shortened(), there.BulkUnder("/contacts/bulk", "k", operations...))
	}
	require.Len(t, there.Search(object{}).Results, 3)
	require.Equal(t, 4, p.SearchOrganization(object{}).Pagination.TotalResults)
	there.CallContacts(422, "POST", "/bulk", object{"operations": operations[:2]}, it.KeyHeader, "k")
}

func TestSimultaneousCreatesOfAContactUnderOneKey(t *testing.T) {
	p := NewContacts(t)
	there := p.InNewEvent()
	for _, at := range []*it.Contacts{p, there} {
		answers := make([]stacktest.Answer, 12)
		it.Concurrently(len(answers), func(i int) {
			answers[i] = at.TrySend(t, "POST", at.EventPath("/contacts/create"), stacktest.WithHeaders(object{"email": "ada@x.org"}, it.KeyHeader, "k"))
		})
		for _, a := range answers {
			require.Equal(t, 200, a.Status, "%s", a.Body)
			require.Equal(t, string(answers[0].Body), string(a.Body))
		}
	}
	require.Equal(t, 1, p.SearchOrganization(object{}).Pagination.TotalResults)
}
