package it_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParticipantsReplaceTheListAndKeepTheirEntries: matched by contact and role,
// an entry keeps its id, and of its acceptance what is not sent.
func TestParticipantsReplaceTheListAndKeepTheirEntries(t *testing.T) {
	s := newTroupe(newDesk(t, "speaker_acceptance"), "Ann", "Bob", "Cem")
	const first, second = "2027-01-01T10:00:00.000Z", "2027-02-01T10:00:00.000Z"
	made := s.create(200, object{"title": "A", "participants": []object{
		s.part("Ann", "speaker", object{"acceptance_status": "accepted", "acceptance_invite_sent_at": first}), s.part("Bob", "speaker"),
	}})
	id, before := made.id(), entriesOf(made)
	acceptance := func(r entity, i int) []any {
		p := r.list("participants")[i]
		return []any{p["acceptance_status"], p["acceptance_invite_sent_at"]}
	}
	require.Equal(t, []any{"accepted", first}, acceptance(made, 0))
	require.Equal(t, []any{"pending", nil}, acceptance(made, 1))
	require.Equal(t, []string{"accepted", "pending"}, texts(made.list("speakers"), "acceptance_status"))

	changed := s.put(200, id, object{"participants": []object{
		s.part("Cem", "speaker"), s.part("Ann", "moderator"), {"email": " ANN@example.org", "core_role": "speaker"},
	}})
	require.Equal(t, []string{"Cem speaker", "Ann speaker", "Ann moderator"}, billed(changed))
	require.Equal(t, []any{"accepted", first}, acceptance(changed, 1))
	require.Equal(t, []any{"pending", nil}, acceptance(changed, 2), "another role is another entry")
	now := entriesOf(changed)
	require.Equal(t, before["Ann speaker"], now["Ann speaker"])
	require.NotContains(t, []string{before["Ann speaker"], before["Bob speaker"]}, now["Cem speaker"])

	sent := s.put(200, id, object{"participants": []object{
		s.part("Ann", "speaker", object{"acceptance_status": "declined"}), s.part("Cem", "speaker", object{"acceptance_invite_sent_at": second}),
	}})
	require.Equal(t, []any{"declined", first}, acceptance(sent, 0))
	require.Equal(t, []any{"pending", second}, acceptance(sent, 1))
	require.Equal(t, []any{"pending", nil}, acceptance(s.put(200, id, object{"participants": []object{
		s.part("Cem", "speaker", object{"acceptance_invite_sent_at": nil}),
	}}), 0))

	require.Equal(t, []string{"Cem speaker"}, billed(s.put(200, id, object{"title": "B"})), "what is not sent stays")
	require.Empty(t, billed(s.put(200, id, object{"participants": []object{}})))
	again := s.put(200, id, object{"participants": []object{s.part("Ann", "speaker")}})
	require.Equal(t, []any{"pending", nil}, acceptance(again, 0))
	require.NotEqual(t, before["Ann speaker"], entriesOf(again)["Ann speaker"], "who was taken off starts anew")
}

// TestWhoIsDeletedFromTheEventKeepsTheirPlace on its sessions, whatever these are
// given meanwhile.
func TestWhoIsDeletedFromTheEventKeepsTheirPlace(t *testing.T) {
	s := newTroupe(newDesk(t, "speaker_acceptance"), "Ann", "Bob", "Cem", "Dee")
	made := s.create(200, object{"title": "A", "participants": []object{
		s.part("Ann", "speaker"), s.part("Bob", "speaker", object{"acceptance_status": "accepted"}), s.part("Cem", "speaker"),
	}})
	id := made.id()
	s.fire("contacts", "Bob")
	for _, shown := range []entity{s.get(200, id), s.list().Results[0], s.search(object{}).Results[0], s.put(200, id, object{"capacity": 1})} {
		require.Equal(t, []string{"Ann speaker", "Cem speaker"}, billed(shown))
		require.Equal(t, []string{"Ann", "Cem"}, named(shown, "speakers"))
	}
	s.rehire("contacts", "Bob")
	back := s.get(200, id)
	require.Equal(t, []string{"Ann speaker", "Bob speaker", "Cem speaker"}, billed(back))
	require.Equal(t, entriesOf(made), entriesOf(back))
	require.Equal(t, "accepted", back.list("participants")[1]["acceptance_status"])
}

