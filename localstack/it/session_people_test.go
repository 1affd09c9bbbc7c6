package it_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
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
	d := newDesk(t)
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
		s := newTroupe(d.elsewhere(c.features...))
		ann := s.hire("Ann", object{"company": "Acme", "phone": "+1 555 1", "address_country": 56, "tiktok_username": "ann"})
		id := s.create(200, object{"title": "A", "participants": []object{s.part("Ann", "speaker")}}).id()
		for name, shown := range map[string]entity{
			"get": s.get(200, id), "list": s.list().Results[0], "search": s.search(object{}).Results[0],
			"update": s.put(200, id, object{"capacity": 1}), "fields": s.fields(200, id, object{}),
			"delete": s.remove(200, id), "restore": s.restore(200, id),
			"bulk": s.bulk(updating(id, object{"capacity": 2})).data(t, 0),
		} {
			require.Len(t, shown.list("participants"), 1, name)
			person, legacy := shown.list("participants")[0], shown.list("speakers")[0]
			require.ElementsMatch(t, withKeys(append(c.participants, "participant_role", "session_participant_id")...), person.keys(), name)
			require.ElementsMatch(t, withKeys(c.legacy...), legacy.keys(), name)
			require.Equal(t, pick(ann, profileKeys...), pick(person, profileKeys...), name)
			require.Equal(t, pick(ann, profileKeys...), pick(legacy, profileKeys...), name)
			role := person["participant_role"].(object)
			require.NoError(t, uuid.Validate(role["id"].(string)), name)
			delete(role, "id")
			require.Equal(t, object{"slug": "speaker", "name": "Speaker", "name_plural": "Speakers", "core_role": "speaker"}, role, name)
			require.NoError(t, uuid.Validate(person.text("session_participant_id")), name)
		}
	}
}

// TestPeopleStandInTheOrderOfRoles, then in their own order, then as they were sent.
func TestPeopleStandInTheOrderOfRoles(t *testing.T) {
	s := newTroupe(newDesk(t, "sessions_2_0"), "Ann", "Bob", "Cem", "Dee", "Eve")
	s.role("Host", "moderator", object{"order": 0})
	s.role("Guest", "speaker")
	made := s.create(200, object{"title": "A", "participants": []object{
		s.part("Eve", "guest"), s.part("Ann", "moderator"), s.part("Bob", "speaker", object{"order": 2}),
		s.part("Cem", "speaker", object{"order": 1}), s.part("Dee", "speaker", object{"order": 2}),
		s.part("Ann", "chairperson"), s.part("Bob", "host"),
	}})
	order := []string{"Bob host", "Cem speaker", "Bob speaker", "Dee speaker", "Ann chairperson", "Ann moderator", "Eve guest"}
	for _, shown := range []entity{made, s.get(200, made.id()), s.search(object{}).Results[0]} {
		require.Equal(t, order, billed(shown))
		require.Equal(t, []string{"Cem", "Bob", "Dee", "Eve"}, named(shown, "speakers"))
		require.Equal(t, []string{"Ann"}, named(shown, "chairpersons"))
		require.Equal(t, []string{"Bob", "Ann"}, named(shown, "moderators"))
	}
	s.done("participant-role-update", object{"role_id": made.list("participants")[6].at("participant_role.id"), "order": 0, "name": "Star guest"})
	moved := s.get(200, made.id())
	require.ElementsMatch(t, []string{"Bob host", "Eve guest"}, billed(moved)[:2])
	require.Equal(t, order[1:6], billed(moved)[2:])
	star := byID(t, moved.list("participants"), s.ids["Eve"])
	require.Equal(t, "Star guest", star.at("participant_role.name"))
	require.Equal(t, "Guests", star.at("participant_role.name_plural"))
}

// TestAPersonInTwoRolesOfOneCoreStandsOnceInItsLegacyArray, in the first of them.
func TestAPersonInTwoRolesOfOneCoreStandsOnceInItsLegacyArray(t *testing.T) {
	s := newTroupe(newDesk(t, "sessions_2_0", "participant_roles"), "Ann", "Bob")
	s.role("Keynote", "speaker")
	made := s.create(200, object{"title": "A", "participants": []object{
		s.part("Ann", "keynote"), s.part("Bob", "keynote"), s.part("Ann", "speaker"),
	}})
	require.Equal(t, []string{"Ann speaker", "Ann keynote", "Bob keynote"}, billed(made))
	require.Equal(t, []string{"Ann", "Bob"}, named(made, "speakers"))
	require.Equal(t, []string{"speaker", "keynote"}, texts(made.list("speakers"), "participant_role.slug"))
}

