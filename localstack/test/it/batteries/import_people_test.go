package batteries_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// ioSpeaker is a speaker as the file has it, which knows no e-mail addresses.
type ioSpeaker struct {
	ID, Name, Bio, Company, ThumbnailURL string
	SocialLinks                          struct{ GitHub, Website, Twitter, LinkedIn string }
}

// importSpeakers makes the speakers contacts, and returns what they must read as by
// the id they have in the file.
func importSpeakers(t *testing.T, s *stacktest.Stack, file ioProgramme) map[string]object {
	t.Helper()
	require.Len(t, file.Speakers, 423)
	ids := slices.Sorted(maps.Keys(file.Speakers))
	people := map[string]object{}
	var bodies []any
	nameless := 0
	for _, id := range ids {
		speaker := file.Speakers[id]
		require.Equal(t, id, speaker.ID)
		if strings.TrimSpace(speaker.Name) == "" {
			speaker.Name = "Speaker " + id[:8]
			t.Logf("speaker %s has no name in the file and is imported as %q", id, speaker.Name)
			nameless++
		}
		people[id] = speaker.expected()
		bodies = append(bodies, speaker.body())
	}
	require.Equal(t, 2, nameless)
	for i, id := range (&it.Client{Stack: s, T: t}).CreateAll("contacts", bodies) {
		people[ids[i]]["id"] = id
	}
	return people
}

// ioAddress is the address that a speaker is given.
func ioAddress(id string) string { return id + "@speakers.example" }

// expected is the contact as the API shows it after the import, but for its id.
func (s ioSpeaker) expected() object {
	first, last, _ := strings.Cut(strings.Join(strings.Fields(s.Name), " "), " ")
	photo := s.ThumbnailURL
	if !strings.HasPrefix(photo, "https://") {
		photo = "" // A picture must be had by https.
	}
	want := object{"email": ioAddress(s.ID), "full_name": strings.TrimSpace(first + " " + last)}
	for name, text := range map[string]string{
		"first_name": first, "last_name": last, "company_name": s.Company, "about": s.Bio, "photo_url": photo,
		"website_url": s.SocialLinks.Website, "twitter_url": s.SocialLinks.Twitter, "linkedin_url": s.SocialLinks.LinkedIn,
		"github": s.SocialLinks.GitHub,
	} {
		if want[name] = any(text); text == "" {
			want[name] = nil
		}
	}
	return want
}

// body is the request that makes the contact.
func (s ioSpeaker) body() object {
	body := s.expected()
	body["custom_fields"] = object{"github": body["github"]}
	delete(body, "github")
	delete(body, "full_name")
	return body
}

// participants are the entries for the session's speakers.
func (session ioSession) participants() []object {
	entries := []object{}
	for i, id := range session.Speakers {
		entries = append(entries, object{"email": ioAddress(id), "core_role": "speaker", "order": i})
	}
	return entries
}

// profileOf is what of a contact, however it is shown, came from the file.
func profileOf(shown entity) object {
	profile := object{"github": nil}
	for _, name := range strings.Fields("id email full_name first_name last_name company_name about photo_url website_url twitter_url linkedin_url") {
		profile[name] = shown[name]
	}
	for _, f := range shown.List("custom_fields") {
		profile[f.Text("internal_name")] = f["value"]
	}
	return profile
}

// requireProfiles wants each contact to be what was imported.
func requireProfiles(t *testing.T, people map[string]object, shown []entity) {
	t.Helper()
	for _, one := range shown {
		id, _, _ := strings.Cut(one.Text("email"), "@")
		require.Equal(t, people[id], profileOf(one))
	}
}

// speakersOf are the ids of a session's people, all of them speakers, in their order.
func speakersOf(t *testing.T, people map[string]object, session imported) []string {
	t.Helper()
	requireProfiles(t, people, session.People)
	requireProfiles(t, people, session.Speakers)
	for _, person := range session.People {
		require.Equal(t, "speaker", person.At("participant_role.slug"))
	}
	require.Equal(t, session.peopleIDs(), it.Texts(session.Speakers, "id"))
	return session.peopleIDs()
}

// attachments are the sessions of each person, oldest first.
type attachments map[string][]string