func TestAReplacedListKeepsWhoIsDeletedFromTheEvent(t *testing.T) {
	s := newTroupe(newDesk(t, "speaker_acceptance"), "Ann", "Bob", "Cem", "Dee")
	start := []object{s.part("Bob", "moderator"), s.part("Ann", "speaker"), s.part("Bob", "speaker", object{"acceptance_status": "declined"}), s.part("Cem", "speaker")}
	for _, c := range []struct {
		sent []object
		want []string
	}{
		{[]object{s.part("Ann", "speaker"), s.part("Cem", "speaker")}, []string{"Ann speaker", "Bob speaker", "Cem speaker", "Bob moderator"}},
		{[]object{s.part("Dee", "speaker"), s.part("Cem", "speaker"), s.part("Ann", "speaker")},
			[]string{"Dee speaker", "Bob speaker", "Cem speaker", "Ann speaker", "Bob moderator"}},
		{[]object{s.part("Cem", "moderator")}, []string{"Bob speaker", "Bob moderator", "Cem moderator"}},
		{[]object{}, []string{"Bob speaker", "Bob moderator"}},
	} {
		made := s.create(200, object{"title": "A", "participants": start})
		s.fire("contacts", "Bob")
		shown := s.put(200, made.id(), object{"participants": c.sent})
		require.Len(t, billed(shown), len(c.sent))
		require.NotContains(t, named(shown, "participants"), "Bob")
		s.rehire("contacts", "Bob")
		back := s.get(200, made.id())
		require.Equal(t, c.want, billed(back))
		before, now := entriesOf(made), entriesOf(back)
		for who, entry := range before {
			if _, still := now[who]; still {
				require.Equal(t, entry, now[who], who)
			}
		}
		for _, p := range back.list("participants") {
			if p.text("first_name") == "Bob" && p.at("participant_role.slug") == "speaker" {
				require.Equal(t, "declined", p["acceptance_status"])
			}
		}
		gone := s.put(200, made.id(), object{"participants": c.sent})
		require.Len(t, billed(gone), len(c.sent), "who is back on the event can be taken off")
		require.NotContains(t, named(gone, "participants"), "Bob")
	}
}

func TestAccountsThatAreDeletedKeepTheirPlace(t *testing.T) {
	s := newTroupe(newDesk(t))
	for _, role := range []string{"sponsor", "exhibitor"} {
		for _, name := range []string{"Acme", "Bolt", "Coil"} {
			s.sign(role, name)
		}
	}
	names := func(r entity) [][]string {
		return [][]string{texts(r.list("sponsors"), "name"), texts(r.list("exhibitors"), "name")}
	}
	all := s.accounts("Acme", "Bolt", "Coil")
	id := s.create(200, object{"title": "A", "sponsor_ids": all, "exhibitor_ids": all}).id()
	s.fire("sponsors", "Bolt")
	require.Equal(t, [][]string{{"Acme", "Coil"}, {"Acme", "Bolt", "Coil"}}, names(s.get(200, id)), "a role is deleted by itself")
	isInvalid(t, s.put(400, id, object{"sponsor_ids": s.accounts("Acme", "Bolt")}), "sponsor_ids[1]")
	require.Equal(t, [][]string{{"Coil", "Acme"}, {"Acme", "Bolt", "Coil"}}, names(s.put(200, id, object{"sponsor_ids": s.accounts("Coil", "Acme")})))
	require.Equal(t, [][]string{{"Coil", "Acme"}, {"Coil"}}, names(s.put(200, id, object{"exhibitor_ids": s.accounts("Coil")})))
	s.rehire("sponsors", "Bolt")
	require.Equal(t, [][]string{{"Coil", "Bolt", "Acme"}, {"Coil"}}, names(s.get(200, id)))
	require.Equal(t, [][]string{{"Coil", "Bolt", "Acme"}, {"Coil"}}, names(s.search(object{}).Results[0]))
	require.Equal(t, [][]string{{}, {"Coil"}}, names(s.put(200, id, object{"sponsor_ids": []string{}})))
}