// TestADeletedRoleLeavesItsPeopleInItsCoreRole, once each, under the entry of the
// role itself where there is one.
func TestADeletedRoleLeavesItsPeopleInItsCoreRole(t *testing.T) {
	s := newTroupe(newDesk(t, "sessions_2_0"), "Ann", "Bob")
	keynote, host := s.role("Keynote", "speaker"), s.role("Host", "speaker")
	made := s.create(200, object{"title": "A", "participants": []object{
		s.part("Ann", "keynote"), s.part("Bob", "keynote"), s.part("Ann", "speaker"), s.part("Bob", "host"),
	}})
	before := entriesOf(made)
	for _, role := range []entity{keynote, host} {
		s.done("participant-role-delete", object{"role_id": role.id()})
	}
	shown := s.get(200, made.id())
	require.Equal(t, []string{"Bob speaker", "Ann speaker"}, billed(shown))
	require.Equal(t, map[string]string{"Bob speaker": before["Bob keynote"], "Ann speaker": before["Ann speaker"]}, entriesOf(shown))
	require.Equal(t, made.list("participants")[0].at("participant_role.id"), shown.list("participants")[0].at("participant_role.id"))

	wrong := []object{s.part("Ann", "speaker"), {"contact_id": s.ids["Bob"], "role_id": keynote.id()}}
	isInvalid(t, s.put(400, made.id(), object{"participants": wrong}), "participants[1].role_id")
	isInvalid(t, s.put(400, made.id(), object{"participants": []object{s.part("Bob", "host")}}), "participants[0].role_slug")
	kept := s.put(200, made.id(), object{"participants": []object{s.part("Ann", "speaker"), s.part("Bob", "speaker")}})
	require.Equal(t, []string{"Ann speaker", "Bob speaker"}, billed(kept))
	require.Equal(t, entriesOf(shown), entriesOf(kept), "the entries as the client saw them")
}

// TestSubsessionsHavePeople: the minimal shape has its own speakers and participants,
// the full one all arrays.
func TestSubsessionsHavePeople(t *testing.T) {
	s := newTroupe(newDesk(t, "speaker_acceptance"), "Ann", "Bob")
	s.sign("sponsor", "Acme")
	parent := s.create(200, object{"title": "A", "participants": []object{s.part("Ann", "speaker")}}).id()
	sub := s.sub(parent, "S", object{
		"participants": []object{s.part("Bob", "moderator"), s.part("Bob", "speaker"), s.part("Ann", "speaker", object{"order": 1})},
		"sponsor_ids":  s.accounts("Acme"),
	})
	for _, shown := range []entity{s.get(200, parent), s.search(object{}).Results[0], s.put(200, parent, object{"capacity": 1})} {
		require.Equal(t, []string{"Ann speaker"}, billed(shown))
		minimal := shown.list("subsessions")[0]
		require.Equal(t, []string{"Bob speaker", "Ann speaker", "Bob moderator"}, billed(minimal))
		require.Equal(t, []string{"Bob", "Ann"}, named(minimal, "speakers"))
		require.NotContains(t, minimal, "moderators")
		require.NotContains(t, minimal, "sponsors")
		require.Equal(t, sub["participants"], minimal["participants"])
	}
	for _, shown := range []entity{
		s.get(200, parent, "expand=subsession_details"), s.list("expand=subsession_details").Results[0],
	} {
		full := shown.list("subsessions")[0]
		for _, name := range []string{"participants", "speakers", "chairpersons", "moderators", "sponsors", "exhibitors"} {
			require.Equal(t, sub[name], full[name], name)
		}
		require.Equal(t, []string{"Acme"}, texts(full.list("sponsors"), "name"))
		require.Empty(t, shown.list("sponsors"))
	}
}

// TestAccountsOnASession: in the order sent, without their contacts.
func TestAccountsOnASession(t *testing.T) {
	s := newTroupe(newDesk(t), "Ann")
	acme := s.sign("sponsor", "Acme", object{"address_country": "BE", "contacts": []object{{"contact_id": s.ids["Ann"]}}})
	s.sign("sponsor", "Bolt")
	s.sign("exhibitor", "Acme")
	made := s.create(200, object{"title": "A", "sponsor_ids": s.accounts("Bolt", "Acme"), "exhibitor_ids": s.accounts("Acme")})
	for _, shown := range []entity{made, s.get(200, made.id()), s.list().Results[0], s.search(object{}).Results[0]} {
		require.Equal(t, []string{"Bolt", "Acme"}, texts(shown.list("sponsors"), "name"))
		require.Equal(t, []string{"Acme"}, texts(shown.list("exhibitors"), "name"))
		seen := shown.list("sponsors")[1]
		require.NotContains(t, seen, "contacts")
		require.Contains(t, acme, "contacts")
		for _, name := range seen.keys() {
			if name != "updated_at" {
				require.Equal(t, acme[name], seen[name], name)
			}
		}
		require.Equal(t, "056", seen["address_coutnry"])
	}
	require.Empty(t, s.put(200, made.id(), object{"sponsor_ids": []string{}}).list("sponsors"))
	require.Equal(t, []string{"Acme"}, texts(s.get(200, made.id()).list("exhibitors"), "name"), "what is not sent stays")
}

