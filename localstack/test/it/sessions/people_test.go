package sessions_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// profileKeys are the properties of a contact within a session (gaps.md section 2.1).
var profileKeys = []string{
	"id", "friendly_id", "full_name", "first_name", "last_name", "email", "created_at", "updated_at", "photo_url",
	"company_name", "title", "about", "phone_home", "phone_mobile", "address_line_1", "address_line_2", "address_city",
	"address_state", "address_postal_code", "address_country", "website_url", "linkedin_url", "twitter_url", "facebook_url",
	"instagram_url", "snapchat_username", "tiktok_username", "custom_fields",
}

func withKeys(more ...string) []string { return append(append([]string{}, profileKeys...), more...) }

// TestWhatASessionShowsOfAPerson: by the features that the event has.
func TestWhatASessionShowsOfAPerson(t *testing.T) {
	d := it.NewClient(t)
	for _, c := range []struct {
		features             []string
		participants, legacy []string
	}{
		{nil, nil, nil},
		{[]string{"participant_roles"}, nil, []string{"participant_role"}},
		{[]string{"speaker_acceptance"}, []string{"acceptance_status", "acceptance_invite_sent_at"}, []string{"acceptance_status"}},
		{[]string{"participant_roles", "speaker_acceptance"}, []string{"acceptance_status", "acceptance_invite_sent_at"},
			[]string{"participant_role", "acceptance_status"}},
	} {
		s := it.NewPeople(d.InNewEvent(c.features...))
		ann := s.AddContact("Ann", object{"company": "Acme", "phone": "+1 555 1", "address_country": 56, "tiktok_username": "ann"})
		id := s.Create(200, object{"title": "A", "participants": []object{s.Participant("Ann", "speaker")}}).ID()
		for name, shown := range map[string]entity{
			"get": s.Get(200, id), "list": s.List().Results[0], "search": s.Search(object{}).Results[0],
			"update": s.Put(200, id, object{"capacity": 1}), "fields": s.PutFields(200, id, object{}),
			"delete": s.Delete(200, id), "restore": s.Restore(200, id),
			"bulk": s.Bulk(it.Updating(id, object{"capacity": 2})).Data(t, 0),
		} {
			require.Len(t, shown.List("participants"), 1, name)
			person, legacy := shown.List("participants")[0], shown.List("speakers")[0]
			require.ElementsMatch(t, withKeys(append(c.participants, "participant_role", "session_participant_id")...), person.Keys(), name)
			require.ElementsMatch(t, withKeys(c.legacy...), legacy.Keys(), name)
			require.Equal(t, it.Pick(ann, profileKeys...), it.Pick(person, profileKeys...), name)
			require.Equal(t, it.Pick(ann, profileKeys...), it.Pick(legacy, profileKeys...), name)
			role := person["participant_role"].(object)
			require.NoError(t, uuid.Validate(role["id"].(string)), name)
			delete(role, "id")
			require.Equal(t, object{"slug": "speaker", "name": "Speaker", "name_plural": "Speakers", "core_role": "speaker"}, role, name)
			require.NoError(t, uuid.Validate(person.Text("session_participant_id")), name)
		}
	}
}

// TestPeopleStandInTheOrderOfRoles, then in their own order, then as they were sent.
func TestPeopleStandInTheOrderOfRoles(t *testing.T) {
	s := it.NewPeople(it.NewClient(t, "sessions_2_0"), "Ann", "Bob", "Cem", "Dee", "Eve")
	s.NewRole("Host", "moderator", object{"order": 0})
	s.NewRole("Guest", "speaker")
	made := s.Create(200, object{"title": "A", "participants": []object{
		s.Participant("Eve", "guest"), s.Participant("Ann", "moderator"), s.Participant("Bob", "speaker", object{"order": 2}),
		s.Participant("Cem", "speaker", object{"order": 1}), s.Participant("Dee", "speaker", object{"order": 2}),
		s.Participant("Ann", "chairperson"), s.Participant("Bob", "host"),
	}})
	order := []string{"Bob host", "Cem speaker", "Bob speaker", "Dee speaker", "Ann chairperson", "Ann moderator", "Eve guest"}
	for _, shown := range []entity{made, s.Get(200, made.ID()), s.Search(object{}).Results[0]} {
		require.Equal(t, order, billed(shown))
		require.Equal(t, []string{"Cem", "Bob", "Dee", "Eve"}, named(shown, "speakers"))
		require.Equal(t, []string{"Ann"}, named(shown, "chairpersons"))
		require.Equal(t, []string{"Bob", "Ann"}, named(shown, "moderators"))
	}
	s.Command("participant-role-update", object{"role_id": made.List("participants")[6].At("participant_role.id"), "order": 0, "name": "Star guest"})
	moved := s.Get(200, made.ID())
	require.ElementsMatch(t, []string{"Bob host", "Eve guest"}, billed(moved)[:2])
	require.Equal(t, order[1:6], billed(moved)[2:])
	star := it.ByID(t, moved.List("participants"), s.IDs["Eve"])
	require.Equal(t, "Star guest", star.At("participant_role.name"))
	require.Equal(t, "Guests", star.At("participant_role.name_plural"))
}