// TestRolesArePerSession: the same person is another one on another session.
func TestRolesArePerSession(t *testing.T) {
	s := newTroupe(newDesk(t), "Ann")
	one := s.create(200, object{"title": "A", "participants": []object{s.part("Ann", "speaker")}})
	two := s.create(200, object{"title": "B", "participants": []object{s.part("Ann", "moderator")}})
	require.NotEqual(t, one.list("participants")[0]["session_participant_id"], two.list("participants")[0]["session_participant_id"])
	s.put(200, one.id(), object{"participants": []object{}})
	require.Equal(t, []string{"Ann moderator"}, billed(s.get(200, two.id())))
}

// TestBulkCarriesPeople: by id and by address, each operation by itself.
func TestBulkCarriesPeople(t *testing.T) {
	s := newTroupe(newDesk(t), "Ann", "Bob", "Cem")
	s.sign("sponsor", "Acme")
	id := s.create(200, object{"title": "A", "participants": []object{s.part("Ann", "speaker"), s.part("Cem", "speaker")}}).id()
	before := entriesOf(s.get(200, id))
	s.fire("contacts", "Cem")
	byAddress := func(name, role string) object { return object{"email": emailOf(name), "core_role": role} }
	o := s.bulk(
		updating(id, object{"participants": []object{byAddress("Ann", "speaker"), s.part("Bob", "speaker")}}),
		creating(object{"title": "B", "participants": []object{byAddress("Bob", "chairperson"), byAddress("Ann", "chairperson")}}),
		creating(object{"title": "C", "participants": []object{byAddress("Bob", "speaker"), s.part("Cem", "speaker")}}),
		creating(object{"title": "D", "participants": []object{byAddress("Nobody", "speaker")}}),
		creating(object{"title": "E", "sponsor_ids": s.accounts("Acme")}),
		creating(object{"title": "F", "exhibitor_ids": s.accounts("Acme")}),
		updating(id, object{"participants": []object{s.part("Bob", "speaker")}}),
		creating(object{"title": "G", "participants": []object{s.part("Bob", "speaker"), byAddress("Bob", "speaker")}}),
		creating(object{"title": "H", "participants": []object{s.part("Bob", "speaker"), {"email": 7}}}),
	)
	require.Equal(t, []string{"Ann speaker", "Bob speaker"}, billed(o.data(t, 0)))
	require.Equal(t, []string{"Bob chairperson", "Ann chairperson"}, billed(o.data(t, 1)))
	o.failed(t, 2, "VALIDATION_ERROR", "participants[1].contact_id")
	o.failed(t, 3, "VALIDATION_ERROR", "participants[0].email")
	require.Equal(t, []string{"Acme"}, texts(o.data(t, 4).list("sponsors"), "name"))
	o.failed(t, 5, "VALIDATION_ERROR", "exhibitor_ids[0]")
	require.Equal(t, []string{"Bob speaker"}, billed(o.data(t, 6)), "the earlier ones are seen")
	o.failed(t, 7, "VALIDATION_ERROR", "participants[1].email")
	o.failed(t, 8, "VALIDATION_ERROR", "participants[1].email")
	s.rehire("contacts", "Cem")
	back := s.get(200, id)
	require.Equal(t, []string{"Bob speaker", "Cem speaker"}, billed(back))
	require.Equal(t, before["Cem speaker"], entriesOf(back)["Cem speaker"])
	require.Equal(t, 3, s.search(object{}).Pagination.TotalResults)
}

// TestAHundredPeopleFit beside as many who are hidden and keep their place.
func TestAHundredPeopleFit(t *testing.T) {
	s := newTroupe(newDesk(t))
	people := s.speakers(100)
	s.hire("Late")
	id := s.create(200, object{"title": "A", "participants": people}).id()
	isInvalid(t, s.put(400, id, object{"participants": append(people, s.part("Late", "speaker"))}), "participants")
	for _, name := range []string{"P0", "P1", "P2"} {
		s.fire("contacts", name)
	}
	shown := s.put(200, id, object{"participants": append(slices.Clone(people[3:]), s.part("Late", "speaker"))})
	require.Len(t, billed(shown), 98)
	for _, name := range []string{"P0", "P1", "P2"} {
		s.rehire("contacts", name)
	}
	all := billed(s.search(object{}).Results[0])
	require.Len(t, all, 101)
	require.Equal(t, []string{"P0 speaker", "P1 speaker", "P2 speaker", "P3 speaker"}, all[:4])
	s.put(400, id, object{"participants": append(people, s.part("Late", "speaker"))})
	for name := range s.ids {
		s.fire("contacts", name)
	}
	fresh := newTroupe(s.desk)
	for part := range 2 {
		var others []object
		for i := range 50 {
			name := fmt.Sprintf("Q%d", part*50+i)
			fresh.hire(name)
			others = append(others, fresh.part(name, "speaker"))
		}
		s.put(200, id, object{"participants": others})
	}
	for name := range s.ids {
		s.rehire("contacts", name)
	}
	require.Len(t, billed(s.get(200, id)), 151, "the first fifty were seen and taken out")
}

