package sessions_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// TestParticipantsReplaceTheListAndKeepTheirEntries: matched by contact and role,
// an entry keeps its id, and of its acceptance what is not sent.
func TestParticipantsReplaceTheListAndKeepTheirEntries(t *testing.T) {
	stacktest.Everywhere(t)
	s := it.NewPeople(it.NewClient(t, "speaker_acceptance"), "Ann", "Bob", "Cem")
	const first, second = "2027-01-01T10:00:00.000Z", "2027-02-01T10:00:00.000Z"
	made := s.Create(200, object{"title": "A", "participants": []object{
		s.Participant("Ann", "speaker", object{"acceptance_status": "accepted", "acceptance_invite_sent_at": first}), s.Participant("Bob", "speaker"),
	}})
	id, before := made.ID(), entriesOf(made)
	acceptance := func(r entity, i int) []any {
		p := r.List("participants")[i]
		return []any{p["acceptance_status"], p["acceptance_invite_sent_at"]}
	}
	require.Equal(t, []any{"accepted", first}, acceptance(made, 0))
	require.Equal(t, []any{"pending", nil}, acceptance(made, 1))
	require.Equal(t, []string{"accepted", "pending"}, it.Texts(made.List("speakers"), "acceptance_status"))

	changed := s.Put(200, id, object{"participants": []object{
		s.Participant("Cem", "speaker"), s.Participant("Ann", "moderator"), {"email": " ANN@example.org", "core_role": "speaker"},
	}})
	require.Equal(t, []string{"Cem speaker", "Ann speaker", "Ann moderator"}, billed(changed))
	require.Equal(t, []any{"accepted", first}, acceptance(changed, 1))
	require.Equal(t, []any{"pending", nil}, acceptance(changed, 2), "another role is another entry")
	now := entriesOf(changed)
	require.Equal(t, before["Ann speaker"], now["Ann speaker"])
	require.NotContains(t, []string{before["Ann speaker"], before["Bob speaker"]}, now["Cem speaker"])

	sent := s.Put(200, id, object{"participants": []object{
		s.Participant("Ann", "speaker", object{"acceptance_status": "declined"}), s.Participant("Cem", "speaker", object{"acceptance_invite_sent_at": second}),
	}})
	require.Equal(t, []any{"declined", first}, acceptance(sent, 0))
	require.Equal(t, []any{"pending", second}, acceptance(sent, 1))
	require.Equal(t, []any{"pending", nil}, acceptance(s.Put(200, id, object{"participants": []object{
		s.Participant("Cem", "speaker", object{"acceptance_invite_sent_at": nil}),
	}}), 0))

	require.Equal(t, []string{"Cem speaker"}, billed(s.Put(200, id, object{"title": "B"})), "what is not sent stays")
	require.Empty(t, billed(s.Put(200, id, object{"participants": []object{}})))
	again := s.Put(200, id, object{"participants": []object{s.Participant("Ann", "speaker")}})
	require.Equal(t, []any{"pending", nil}, acceptance(again, 0))
	require.NotEqual(t, before["Ann speaker"], entriesOf(again)["Ann speaker"], "who was taken off starts anew")
}

// TestWhoIsDeletedFromTheEventKeepsTheirPlace on its sessions, whatever these are
// given meanwhile.
func TestWhoIsDeletedFromTheEventKeepsTheirPlace(t *testing.T) {
	s := it.NewPeople(it.NewClient(t, "speaker_acceptance"), "Ann", "Bob", "Cem", "Dee")
	made := s.Create(200, object{"title": "A", "participants": []object{
		s.Participant("Ann", "speaker"), s.Participant("Bob", "speaker", object{"acceptance_status": "accepted"}), s.Participant("Cem", "speaker"),
	}})
	id := made.ID()
	s.DeletePerson("contacts", "Bob")
	for _, shown := range []entity{s.Get(200, id), s.List().Results[0], s.Search(object{}).Results[0], s.Put(200, id, object{"capacity": 1})} {
		require.Equal(t, []string{"Ann speaker", "Cem speaker"}, billed(shown))
		require.Equal(t, []string{"Ann", "Cem"}, named(shown, "speakers"))
	}
	s.RestorePerson("contacts", "Bob")
	back := s.Get(200, id)
	require.Equal(t, []string{"Ann speaker", "Bob speaker", "Cem speaker"}, billed(back))
	require.Equal(t, entriesOf(made), entriesOf(back))
	require.Equal(t, "accepted", back.List("participants")[1]["acceptance_status"])
}