// TestAPersonInTwoRolesOfOneCoreStandsOnceInItsLegacyArray, in the first of them.
func TestAPersonInTwoRolesOfOneCoreStandsOnceInItsLegacyArray(t *testing.T) {
	s := it.NewPeople(it.NewClient(t, "sessions_2_0", "participant_roles"), "Ann", "Bob")
	s.NewRole("Keynote", "speaker")
	made := s.Create(200, object{"title": "A", "participants": []object{
		s.Participant("Ann", "keynote"), s.Participant("Bob", "keynote"), s.Participant("Ann", "speaker"),
	}})
	require.Equal(t, []string{"Ann speaker", "Ann keynote", "Bob keynote"}, billed(made))
	require.Equal(t, []string{"Ann", "Bob"}, named(made, "speakers"))
	require.Equal(t, []string{"speaker", "keynote"}, it.Texts(made.List("speakers"), "participant_role.slug"))
}

// TestADeletedRoleLeavesItsPeopleInItsCoreRole, once each, under the entry of the
// role itself where there is one.
func TestADeletedRoleLeavesItsPeopleInItsCoreRole(t *testing.T) {
	s := it.NewPeople(it.NewClient(t, "sessions_2_0"), "Ann", "Bob")
	keynote, host := s.NewRole("Keynote", "speaker"), s.NewRole("Host", "speaker")
	made := s.Create(200, object{"title": "A", "participants": []object{
		s.Participant("Ann", "keynote"), s.Participant("Bob", "keynote"), s.Participant("Ann", "speaker"), s.Participant("Bob", "host"),
	}})
	before := entriesOf(made)
	for _, role := range []entity{keynote, host} {
		s.Command("participant-role-delete", object{"role_id": role.ID()})
	}
	shown := s.Get(200, made.ID())
	require.Equal(t, []string{"Bob speaker", "Ann speaker"}, billed(shown))
	require.Equal(t, map[string]string{"Bob speaker": before["Bob keynote"], "Ann speaker": before["Ann speaker"]}, entriesOf(shown))
	require.Equal(t, made.List("participants")[0].At("participant_role.id"), shown.List("participants")[0].At("participant_role.id"))

	wrong := []object{s.Participant("Ann", "speaker"), {"contact_id": s.IDs["Bob"], "role_id": keynote.ID()}}
	it.RequireInvalid(t, s.Put(400, made.ID(), object{"participants": wrong}), "participants[1].role_id")
	it.RequireInvalid(t, s.Put(400, made.ID(), object{"participants": []object{s.Participant("Bob", "host")}}), "participants[0].role_slug")
	kept := s.Put(200, made.ID(), object{"participants": []object{s.Participant("Ann", "speaker"), s.Participant("Bob", "speaker")}})
	require.Equal(t, []string{"Ann speaker", "Bob speaker"}, billed(kept))
	require.Equal(t, entriesOf(shown), entriesOf(kept), "the entries as the client saw them")
}

