package it_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
	"lectern/shared/api/encode"
)

// crew makes n contacts in bulk and gives them as speakers.
func (t *troupe) crew(n int, more object) []object {
	t.t.Helper()
	operations := make([]object, n)
	for i := range operations {
		operations[i] = creating(merged(object{"email": fmt.Sprintf("crew%d@example.org", i), "first_name": fmt.Sprint("P", i)}, more))
	}
	made := t.bulkUnder("/contacts/bulk", "", operations...)
	people := make([]object, n)
	for i := range people {
		people[i] = object{"contact_id": made.data(t.t, i).id(), "core_role": "speaker"}
	}
	return people
}

// inBrief holds that each person on the session is shown without about and custom fields,
// and that the session says so.
func inBrief(t *testing.T, shown entity) {
	t.Helper()
	for _, name := range []string{"participants", "speakers"} {
		require.NotEmpty(t, shown.list(name))
		for _, person := range shown.list(name) {
			require.Contains(t, person, "first_name")
			require.NotContains(t, person, "about")
			require.NotContains(t, person, "custom_fields")
		}
		require.Contains(t, shown["omitted"], name+".about")
		require.Contains(t, shown["omitted"], name+".custom_fields")
	}
}

// packed sends a request of a client that takes gzip.
func (d *desk) packed(status int, method, path string, body any) entity {
	d.t.Helper()
	answer := d.Call(d.t, status, method, d.EventPath(path), body, "Accept", "*/*", "Accept-Encoding", "gzip")
	text := answer.Body
	if len(text) > 1<<10 || status == http.StatusOK {
		require.Equal(d.t, "gzip", answer.Header.Get("Content-Encoding"))
		plain, err := encode.Gunzip(text)
		require.NoError(d.t, err)
		text = plain
	}
	require.LessOrEqual(d.t, len(text), 30<<20)
	shown := entity{}
	require.NoError(d.t, json.Unmarshal(text, &shown))
	return shown
}

// properties are the names of what an entry shows.
func properties(e entity) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(e)), func(name string) bool { return name == "acceptance_invite_sent_at" })
}

// namesASize holds that the refusal names a page size with which the list is answered.
func (t *troupe) namesASize(refusal entity) {
	t.t.Helper()
	isInvalid(t.t, refusal, "page_size")
	size := regexp.MustCompile(`page_size of (\d+) or less`).FindStringSubmatch(refusal.text("message"))
	require.NotNil(t.t, size, refusal)
	require.NotEmpty(t.t, t.list("page_size="+size[1]).Results)
}

// heavy is a desk of an event whose contacts have 120 KB of custom fields each.
func heavy(t *testing.T) (s *troupe, fields object) {
	t.Helper()
	s = newTroupe(newDesk(t, "speaker_acceptance"))
	return s, s.heavyFields()
}

// heavyFields are new custom fields of contacts with values of 120 KB.
func (t *troupe) heavyFields() object {
	t.t.Helper()
	fields := object{}
	for i := range 2 {
		made := t.send(200, http.MethodPost, "/fields/create", object{"name": fmt.Sprint("Note ", i), "type": "wysiwyg", "module_id": "contact"})
		fields[made.text("internal_name")] = strings.Repeat("x", 60_000)
	}
	return fields
}

// TestASessionOfHeavyPeopleIsShownInBrief by every operation that answers one, to a client
// that does not take gzip. One that does gets all of it.
func TestASessionOfHeavyPeopleIsShownInBrief(t *testing.T) {
	s, fields := heavy(t)
	people := s.crew(30, object{"custom_fields": fields, "about": "y"})
	company := s.sign("sponsor", "Acme", object{"description": "Ropes"}).id()
	body := object{"title": "A", "participants": people, "sponsor_ids": []string{company}}
	made := s.create(200, body)
	for _, shown := range []entity{
		made, s.get(200, made.id()), s.put(200, made.id(), object{"title": "B"}), s.list("page_size=1").Results[0],
		s.bulk(updating(made.id(), object{"title": "C"})).data(t, 0), s.list().Results[0],
	} {
		inBrief(t, shown)
		require.Len(t, shown.list("participants"), 30)
		require.Len(t, shown.list("speakers"), 30)
		require.Equal(t, "Ropes", shown.list("sponsors")[0]["description"])
	}
	few := s.create(200, object{"title": "Few", "participants": people[:2]})
	require.NotContains(t, few, "omitted")
	require.Equal(t, "y", few.list("participants")[0]["about"])
	require.Len(t, few.list("participants")[0].list("custom_fields"), 2)
	refusal := s.send(400, http.MethodGet, "/sessions?page_size=25", nil)
	require.Contains(t, refusal.text("message"), "gzip")
	s.namesASize(refusal)

	page := s.packed(200, http.MethodGet, "/sessions?page_size=25", nil).list("results")
	require.Len(t, page, 2)
	for _, shown := range append(page, s.packed(200, http.MethodGet, "/sessions/"+made.id(), nil)) {
		require.NotContains(t, shown, "omitted")
		require.Len(t, shown.list("participants")[0].list("custom_fields"), 2)
	}
}

// TestAPageOfMoreThanThirtyMegabytesIsRefused to a client that takes gzip, too.
func TestAPageOfMoreThanThirtyMegabytesIsRefused(t *testing.T) {
	s, fields := heavy(t)
	people := s.crew(30, object{"custom_fields": fields, "about": "y"})
	for i := range 5 {
		s.create(200, object{"title": fmt.Sprint(i), "participants": people})
	}
	refusal := s.packed(400, http.MethodGet, "/sessions?page_size=25", nil)
	isInvalid(t, refusal, "page_size")
	require.Contains(t, refusal.text("message"), "page_size of 4 or less")
	require.NotContains(t, refusal.text("message"), "gzip")
	require.Len(t, s.packed(200, http.MethodGet, "/sessions?page_size=4", nil).list("results"), 4)
}

