package limits_test

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

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api/encode"
)

// inBrief holds that each person on the session is shown without about and custom fields,
// and that the session says so.
func inBrief(t *testing.T, shown entity) {
	t.Helper()
	for _, name := range []string{"participants", "speakers"} {
		require.NotEmpty(t, shown.List(name))
		for _, person := range shown.List(name) {
			require.Contains(t, person, "first_name")
			require.NotContains(t, person, "about")
			require.NotContains(t, person, "custom_fields")
		}
		require.Contains(t, shown["omitted"], name+".about")
		require.Contains(t, shown["omitted"], name+".custom_fields")
	}
}

// packed sends a request of a client that takes gzip.
func packed(d *it.Client, status int, method, path string, body any) entity {
	d.T.Helper()
	answer := d.Call(d.T, status, method, d.EventPath(path), stacktest.WithHeaders(body, "Accept", "*/*", "Accept-Encoding", "gzip"))
	text := answer.Body
	if len(text) > 1<<10 || status == http.StatusOK {
		require.Equal(d.T, "gzip", answer.Header.Get("Content-Encoding"))
		plain, err := encode.Gunzip(text)
		require.NoError(d.T, err)
		text = plain
	}
	require.LessOrEqual(d.T, len(text), 30<<20)
	shown := entity{}
	require.NoError(d.T, json.Unmarshal(text, &shown))
	return shown
}

// namesASize holds that the refusal names a page size with which the list is answered.
func namesASize(t *it.People, refusal entity) {
	t.T.Helper()
	it.RequireInvalid(t.T, refusal, "page_size")
	size := regexp.MustCompile(`page_size of (\d+) or less`).FindStringSubmatch(refusal.Text("message"))
	require.NotNil(t.T, size, refusal)
	require.NotEmpty(t.T, t.List("page_size="+size[1]).Results)
}

// heavy is a client of an event whose contacts have 120 KB of custom fields each.
func heavy(t *testing.T) (s *it.People, fields object) {
	t.Helper()
	s = it.NewPeople(it.NewClient(t, "speaker_acceptance"))
	return s, s.AddHeavyFields()
}

// TestASessionOfHeavyPeopleIsShownInBrief by every operation that answers one, to a client
// that does not take gzip. One that does gets all of it.
func TestASessionOfHeavyPeopleIsShownInBrief(t *testing.T) {
	s, fields := heavy(t)
	people := s.AddHeavyPeople(30, object{"custom_fields": fields, "about": "y"})
	company := s.AddAccount("sponsor", "Acme", object{"description": "Ropes"}).ID()
	body := object{"title": "A", "participants": people, "sponsor_ids": []string{company}}
	made := s.Create(200, body)
	for _, shown := range []entity{
		made, s.Get(200, made.ID()), s.Put(200, made.ID(), object{"title": "B"}), s.List("page_size=1").Results[0],
		s.Bulk(it.Updating(made.ID(), object{"title": "C"})).Data(t, 0), s.List().Results[0],
	} {
		inBrief(t, shown)
		require.Len(t, shown.List("participants"), 30)
		require.Len(t, shown.List("speakers"), 30)
		require.Equal(t, "Ropes", shown.List("sponsors")[0]["description"])
	}
	chairs := make([]object, len(people))
	for i, person := range people {
		chairs[i] = object{"contact_id": person["contact_id"], "email": person["email"], "core_role": "chairperson"}
		maps.DeleteFunc(chairs[i], func(_ string, value any) bool { return value == nil })
	}
	s.Create(200, object{"title": "Part", "parent_session_id": made.ID(), "participants": chairs})
	whole := s.Get(200, made.ID(), "expand=subsession_details")
	require.NotContains(t, whole.List("subsessions")[0].List("chairpersons")[0], "about")
	require.Contains(t, whole["omitted"], "subsessions.chairpersons.about")
	few := s.Create(200, object{"title": "Few", "participants": people[:2]})
	require.NotContains(t, few, "omitted")
	require.Equal(t, "y", few.List("participants")[0]["about"])
	require.Len(t, few.List("participants")[0].List("custom_fields"), 2)
	refusal := s.Do(400, http.MethodGet, "/sessions?page_size=25", nil)
	require.Contains(t, refusal.Text("message"), "gzip")
	namesASize(s, refusal)

	page := packed(s.Client, 200, http.MethodGet, "/sessions?page_size=25", nil).List("results")
	require.Len(t, page, 2)
	for _, shown := range append(page, packed(s.Client, 200, http.MethodGet, "/sessions/"+made.ID(), nil)) {
		require.NotContains(t, shown, "omitted")
		require.Len(t, shown.List("participants")[0].List("custom_fields"), 2)
	}
}