func TestAReplacedListKeepsWhoIsDeletedFromTheEvent(t *testing.T) {
	s := it.NewPeople(it.NewClient(t, "speaker_acceptance"), "Ann", "Bob", "Cem", "Dee")
	start := []object{s.Participant("Bob", "moderator"), s.Participant("Ann", "speaker"), s.Participant("Bob", "speaker", object{"acceptance_status": "declined"}), s.Participant("Cem", "speaker")}
	for _, c := range []struct {
		sent []object
		want []string
	}{
		{[]object{s.Participant("Ann", "speaker"), s.Participant("Cem", "speaker")}, []string{"Ann speaker", "Bob speaker", "Cem speaker", "Bob moderator"}},
		{[]object{s.Participant("Dee", "speaker"), s.Participant("Cem", "speaker"), s.Participant("Ann", "speaker")},
			[]string{"Dee speaker", "Bob speaker", "Cem speaker", "Ann speaker", "Bob moderator"}},
		{[]object{s.Participant("Cem", "moderator")}, []string{"Bob speaker", "Bob moderator", "Cem moderator"}},
		{[]object{}, []string{"Bob speaker", "Bob moderator"}},
	} {
		made := s.Create(200, object{"title": "A", "participants": start})
		s.DeletePerson("contacts", "Bob")
		shown := s.Put(200, made.ID(), object{"participants": c.sent})
		require.Len(t, billed(shown), len(c.sent))
		require.NotContains(t, named(shown, "participants"), "Bob")
		s.RestorePerson("contacts", "Bob")
		back := s.Get(200, made.ID())
		require.Equal(t, c.want, billed(back))
		before, now := entriesOf(made), entriesOf(back)
		for who, entry := range before {
			if _, still := now[who]; still {
				require.Equal(t, entry, now[who], who)
			}
		}
		for _, p := range back.List("participants") {
			if p.Text("first_name") == "Bob" && p.At("participant_role.slug") == "speaker" {
				require.Equal(t, "declined", p["acceptance_status"])
			}
		}
		gone := s.Put(200, made.ID(), object{"participants": c.sent})
		require.Len(t, billed(gone), len(c.sent), "who is back on the event can be taken off")
		require.NotContains(t, named(gone, "participants"), "Bob")
	}
}

func TestAccountsThatAreDeletedKeepTheirPlace(t *testing.T) {
	s := it.NewPeople(it.NewClient(t))
	for _, role := range []string{"sponsor", "exhibitor"} {
		for _, name := range []string{"Acme", "Bolt", "Coil"} {
			s.AddAccount(role, name)
		}
	}
	names := func(r entity) [][]string {
		return [][]string{it.Texts(r.List("sponsors"), "name"), it.Texts(r.List("exhibitors"), "name")}
	}
	all := s.AccountIDs("Acme", "Bolt", "Coil")
	id := s.Create(200, object{"title": "A", "sponsor_ids": all, "exhibitor_ids": all}).ID()
	s.DeletePerson("sponsors", "Bolt")
	require.Equal(t, [][]string{{"Acme", "Coil"}, {"Acme", "Bolt", "Coil"}}, names(s.Get(200, id)), "a role is deleted by itself")
	refusal := s.Put(400, id, object{"sponsor_ids": s.AccountIDs("Acme", "Bolt")})
	it.RequireInvalid(t, refusal, "sponsor_ids[1]")
	require.Equal(t, "There is no such sponsor on this event.", refusal["message"])
	require.Equal(t, [][]string{{"Coil", "Acme"}, {"Acme", "Bolt", "Coil"}}, names(s.Put(200, id, object{"sponsor_ids": s.AccountIDs("Coil", "Acme")})))
	require.Equal(t, [][]string{{"Coil", "Acme"}, {"Coil"}}, names(s.Put(200, id, object{"exhibitor_ids": s.AccountIDs("Coil")})))
	s.RestorePerson("sponsors", "Bolt")
	require.Equal(t, [][]string{{"Coil", "Bolt", "Acme"}, {"Coil"}}, names(s.Get(200, id)))
	require.Equal(t, [][]string{{"Coil", "Bolt", "Acme"}, {"Coil"}}, names(s.Search(object{}).Results[0]))
	require.Equal(t, [][]string{{}, {"Coil"}}, names(s.Put(200, id, object{"sponsor_ids": []string{}})))
}