// TestSubsessionsHavePeople: the minimal shape has its own speakers and participants,
// the full one all arrays.
func TestSubsessionsHavePeople(t *testing.T) {
	s := it.NewPeople(it.NewClient(t, "speaker_acceptance"), "Ann", "Bob")
	s.AddAccount("sponsor", "Acme")
	parent := s.Create(200, object{"title": "A", "participants": []object{s.Participant("Ann", "speaker")}}).ID()
	sub := s.NewSubsession(parent, "S", object{
		"participants": []object{s.Participant("Bob", "moderator"), s.Participant("Bob", "speaker"), s.Participant("Ann", "speaker", object{"order": 1})},
		"sponsor_ids":  s.AccountIDs("Acme"),
	})
	for _, shown := range []entity{s.Get(200, parent), s.Search(object{}).Results[0], s.Put(200, parent, object{"capacity": 1})} {
		require.Equal(t, []string{"Ann speaker"}, billed(shown))
		minimal := shown.List("subsessions")[0]
		require.Equal(t, []string{"Bob speaker", "Ann speaker", "Bob moderator"}, billed(minimal))
		require.Equal(t, []string{"Bob", "Ann"}, named(minimal, "speakers"))
		require.NotContains(t, minimal, "moderators")
		require.NotContains(t, minimal, "sponsors")
		require.Equal(t, sub["participants"], minimal["participants"])
	}
	for _, shown := range []entity{
		s.Get(200, parent, "expand=subsession_details"), s.List("expand=subsession_details").Results[0],
	} {
		full := shown.List("subsessions")[0]
		for _, name := range []string{"participants", "speakers", "chairpersons", "moderators", "sponsors", "exhibitors"} {
			require.Equal(t, sub[name], full[name], name)
		}
		require.Equal(t, []string{"Acme"}, it.Texts(full.List("sponsors"), "name"))
		require.Empty(t, shown.List("sponsors"))
	}
}

// TestAccountsOnASession: in the order sent, without their contacts.
func TestAccountsOnASession(t *testing.T) {
	s := it.NewPeople(it.NewClient(t), "Ann")
	acme := s.AddAccount("sponsor", "Acme", object{"address_country": "BE", "contacts": []object{{"contact_id": s.IDs["Ann"]}}})
	s.AddAccount("sponsor", "Bolt")
	s.AddAccount("exhibitor", "Acme")
	made := s.Create(200, object{"title": "A", "sponsor_ids": s.AccountIDs("Bolt", "Acme"), "exhibitor_ids": s.AccountIDs("Acme")})
	for _, shown := range []entity{made, s.Get(200, made.ID()), s.List().Results[0], s.Search(object{}).Results[0]} {
		require.Equal(t, []string{"Bolt", "Acme"}, it.Texts(shown.List("sponsors"), "name"))
		require.Equal(t, []string{"Acme"}, it.Texts(shown.List("exhibitors"), "name"))
		seen := shown.List("sponsors")[1]
		require.NotContains(t, seen, "contacts")
		require.Contains(t, acme, "contacts")
		for _, name := range seen.Keys() {
			if name != "updated_at" {
				require.Equal(t, acme[name], seen[name], name)
			}
		}
		require.Equal(t, "056", seen["address_coutnry"])
	}
	require.Empty(t, s.Put(200, made.ID(), object{"sponsor_ids": []string{}}).List("sponsors"))
	require.Equal(t, []string{"Acme"}, it.Texts(s.Get(200, made.ID()).List("exhibitors"), "name"), "what is not sent stays")
}

// TestTranslatedPeople: with expand=translated_fields, on subsessions too.
func TestTranslatedPeople(t *testing.T) {
	s := it.NewPeople(it.NewClient(t, "translated_fields"))
	s.AddContact("Ann", object{"about": "Hello", "translations": object{"de": object{"about": "Hallo"}}})
	s.AddAccount("sponsor", "Acme", object{"translations": object{"de": object{"description": "Seile"}}})
	people := object{"participants": []object{s.Participant("Ann", "speaker"), s.Participant("Ann", "chairperson")}, "sponsor_ids": s.AccountIDs("Acme")}
	parent := s.Create(200, it.Merged(people, object{"title": "A"})).ID()
	s.NewSubsession(parent, "S", people)
	plain := s.Get(200, parent)
	for _, shown := range []entity{plain.List("participants")[0], plain.List("speakers")[0], plain.List("sponsors")[0]} {
		require.NotContains(t, shown, "translated_fields")
	}
	x := []string{"expand=translated_fields,subsession_details"}
	for _, shown := range []entity{s.Get(200, parent, x...), s.List(x...).Results[0], s.Put(200, parent, object{"capacity": 1}, x...)} {
		for _, session := range []entity{shown, shown.List("subsessions")[0]} {
			for array, text := range map[string]string{"participants": "Hallo", "speakers": "Hallo", "chairpersons": "Hallo", "sponsors": "Seile"} {
				require.NotEmpty(t, session.List(array), array)
				for _, entry := range session.List(array) {
					require.Equal(t, []string{text}, it.Texts(entry.List("translated_fields"), "value"), array)
					require.Equal(t, []string{"de"}, it.Texts(entry.List("translated_fields"), "translated_language"), array)
				}
			}
		}
	}
}