// requirePeople reads every speaker and attachment back in four ways, which must
// agree with one another; the first, by sessions, agreed with the file already.
func requirePeople(t *testing.T, d *it.Client, people map[string]object, sessions []imported) {
	t.Helper()
	bySessions := attachments{}
	for _, session := range sessions {
		for _, id := range session.peopleIDs() {
			bySessions[id] = append(bySessions[id], session.ID)
		}
	}
	require.Len(t, bySessions, 418, "five of the file's speakers are on no session")
	require.Equal(t, 452, bySessions.count())
	require.Equal(t, bySessions, byParticipants(t, d, people))
	require.Equal(t, bySessions, byContacts(t, d, people))
	requireSpeakers(t, d, people, sessions, bySessions)

	contacts := d.SearchAllPages("/contacts", object{})
	require.Len(t, contacts, len(people))
	requireProfiles(t, people, contacts)
}

func (session imported) peopleIDs() []string { return it.Texts(session.People, "id") }

func (a attachments) count() (n int) {
	for _, sessions := range a {
		n += len(sessions)
	}
	return n
}

// byParticipants are the attachments as the roles of participants tell them, in
// search and by address.
func byParticipants(t *testing.T, d *it.Client, people map[string]object) attachments {
	t.Helper()
	all := attachments{}
	shown := d.SearchAllPages("/participants", object{})
	requireProfiles(t, people, shown)
	for _, p := range shown {
		require.Len(t, p.List("roles"), 1)
		role := p.List("roles")[0]
		require.Equal(t, "speaker", role["slug"])
		require.Equal(t, p, d.Do(http.StatusOK, http.MethodGet, "/participants?email="+strings.ToUpper(p.Text("email")), nil))
		for _, id := range role["sessionIds"].([]any) {
			all[p.ID()] = append(all[p.ID()], id.(string))
		}
	}
	return all
}

// byContacts are the attachments as the sessions of contacts tell them, on the event
// and in the organization.
func byContacts(t *testing.T, d *it.Client, people map[string]object) attachments {
	t.Helper()
	all := attachments{}
	for _, want := range people {
		id := want["id"].(string)
		onEvent := d.Do(http.StatusOK, http.MethodGet, "/contacts/"+id+"/sessions", nil)
		everywhere := entity(d.Call(t, http.StatusOK, http.MethodGet, fmt.Sprintf("/v1/organization/%d/contacts/%s/sessions", d.Org, id), nil).JSON(t))
		for _, s := range everywhere.List("sessions") {
			require.Equal(t, float64(d.Event), s["event_id"])
			delete(s, "event_id")
		}
		require.Equal(t, onEvent, everywhere)
		if ids := it.Texts(onEvent.List("sessions"), "id"); len(ids) > 0 {
			all[id] = ids
			require.Equal(t, "accepted", onEvent["status"])
		}
	}
	return all
}

// requireSpeakers holds the search of speakers, whole and of each track, and the GET
// of each against the people of the sessions.
func requireSpeakers(t *testing.T, d *it.Client, people map[string]object, sessions []imported, want attachments) {
	t.Helper()
	speakers := d.SearchAllPages("/speakers", object{})
	requireProfiles(t, people, speakers)
	require.ElementsMatch(t, slices.Collect(maps.Keys(want)), it.Texts(speakers, "id"))
	for _, person := range people {
		id := person["id"].(string)
		if want[id] == nil {
			require.Equal(t, "Speaker not found", d.Do(http.StatusNotFound, http.MethodGet, "/speakers/"+id, nil)["message"])
			continue
		}
		require.Equal(t, person, profileOf(d.Do(http.StatusOK, http.MethodGet, "/speakers/"+id, nil)))
	}
	tracks := map[string]map[string]bool{}
	for _, session := range sessions {
		for _, id := range session.peopleIDs() {
			if tracks[session.Track.ID] == nil {
				tracks[session.Track.ID] = map[string]bool{}
			}
			tracks[session.Track.ID][id] = true
		}
	}
	delete(tracks, "")
	require.NotEmpty(t, tracks)
	for track, ids := range tracks {
		for _, search := range []string{"/speakers", "/participants"} {
			found := d.SearchAllPages(search, object{"trackIds": []string{track}})
			require.ElementsMatch(t, slices.Collect(maps.Keys(ids)), it.Texts(found, "id"), search)
		}
	}
}