// TestAPageOfMoreThanThirtyMegabytesIsRefused to a client that takes gzip, too.
func TestAPageOfMoreThanThirtyMegabytesIsRefused(t *testing.T) {
	s, fields := heavy(t)
	people := s.AddHeavyPeople(30, object{"custom_fields": fields, "about": "y"})
	for i := range 5 {
		s.Create(200, object{"title": fmt.Sprint(i), "participants": people})
	}
	refusal := packed(s.Client, 400, http.MethodGet, "/sessions?page_size=25", nil)
	it.RequireInvalid(t, refusal, "page_size")
	require.Contains(t, refusal.Text("message"), "page_size of 4 or less")
	require.NotContains(t, refusal.Text("message"), "gzip")
	require.Len(t, packed(s.Client, 200, http.MethodGet, "/sessions?page_size=4", nil).List("results"), 4)
}

// TestABulkOfHeavyPeopleIsAnswered, with a key too, and its repetition.
func TestABulkOfHeavyPeopleIsAnswered(t *testing.T) {
	s, fields := heavy(t)
	name := strings.Repeat("ä", 255) // In short they are long, so that the answer is not kept but made again.
	people := s.AddHeavyPeople(30, object{"custom_fields": fields, "first_name": name, "last_name": name, "company_name": name, "title": name})
	operations := make([]object, 25)
	for i := range operations {
		operations[i] = it.Creating(object{"title": fmt.Sprint("S", i), "participants": people})
	}
	made := s.BulkUnder("/sessions/bulk", "heavy", operations...)
	for range 3 {
		require.Equal(t, made, s.BulkUnder("/sessions/bulk", "heavy", operations...))
	}
	inBrief(t, made.Data(t, 0))
	for _, r := range made.Results {
		require.Equal(t, "success", r["status"])
	}
	shown := slices.IndexFunc(made.Results, func(r entity) bool { return r["data"] == nil })
	require.Positive(t, shown, "there is no room for all")
	for _, r := range made.Results[shown:] {
		require.NotContains(t, r, "data", "there was none for an earlier one of the same size")
	}
	namesASize(s, s.Do(400, http.MethodGet, "/sessions?page_size=25", nil))
	it.RequireInvalid(t, stacktest.Call[entity](s.Stack, 400, http.MethodPost, s.EventPath("/sessions"), object{}), "pageSize")
}

// TestContactsOfAccountsAreShownWhole whatever else there is of them: the contacts of an account
// have more custom fields than an answer may have bytes, also at the short size of fifty.
func TestContactsOfAccountsAreShownWhole(t *testing.T) {
	s, fields := heavy(t)
	n := it.Size(50, 90)
	for _, name := range []string{"A", "B"} {
		people := make([]object, n)
		for i := range people {
			people[i] = object{"email": fmt.Sprintf("%s%d@example.org", name, i)}
		}
		for part := range slices.Chunk(people, 30) {
			operations := make([]object, len(part))
			for i := range part {
				operations[i] = it.Creating(it.Merged(part[i], object{"about": "y", "custom_fields": fields}))
			}
			s.BulkUnder("/contacts/bulk", "", operations...)
		}
		s.AddAccount("sponsor", name, object{"contacts": people})
	}
	page := stacktest.Call[it.Page](s.Stack, 200, http.MethodPost, s.EventPath("/sponsors"), object{})
	require.Len(t, page.Results, 2)
	for _, account := range page.Results {
		require.Equal(t, slices.Repeat([]string{"y"}, n), it.Texts(account.List("contacts"), "about"))
		require.Equal(t, s.Do(200, http.MethodGet, "/sponsors/"+account.ID(), nil), account)
	}
}

// TestTranslationsThatAreNotShownTakeNoRoom on a page of sessions: 540 people have 67 MB
// of them.
func TestTranslationsThatAreNotShownTakeNoRoom(t *testing.T) {
	s := it.NewPeople(it.NewClient(t, "translated_fields"))
	long := strings.Repeat("x", 62_000)
	texts := object{"de": object{"about": long}, "fr": object{"about": long}}
	var all []object
	for part := range 18 {
		operations, people := make([]object, 30), make([]object, 30)
		for i := range operations {
			address := fmt.Sprintf("p%d-%d@example.org", part, i)
			operations[i] = it.Creating(object{"email": address, "about": "y", "translations": texts})
			people[i] = object{"email": address, "core_role": "speaker"}
		}
		s.BulkUnder("/contacts/bulk", "", operations...)
		s.Create(200, object{"title": fmt.Sprint(part), "participants": people})
		all = append(all, people...)
	}
	for _, shown := range s.List().Results {
		for _, person := range shown.List("participants") {
			require.Equal(t, "y", person["about"])
		}
	}
	namesASize(s, s.Do(400, http.MethodGet, "/sessions?expand=translated_fields", nil))
	parent := s.Create(200, object{"title": "All"}).ID()
	for people := range slices.Chunk(all, 90) {
		s.Create(200, object{"title": "Part", "parent_session_id": parent, "participants": people})
	}
	whole := s.Get(200, parent, "expand=translated_fields")
	require.Contains(t, whole["omitted"], "subsessions.participants.translated_fields")
	for _, sub := range whole.List("subsessions") {
		for _, person := range sub.List("participants") {
			require.NotContains(t, person, "translated_fields", "no empty list stands for what was not loaded")
		}
	}
}