// TestRolesArePerSession: the same person is another one on another session.
func TestRolesArePerSession(t *testing.T) {
	s := it.NewPeople(it.NewClient(t), "Ann")
	one := s.Create(200, object{"title": "A", "participants": []object{s.Participant("Ann", "speaker")}})
	two := s.Create(200, object{"title": "B", "participants": []object{s.Participant("Ann", "moderator")}})
	require.NotEqual(t, one.List("participants")[0]["session_participant_id"], two.List("participants")[0]["session_participant_id"])
	s.Put(200, one.ID(), object{"participants": []object{}})
	require.Equal(t, []string{"Ann moderator"}, billed(s.Get(200, two.ID())))
}

// TestBulkCarriesPeople: by id and by address, each operation by itself.
func TestBulkCarriesPeople(t *testing.T) {
	s := it.NewPeople(it.NewClient(t), "Ann", "Bob", "Cem")
	s.AddAccount("sponsor", "Acme")
	id := s.Create(200, object{"title": "A", "participants": []object{s.Participant("Ann", "speaker"), s.Participant("Cem", "speaker")}}).ID()
	before := entriesOf(s.Get(200, id))
	s.DeletePerson("contacts", "Cem")
	byAddress := func(name, role string) object { return object{"email": it.EmailOf(name), "core_role": role} }
	o := s.Bulk(
		it.Updating(id, object{"participants": []object{byAddress("Ann", "speaker"), s.Participant("Bob", "speaker")}}),
		it.Creating(object{"title": "B", "participants": []object{byAddress("Bob", "chairperson"), byAddress("Ann", "chairperson")}}),
		it.Creating(object{"title": "C", "participants": []object{byAddress("Bob", "speaker"), s.Participant("Cem", "speaker")}}),
		it.Creating(object{"title": "D", "participants": []object{byAddress("Nobody", "speaker")}}),
		it.Creating(object{"title": "E", "sponsor_ids": s.AccountIDs("Acme")}),
		it.Creating(object{"title": "F", "exhibitor_ids": s.AccountIDs("Acme")}),
		it.Updating(id, object{"participants": []object{s.Participant("Bob", "speaker")}}),
		it.Creating(object{"title": "G", "participants": []object{s.Participant("Bob", "speaker"), byAddress("Bob", "speaker")}}),
		it.Creating(object{"title": "H", "participants": []object{s.Participant("Bob", "speaker"), {"email": 7}}}),
	)
	require.Equal(t, []string{"Ann speaker", "Bob speaker"}, billed(o.Data(t, 0)))
	require.Equal(t, []string{"Bob chairperson", "Ann chairperson"}, billed(o.Data(t, 1)))
	o.Failed(t, 2, "VALIDATION_ERROR", "participants[1].contact_id")
	o.Failed(t, 3, "VALIDATION_ERROR", "participants[0].email")
	require.Equal(t, []string{"Acme"}, it.Texts(o.Data(t, 4).List("sponsors"), "name"))
	o.Failed(t, 5, "VALIDATION_ERROR", "exhibitor_ids[0]")
	require.Equal(t, []string{"Bob speaker"}, billed(o.Data(t, 6)), "the earlier ones are seen")
	o.Failed(t, 7, "VALIDATION_ERROR", "participants[1].email")
	o.Failed(t, 8, "VALIDATION_ERROR", "participants[1].email")
	s.RestorePerson("contacts", "Cem")
	back := s.Get(200, id)
	require.Equal(t, []string{"Bob speaker", "Cem speaker"}, billed(back))
	require.Equal(t, before["Cem speaker"], entriesOf(back)["Cem speaker"])
	require.Equal(t, 3, s.Search(object{}).Pagination.TotalResults)
}

// TestAHundredPeopleFit beside as many who are hidden and keep their place.
func TestAHundredPeopleFit(t *testing.T) {
	s := it.NewPeople(it.NewClient(t))
	people := s.AddSpeakers(100)
	s.AddContact("Late")
	id := s.Create(200, object{"title": "A", "participants": people}).ID()
	it.RequireInvalid(t, s.Put(400, id, object{"participants": append(people, s.Participant("Late", "speaker"))}), "participants")
	for _, name := range []string{"P0", "P1", "P2"} {
		s.DeletePerson("contacts", name)
	}
	shown := s.Put(200, id, object{"participants": append(slices.Clone(people[3:]), s.Participant("Late", "speaker"))})
	require.Len(t, billed(shown), 98)
	for _, name := range []string{"P0", "P1", "P2"} {
		s.RestorePerson("contacts", name)
	}
	all := billed(s.Search(object{}).Results[0])
	require.Len(t, all, 101)
	require.Equal(t, []string{"P0 speaker", "P1 speaker", "P2 speaker", "P3 speaker"}, all[:4])
	s.Put(400, id, object{"participants": append(people, s.Participant("Late", "speaker"))})
	for name := range s.IDs {
		s.DeletePerson("contacts", name)
	}
	fresh := it.NewPeople(s.Client)
	for part := range 2 {
		var others []object
		for i := range 50 {
			name := fmt.Sprintf("Q%d", part*50+i)
			fresh.AddContact(name)
			others = append(others, fresh.Participant(name, "speaker"))
		}
		s.Put(200, id, object{"participants": others})
	}
	for name := range s.IDs {
		s.RestorePerson("contacts", name)
	}
	require.Len(t, billed(s.Get(200, id)), 151, "the first fifty were seen and taken out")
}