// TestPeopleAreAsTheyAreNow: a change of a person or an account is seen on sessions
// at once, also where searches of people have filled the memory before.
func TestPeopleAreAsTheyAreNow(t *testing.T) {
	s := it.NewPeople(it.NewClient(t), "Ann")
	s.AddAccount("sponsor", "Acme")
	id := s.Create(200, object{"title": "A", "participants": []object{s.Participant("Ann", "speaker")}, "sponsor_ids": s.AccountIDs("Acme")}).ID()
	other := &it.People{Client: &it.Client{Stack: s.Instance(t), T: t}, IDs: s.IDs}
	for _, name := range []string{"Anna", "Anne"} {
		for _, at := range []*it.People{s, other} {
			at.Do(200, http.MethodPost, "/contacts", object{})
			at.Do(200, http.MethodPost, "/sponsors", object{})
			require.Len(t, at.Search(object{}).Results[0].List("participants"), 1)
		}
		s.Do(200, http.MethodPut, "/contacts/"+s.IDs["Ann"], object{"first_name": name})
		s.Do(200, http.MethodPut, "/sponsors/"+s.IDs["Acme"], object{"name": name})
		for _, at := range []*it.People{s, other} {
			for _, shown := range []entity{
				at.Get(200, id), at.List().Results[0], at.Search(object{}).Results[0], at.Put(200, id, object{"capacity": 1}),
			} {
				require.Equal(t, []string{name + " speaker"}, billed(shown))
				require.Equal(t, []string{name}, it.Texts(shown.List("sponsors"), "name"))
			}
		}
	}
	for _, at := range []*it.People{s, other} {
		s.DeletePerson("contacts", "Ann")
		require.Empty(t, billed(at.Search(object{}).Results[0]))
		it.RequireInvalid(t, at.Create(400, object{"title": "B", "participants": []object{s.Participant("Ann", "speaker")}}), "participants[0].contact_id")
		s.RestorePerson("contacts", "Ann")
		require.Len(t, billed(at.Get(200, id)), 1)
		at.Create(200, object{"title": "B", "participants": []object{s.Participant("Ann", "speaker")}})
	}
}

// TestWhoIsUnknownIsToldBeforeWhatTheEventLacks, and that before the session is looked
// for (gaps.md section 1).
func TestWhoIsUnknownIsToldBeforeWhatTheEventLacks(t *testing.T) {
	s := it.NewPeople(it.NewClient(t), "Ann")
	id, nobody := s.NewSessions("A")[0], uuid.NewString()
	owner := s.NewField("Owner", "user")
	lacking := object{"title": "B", "translations": object{"de": object{"title": "C"}}, "participants": []object{s.Participant("Ann", "speaker")}}
	for field, wrong := range map[string]object{
		"participants[0].contact_id": {"participants": []object{{"contact_id": nobody, "core_role": "speaker"}}},
		"participants[0].email":      {"participants": []object{{"email": "nobody@example.org", "core_role": "speaker"}}},
		"sponsor_ids[0]":             {"sponsor_ids": []string{nobody}},
		"exhibitor_ids[0]":           {"exhibitor_ids": []string{nobody}},
		owner:                        {"custom_fields": object{owner: 999}},
	} {
		body := it.Merged(lacking, wrong)
		for _, refusal := range []entity{s.Create(400, body), s.Put(400, id, body), s.Put(400, nobody, body)} {
			require.Equal(t, field, refusal.At("details.field"))
		}
		o := s.Bulk(it.Creating(body), it.Updating(id, body), it.Updating(nobody, body))
		for i := range 3 {
			require.Equal(t, field, o.Results[i].At("error.details.field"))
		}
	}
	it.RequireFeatureDisabled(t, s.Create(403, lacking))
	it.RequireFeatureDisabled(t, s.Put(403, id, lacking))
	it.RequireFeatureDisabled(t, s.Put(403, nobody, lacking))
	require.Equal(t, "A", s.Get(200, id)["title"])
}