// TestAParentOfFiveThousandSpeakersIsAnswered: 50 subsessions of 100 people whose names
// are as long as can be are more than 30 MB. The parent is shown without them. The short size
// asks for fewer forms of it, since each is made from all of them.
func TestAParentOfFiveThousandSpeakersIsAnswered(t *testing.T) {
	s := it.NewPeople(it.NewClient(t, "speaker_acceptance"))
	name := strings.Repeat("ä", 255)
	people := s.AddHeavyPeople(100, object{"first_name": name, "last_name": name, "company_name": name, "title": name, "about": "y"})
	parent := s.Create(200, object{"title": "A", "participants": people}).ID()
	operations := make([]object, 50)
	for i := range operations {
		operations[i] = it.Creating(object{
			"title": fmt.Sprint("S", i), "parent_session_id": parent, "participants": people, "description": strings.Repeat("x", 60_000),
		})
	}
	for part := range slices.Chunk(operations, 25) {
		s.Bulk(part...)
	}
	const expand = "expand=subsession_details"
	forms := []entity{s.Get(200, parent, expand), packed(s.Client, 200, http.MethodGet, "/sessions/"+parent, nil)}
	if it.Size(0, 1) == 1 {
		forms = append(forms, s.Get(200, parent), s.Put(200, parent, object{"title": "B"}),
			s.List("page_size=1").Results[0], s.List("page_size=25", expand).Results[0])
	}
	for _, shown := range forms {
		inBrief(t, shown)
		require.Empty(t, shown.List("subsessions"))
		require.Contains(t, shown["omitted"], "subsessions")
		require.Equal(t, name, shown.List("participants")[0]["last_name"])
	}
	require.Contains(t, forms[0]["omitted"], "subsessions.status")
	outcome := s.Bulk(it.Updating(parent, object{"title": "C"}))
	require.Equal(t, "success", outcome.Results[0]["status"])
}

// TestAPageThatRefersToTooManySessionsIsRefused: 11 parents have 48 subsessions of 128 KB each, which
// gzip does not make fewer. The size that the refusal names is answered, by the next refusal at the
// latest, since the answer has a limit of its own.
func TestAPageThatRefersToTooManySessionsIsRefused(t *testing.T) {
	s := it.NewPeople(it.NewClient(t))
	operations := make([]object, 24)
	for i := range 11 {
		parent := s.Create(200, object{"title": fmt.Sprint(i)}).ID()
		for j := range operations {
			operations[j] = it.Creating(object{"title": "Part", "parent_session_id": parent, "description": strings.Repeat(`"`, 64_000)})
		}
		s.Bulk(operations...)
		s.Bulk(operations...)
	}
	refusal := packed(s.Client, 400, http.MethodGet, "/sessions?page_size=25", nil)
	it.RequireInvalid(t, refusal, "page_size")
	require.Equal(t, "The page would refer to other sessions of more than 64 MB. Ask again with a page_size of 10 or less.", refusal["message"])
	require.Equal(t, refusal, packed(s.Client, 400, http.MethodGet, "/sessions?page_size=11", nil))
	next := packed(s.Client, 400, http.MethodGet, "/sessions?page_size=10", nil)
	size := regexp.MustCompile(`^The answer .* page_size of (\d+) or less`).FindStringSubmatch(next.Text("message"))
	require.NotNil(t, size, next)
	require.NotEmpty(t, packed(s.Client, 200, http.MethodGet, "/sessions?page_size="+size[1], nil).List("results"))
}

// TestASessionIsShownWithoutPeopleIfTheyAreTooLong: a character without a sign of its own is six
// bytes of JSON, and Lambda escapes its backslash once more.
func TestASessionIsShownWithoutPeopleIfTheyAreTooLong(t *testing.T) {
	s := it.NewPeople(it.NewClient(t))
	long := strings.Repeat("\x01", 255)
	body := object{}
	for _, name := range []string{"first_name", "last_name", "title", "company_name", "address_line_1", "address_line_2", "address_city",
		"address_state", "address_postal_code", "website_url", "facebook_url", "linkedin_url", "twitter_url", "instagram_url",
		"snapchat_username", "tiktok_username"} {
		body[name] = long
	}
	people := s.AddHeavyPeople(100, body)
	made := s.Create(200, object{"title": "A", "participants": people})
	for _, shown := range []entity{made, s.Get(200, made.ID()), s.Put(200, made.ID(), object{"title": "B"})} {
		require.Empty(t, shown.List("participants"))
		require.Empty(t, shown.List("speakers"))
		require.Subset(t, shown["omitted"], []any{"participants", "speakers"})
		require.NotContains(t, shown["omitted"], "moderators")
	}
	require.Len(t, packed(s.Client, 200, http.MethodGet, "/sessions/"+made.ID(), nil).List("participants"), 100)
}