// TestTranslatedPeople: with expand=translated_fields, on subsessions too.
func TestTranslatedPeople(t *testing.T) {
	s := newTroupe(newDesk(t, "translated_fields"))
	s.hire("Ann", object{"about": "Hello", "translations": object{"de": object{"about": "Hallo"}}})
	s.sign("sponsor", "Acme", object{"translations": object{"de": object{"description": "Seile"}}})
	people := object{"participants": []object{s.part("Ann", "speaker"), s.part("Ann", "chairperson")}, "sponsor_ids": s.accounts("Acme")}
	parent := s.create(200, merged(people, object{"title": "A"})).id()
	s.sub(parent, "S", people)
	plain := s.get(200, parent)
	for _, shown := range []entity{plain.list("participants")[0], plain.list("speakers")[0], plain.list("sponsors")[0]} {
		require.NotContains(t, shown, "translated_fields")
	}
	x := []string{"expand=translated_fields,subsession_details"}
	for _, shown := range []entity{s.get(200, parent, x...), s.list(x...).Results[0], s.put(200, parent, object{"capacity": 1}, x...)} {
		for _, session := range []entity{shown, shown.list("subsessions")[0]} {
			for array, text := range map[string]string{"participants": "Hallo", "speakers": "Hallo", "chairpersons": "Hallo", "sponsors": "Seile"} {
				require.NotEmpty(t, session.list(array), array)
				for _, entry := range session.list(array) {
					require.Equal(t, []string{text}, texts(entry.list("translated_fields"), "value"), array)
					require.Equal(t, []string{"de"}, texts(entry.list("translated_fields"), "translated_language"), array)
				}
			}
		}
	}
}

// TestPeopleAreAsTheyAreNow: a change of a person or an account is seen on sessions
// at once, also where searches of people have filled the memory before.
func TestPeopleAreAsTheyAreNow(t *testing.T) {
	s := newTroupe(newDesk(t), "Ann")
	s.sign("sponsor", "Acme")
	id := s.create(200, object{"title": "A", "participants": []object{s.part("Ann", "speaker")}, "sponsor_ids": s.accounts("Acme")}).id()
	other := &troupe{&desk{s.Instance(t), t}, s.ids}
	for _, name := range []string{"Anna", "Anne"} {
		for _, at := range []*troupe{s, other} {
			at.send(200, http.MethodPost, "/contacts", object{})
			at.send(200, http.MethodPost, "/sponsors", object{})
			require.Len(t, at.search(object{}).Results[0].list("participants"), 1)
		}
		s.send(200, http.MethodPut, "/contacts/"+s.ids["Ann"], object{"first_name": name})
		s.send(200, http.MethodPut, "/sponsors/"+s.ids["Acme"], object{"name": name})
		for _, at := range []*troupe{s, other} {
			for _, shown := range []entity{
				at.get(200, id), at.list().Results[0], at.search(object{}).Results[0], at.put(200, id, object{"capacity": 1}),
			} {
				require.Equal(t, []string{name + " speaker"}, billed(shown))
				require.Equal(t, []string{name}, texts(shown.list("sponsors"), "name"))
			}
		}
	}
	for _, at := range []*troupe{s, other} {
		s.fire("contacts", "Ann")
		require.Empty(t, billed(at.search(object{}).Results[0]))
		isInvalid(t, at.create(400, object{"title": "B", "participants": []object{s.part("Ann", "speaker")}}), "participants[0].contact_id")
		s.rehire("contacts", "Ann")
		require.Len(t, billed(at.get(200, id)), 1)
		at.create(200, object{"title": "B", "participants": []object{s.part("Ann", "speaker")}})
	}
}

// TestWhoIsUnknownIsToldBeforeWhatTheEventLacks, and that before the session is looked
// for (gaps.md section 1).
func TestWhoIsUnknownIsToldBeforeWhatTheEventLacks(t *testing.T) {
	s := newTroupe(newDesk(t), "Ann")
	id, nobody := s.titled("A")[0], uuid.NewString()
	owner := s.field("Owner", "user")
	lacking := object{"title": "B", "translations": object{"de": object{"title": "C"}}, "participants": []object{s.part("Ann", "speaker")}}
	for field, wrong := range map[string]object{
		"participants[0].contact_id": {"participants": []object{{"contact_id": nobody, "core_role": "speaker"}}},
		"participants[0].email":      {"participants": []object{{"email": "nobody@example.org", "core_role": "speaker"}}},
		"sponsor_ids[0]":             {"sponsor_ids": []string{nobody}},
		"exhibitor_ids[0]":           {"exhibitor_ids": []string{nobody}},
		owner:                        {"custom_fields": object{owner: 999}},
	} {
		body := merged(lacking, wrong)
		for _, refusal := range []entity{s.create(400, body), s.put(400, id, body), s.put(400, nobody, body)} {
			require.Equal(t, field, refusal.at("details.field"))
		}
		o := s.bulk(creating(body), updating(id, body), updating(nobody, body))
		for i := range 3 {
			require.Equal(t, field, o.Results[i].at("error.details.field"))
		}
	}
	isForbidden(t, s.create(403, lacking))
	isForbidden(t, s.put(403, id, lacking))
	isForbidden(t, s.put(403, nobody, lacking))
	require.Equal(t, "A", s.get(200, id)["title"])
}
