package it_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
)

// replayed checks that an answer repeats the one before, of a record that is the same.
func replayed(t *testing.T, first, again stacktest.Answer) {
	t.Helper()
	require.Empty(t, first.Header.Get("Idempotent-Replayed"))
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Equal(t, string(first.Body), string(again.Body))
	require.Equal(t, first.Header.Get("ETag"), again.Header.Get("ETag"))
}

// again is the record that a repetition shows.
func again(t *testing.T, a stacktest.Answer) entity {
	t.Helper()
	require.Equal(t, "true", a.Header.Get("Idempotent-Replayed"))
	return a.JSON(t)
}

// TestACreateOfAContactIsReplayed: of a new one and of one that the organization
// has, which would both be refused a second time.
func TestACreateOfAContactIsReplayed(t *testing.T) {
	p := newPeople(t)
	there := p.elsewhere()
	body := object{"email": "ada@x.org", "title": "A & <B>"}
	made := p.write(200, "POST", "/create", body, keyHeader, "k")
	associated := there.write(200, "POST", "/create", body, keyHeader, "k")
	id := entity(made.JSON(t)).id()
	require.Equal(t, id, entity(associated.JSON(t)).id())
	require.Empty(t, associated.Header.Get("Idempotent-Replayed"), "a key is one event's")
	replayed(t, associated, there.write(200, "POST", "/create", body, keyHeader, "k"))
	there.put(200, id, object{"title": "Changed meanwhile"})
	require.Equal(t, p.get(200, id), again(t, p.write(200, "POST", "/create", body, keyHeader, "k")))
	require.Equal(t, there.get(200, id), again(t, there.write(200, "POST", "/create", body, keyHeader, "k")))
	gone := there.remove(200, id)
	require.Equal(t, gone, again(t, there.write(200, "POST", "/create", body, keyHeader, "k")))
	isRefused(t, p.write(422, "POST", "/create", object{"email": "b@x.org"}, keyHeader, "k").JSON(t), "IDEMPOTENCY_KEY_REUSED", "")
	isTakenBy(t, p.write(409, "POST", "/create", body, keyHeader, "k2").JSON(t), object{"id": id})
	p.write(200, "POST", "/create", object{"email": "c@x.org"}, keyHeader, "k2")
	require.Equal(t, "Changed meanwhile", p.get(200, id)["title"])
}

// TestALargeAnswerOfAContactIsShownAgain, of a contact that was made and of one that was
// associated.
func TestALargeAnswerOfAContactIsShownAgain(t *testing.T) {
	p := newPeople(t, "translated_fields")
	there := p.elsewhere("translated_fields")
	texts, languages := object{}, object{}
	for _, name := range strings.Fields("title about salutation honorific pronouns gender industry brand availability audience_type company_name headcount") {
		texts[name] = "x"
	}
	for i := range 100 {
		languages[string([]rune{'a' + rune(i/10), 'a' + rune(i%10)})] = texts
	}
	body := object{"email": "ada@x.org", "translations": languages}
	for _, at := range []*people{p, there} {
		first := at.write(200, "POST", "/create?expand=translated_fields", body, keyHeader, "large")
		require.Greater(t, len(first.Body), 300<<10)
		replayed(t, first, at.write(200, "POST", "/create?expand=translated_fields", body, keyHeader, "large"))
	}
	require.Equal(t, 1, p.searchAll(object{}).Pagination.TotalResults)
}

// TestABulkOfContactsIsReplayed: with an entry that associates, whose id is the
// contact's and not one of the key's.
func TestABulkOfContactsIsReplayed(t *testing.T) {
	p := newPeople(t)
	there := p.elsewhere()
	ids := p.addressed("ada@x.org", "bob@x.org")
	there.addressed("bob@x.org")
	operations := []object{
		creating(object{"email": "new@x.org"}), creating(object{"email": "ada@x.org", "title": "x"}), creating(object{"email": "bob@x.org"}),
		updating(ids[1], object{"email": "bobby@x.org"}), creating(object{"email": "bob@x.org"}), deleting(ids[1]),
	}
	first := there.bulkUnder("/contacts/bulk", "k", operations...)
	require.Equal(t, ids[0], first.data(t, 1).id())
	first.plain(t, 2)
	require.NotEqual(t, ids[1], first.data(t, 4).id())
	for range 2 {
		require.Equal(t, first.asLeft(), there.bulkUnder("/contacts/bulk", "k", operations...))
	}
	require.Len(t, there.search(object{}).Results, 3)
	require.Equal(t, 4, p.searchAll(object{}).Pagination.TotalResults)
	there.write(422, "POST", "/bulk", object{"operations": operations[:2]}, keyHeader, "k")
}

func TestSimultaneousCreatesOfAContactUnderOneKey(t *testing.T) {
	p := newPeople(t)
	there := p.elsewhere()
	for _, at := range []*people{p, there} {
		answers := make([]stacktest.Answer, 12)
		together(len(answers), func(i int) {
			answers[i] = attempt(t, at.Stack, "POST", at.EventPath("/contacts/create"), object{"email": "ada@x.org"}, keyHeader, "k")
		})
		for _, a := range answers {
			require.Equal(t, 200, a.Status, "%s", a.Body)
			require.Equal(t, string(answers[0].Body), string(a.Body))
		}
	}
	require.Equal(t, 1, p.searchAll(object{}).Pagination.TotalResults)
}