// TestABulkOfHeavyPeopleIsAnswered, with a key too, and its repetition.
func TestABulkOfHeavyPeopleIsAnswered(t *testing.T) {
	s, fields := heavy(t)
	name := strings.Repeat("ä", 255) // In short they are long, so that the answer is not kept but made again.
	people := s.crew(30, object{"custom_fields": fields, "first_name": name, "last_name": name, "company_name": name, "title": name})
	operations := make([]object, 25)
	for i := range operations {
		operations[i] = creating(object{"title": fmt.Sprint("S", i), "participants": people})
	}
	made := s.bulkUnder("/sessions/bulk", "heavy", operations...)
	for range 3 {
		require.Equal(t, made, s.bulkUnder("/sessions/bulk", "heavy", operations...))
	}
	inBrief(t, made.data(t, 0))
	for _, r := range made.Results {
		require.Equal(t, "success", r["status"])
	}
	shown := slices.IndexFunc(made.Results, func(r entity) bool { return r["data"] == nil })
	require.Positive(t, shown, "there is no room for all")
	for _, r := range made.Results[shown:] {
		require.NotContains(t, r, "data", "there was none for an earlier one of the same size")
	}
	s.namesASize(s.send(400, http.MethodGet, "/sessions?page_size=25", nil))
	isInvalid(t, stacktest.Call[entity](s.Stack, 400, http.MethodPost, s.EventPath("/sessions"), object{}), "pageSize")
}

// TestContactsOfAccountsAreShownWhole whatever else there is of them.
func TestContactsOfAccountsAreShownWhole(t *testing.T) {
	s, fields := heavy(t)
	for _, name := range []string{"A", "B"} {
		people := make([]object, 90)
		for i := range people {
			people[i] = object{"email": fmt.Sprintf("%s%d@example.org", name, i)}
		}
		for part := range slices.Chunk(people, 30) {
			operations := make([]object, len(part))
			for i := range part {
				operations[i] = creating(merged(part[i], object{"about": "y", "custom_fields": fields}))
			}
			s.bulkUnder("/contacts/bulk", "", operations...)
		}
		s.sign("sponsor", name, object{"contacts": people})
	}
	page := stacktest.Call[found](s.Stack, 200, http.MethodPost, s.EventPath("/sponsors"), object{})
	require.Len(t, page.Results, 2)
	for _, account := range page.Results {
		require.Equal(t, slices.Repeat([]string{"y"}, 90), texts(account.list("contacts"), "about"))
		require.Equal(t, s.send(200, http.MethodGet, "/sponsors/"+account.id(), nil), account)
	}
}

// TestTranslationsThatAreNotShownTakeNoRoom on a page of sessions: 540 people have 67 MB
// of them.
func TestTranslationsThatAreNotShownTakeNoRoom(t *testing.T) {
	s := newTroupe(newDesk(t, "translated_fields"))
	long := strings.Repeat("x", 62_000)
	texts := object{"de": object{"about": long}, "fr": object{"about": long}}
	for part := range 18 {
		operations, people := make([]object, 30), make([]object, 30)
		for i := range operations {
			address := fmt.Sprintf("p%d-%d@example.org", part, i)
			operations[i] = creating(object{"email": address, "about": "y", "translations": texts})
			people[i] = object{"email": address, "core_role": "speaker"}
		}
		s.bulkUnder("/contacts/bulk", "", operations...)
		s.create(200, object{"title": fmt.Sprint(part), "participants": people})
	}
	for _, shown := range s.list().Results {
		for _, person := range shown.list("participants") {
			require.Equal(t, "y", person["about"])
		}
	}
	s.namesASize(s.send(400, http.MethodGet, "/sessions?expand=translated_fields", nil))
}

// TestAParentOfFiveThousandSpeakersIsAnswered: 50 subsessions of 100 people whose names
// are as long as can be are more than 30 MB. The parent is shown without them.
func TestAParentOfFiveThousandSpeakersIsAnswered(t *testing.T) {
	s := newTroupe(newDesk(t, "speaker_acceptance"))
	name := strings.Repeat("ä", 255)
	people := s.crew(100, object{"first_name": name, "last_name": name, "company_name": name, "title": name, "about": "y"})
	parent := s.create(200, object{"title": "A", "participants": people}).id()
	operations := make([]object, 50)
	for i := range operations {
		operations[i] = creating(object{
			"title": fmt.Sprint("S", i), "parent_session_id": parent, "participants": people, "description": strings.Repeat("x", 60_000),
		})
	}
	for part := range slices.Chunk(operations, 25) {
		s.bulk(part...)
	}
	const expand = "expand=subsession_details"
	for _, shown := range []entity{
		s.get(200, parent), s.get(200, parent, expand), s.put(200, parent, object{"title": "B"}), s.list("page_size=1").Results[0],
		s.list("page_size=25", expand).Results[0], s.packed(200, http.MethodGet, "/sessions/"+parent, nil),
	} {
		inBrief(t, shown)
		require.Empty(t, shown.list("subsessions"))
		require.Contains(t, shown["omitted"], "subsessions")
		require.Equal(t, name, shown.list("participants")[0]["last_name"])
	}
	require.Contains(t, s.get(200, parent, expand)["omitted"], "subsessions.status")
	outcome := s.bulk(updating(parent, object{"title": "C"}))
	require.Equal(t, "success", outcome.Results[0]["status"])
}