// TestAHundredAccountsFit as people do.
func TestAHundredAccountsFit(t *testing.T) {
	s := newTroupe(newDesk(t))
	names := make([]string, 102)
	for i := range names {
		names[i] = fmt.Sprint("Acme ", i)
		for _, role := range []string{"sponsor", "exhibitor"} {
			s.sign(role, names[i])
		}
	}
	for role, property := range map[string]string{"sponsors": "sponsor_ids", "exhibitors": "exhibitor_ids"} {
		id := s.create(200, object{"title": "A", property: s.accounts(names[:100]...)}).id()
		isInvalid(t, s.put(400, id, object{property: s.accounts(names[:101]...)}), property)
		for _, name := range names[:3] {
			s.fire(role, name)
		}
		require.Len(t, s.put(200, id, object{property: s.accounts(names[3:101]...)}).list(role), 98)
		for _, name := range names[:3] {
			s.rehire(role, name)
		}
		require.Equal(t, names[:101], texts(s.get(200, id).list(role), "name"))
	}
}

// TestADuplicateHasPeople, with entries of its own.
func TestADuplicateHasPeople(t *testing.T) {
	s := newTroupe(newDesk(t, "sessions_2_0"), "Ann")
	s.sign("sponsor", "Acme")
	one := s.create(200, object{"title": "A", "participants": []object{s.part("Ann", "speaker")}, "sponsor_ids": s.accounts("Acme")})
	s.done("session-duplicate", object{"session_id": one.id()})
	found := s.list().Results
	require.Len(t, found, 2)
	require.Equal(t, billed(found[0]), billed(found[1]))
	require.Equal(t, found[0]["sponsors"], found[1]["sponsors"])
	require.NotEqual(t, entriesOf(found[0]), entriesOf(found[1]))
}

// TestCustomRolesNeedTheirFeature: also where it was switched off after they were
// made. Who has one keeps it for as long as the people are not written.
func TestCustomRolesNeedTheirFeature(t *testing.T) {
	s := newTroupe(newDesk(t, "sessions_2_0"), "Ann", "Bob")
	host := s.role("Host", "moderator").id()
	byID := object{"contact_id": s.ids["Ann"], "role_id": host}
	id := s.create(200, object{"title": "A", "participants": []object{byID}}).id()
	s.feature("sessions_2_0", false)
	plain := object{"title": "B", "participants": []object{s.part("Bob", "moderator"), {"contact_id": s.ids["Ann"], "core_role": "moderator"}}}
	for _, custom := range []object{byID, s.part("Bob", "host")} {
		wrong := object{"title": "C", "participants": []object{s.part("Bob", "speaker"), custom}}
		isForbidden(t, s.create(403, wrong))
		isForbidden(t, s.put(403, id, wrong))
		o := s.bulk(creating(wrong), updating(id, wrong), creating(plain))
		o.failed(t, 0, "FEATURE_NOT_ENABLED", "")
		o.failed(t, 1, "FEATURE_NOT_ENABLED", "")
		require.Equal(t, []string{"Bob moderator", "Ann moderator"}, billed(o.data(t, 2)))
	}
	kept := s.put(200, id, object{"capacity": 1})
	require.Equal(t, []any{"A", []string{"Ann host"}}, []any{kept["title"], billed(kept)})
	require.Equal(t, 3, s.search(object{}).Pagination.TotalResults)
	s.feature("sessions_2_0", true)
	require.Equal(t, []string{"Bob host"}, billed(s.put(200, id, object{"participants": []object{s.part("Bob", "host")}})))
}