// TestAHundredAccountsFit as people do.
func TestAHundredAccountsFit(t *testing.T) {
	s := it.NewPeople(it.NewClient(t))
	names := make([]string, 102)
	for i := range names {
		names[i] = fmt.Sprint("Acme ", i)
		for _, role := range []string{"sponsor", "exhibitor"} {
			s.AddAccount(role, names[i])
		}
	}
	for role, property := range map[string]string{"sponsors": "sponsor_ids", "exhibitors": "exhibitor_ids"} {
		id := s.Create(200, object{"title": "A", property: s.AccountIDs(names[:100]...)}).ID()
		it.RequireInvalid(t, s.Put(400, id, object{property: s.AccountIDs(names[:101]...)}), property)
		for _, name := range names[:3] {
			s.DeletePerson(role, name)
		}
		require.Len(t, s.Put(200, id, object{property: s.AccountIDs(names[3:101]...)}).List(role), 98)
		for _, name := range names[:3] {
			s.RestorePerson(role, name)
		}
		require.Equal(t, names[:101], it.Texts(s.Get(200, id).List(role), "name"))
	}
}

// TestADuplicateHasPeople, with entries of its own.
func TestADuplicateHasPeople(t *testing.T) {
	s := it.NewPeople(it.NewClient(t, "sessions_2_0"), "Ann")
	s.AddAccount("sponsor", "Acme")
	one := s.Create(200, object{"title": "A", "participants": []object{s.Participant("Ann", "speaker")}, "sponsor_ids": s.AccountIDs("Acme")})
	s.Command("session-duplicate", object{"session_id": one.ID()})
	found := s.List().Results
	require.Len(t, found, 2)
	require.Equal(t, billed(found[0]), billed(found[1]))
	require.Equal(t, found[0]["sponsors"], found[1]["sponsors"])
	require.NotEqual(t, entriesOf(found[0]), entriesOf(found[1]))
}

// TestCustomRolesNeedTheirFeature: also where it was switched off after they were
// made. Who has one keeps it for as long as the people are not written.
func TestCustomRolesNeedTheirFeature(t *testing.T) {
	s := it.NewPeople(it.NewClient(t, "sessions_2_0"), "Ann", "Bob")
	host := s.NewRole("Host", "moderator").ID()
	byID := object{"contact_id": s.IDs["Ann"], "role_id": host}
	id := s.Create(200, object{"title": "A", "participants": []object{byID}}).ID()
	s.SetFeature("sessions_2_0", false)
	plain := object{"title": "B", "participants": []object{s.Participant("Bob", "moderator"), {"contact_id": s.IDs["Ann"], "core_role": "moderator"}}}
	for _, custom := range []object{byID, s.Participant("Bob", "host")} {
		wrong := object{"title": "C", "participants": []object{s.Participant("Bob", "speaker"), custom}}
		it.RequireFeatureDisabled(t, s.Create(403, wrong))
		it.RequireFeatureDisabled(t, s.Put(403, id, wrong))
		o := s.Bulk(it.Creating(wrong), it.Updating(id, wrong), it.Creating(plain))
		o.Failed(t, 0, "FEATURE_NOT_ENABLED", "")
		o.Failed(t, 1, "FEATURE_NOT_ENABLED", "")
		require.Equal(t, []string{"Bob moderator", "Ann moderator"}, billed(o.Data(t, 2)))
	}
	kept := s.Put(200, id, object{"capacity": 1})
	require.Equal(t, []any{"A", []string{"Ann host"}}, []any{kept["title"], billed(kept)})
	require.Equal(t, 3, s.Search(object{}).Pagination.TotalResults)
	s.SetFeature("sessions_2_0", true)
	require.Equal(t, []string{"Bob host"}, billed(s.Put(200, id, object{"participants": []object{s.Participant("Bob", "host")}})))
}
