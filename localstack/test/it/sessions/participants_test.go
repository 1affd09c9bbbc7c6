package sessions_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func TestParticipantsMustBeOnTheEvent(t *testing.T) {
	d := it.NewClient(t)
	nobody := uuid.NewString()
	id := d.NewSessions("A")[0]
	person := func(more object) object { return it.Merged(object{"contact_id": nobody, "core_role": "speaker"}, more) }
	for _, c := range []struct {
		field   string
		entries any
	}{
		{"participants[0].contact_id", []object{person(nil)}},
		{"participants[0].contact_id", []object{person(object{"order": 3, "acceptance_status": "accepted", "acceptance_invite_sent_at": "2027-01-01T00:00:00Z"})}},
		{"participants[0].contact_id", []object{{"contact_id": nobody, "role_slug": "speaker"}}},
		{"participants[0].email", []object{{"email": "nobody@example.org", "core_role": "chairperson"}}},
		{"participants[0].contact_id", []object{{"core_role": "speaker"}}},
		{"participants[0].email", []object{person(object{"email": "nobody@example.org"})}},
		{"participants[0].role_id", []object{{"contact_id": nobody}}},
		{"participants[0].role_id", []object{{"contact_id": nobody, "role_id": nobody}}},
		{"participants[0].role_slug", []object{{"contact_id": nobody, "role_slug": "juggler"}}},
		{"participants[0].core_role", []object{{"contact_id": nobody, "core_role": "juggler"}}},
		{"participants[0].core_role", []object{person(object{"role_slug": "speaker"})}},
		{"participants[0].contact_id", []object{person(object{"contact_id": "x"})}},
		{"participants[0].contact_id", []object{person(object{"contact_id": nil})}},
		{"participants[0].order", []object{person(object{"order": -1})}},
		{"participants[0].acceptance_status", []object{person(object{"acceptance_status": "maybe"})}},
		{"participants[0].acceptance_invite_sent_at", []object{person(object{"acceptance_invite_sent_at": "today"})}},
		{"participants[1].contact_id", []object{person(nil), person(nil)}},
		{"participants[0].contact_id", []object{person(nil), person(object{"core_role": "moderator"})}},
		{"participants[0]", []any{"Ann"}},
		{"participants", make([]object, 101)},
		{"participants", nil},
		{"participants", object{}},
	} {
		if c.field == "participants" && c.entries != nil {
			if people, ok := c.entries.([]object); ok {
				for i := range people {
					people[i] = person(object{"contact_id": uuid.NewString()})
				}
			}
		}
		it.RequireInvalid(t, d.Create(400, object{"title": "B", "participants": c.entries}), c.field)
		it.RequireInvalid(t, d.Put(400, id, object{"title": "B", "participants": c.entries}), c.field)
		if c.entries != nil {
			o := d.Bulk(it.Updating(id, object{"title": "B", "participants": c.entries}))
			o.Failed(t, 0, "VALIDATION_ERROR", c.field)
		}
	}
	require.Equal(t, "A", d.Get(200, id)["title"])
	require.Equal(t, 1, d.Search(object{}).Pagination.TotalResults)
}

func TestTheFirstMistakeAmongParticipantsIsNamed(t *testing.T) {
	d := it.NewClient(t)
	entries := []object{
		{"contact_id": uuid.NewString(), "core_role": "speaker"}, {"contact_id": uuid.NewString(), "core_role": "moderator"},
		{"contact_id": uuid.NewString(), "core_role": "speaker"},
	}
	it.RequireInvalid(t, d.Create(400, object{"title": "B", "participants": entries}), "participants[0].contact_id")
	entries[2]["contact_id"] = 7
	it.RequireInvalid(t, d.Create(400, object{"title": "B", "participants": entries}), "participants[2].contact_id")
}

func TestAccountsMustBeOnTheEvent(t *testing.T) {
	d := it.NewClient(t)
	id := d.NewSessions("A")[0]
	long := make([]byte, 3000)
	for i := range long {
		long[i] = 'x'
	}
	for _, name := range []string{"sponsor_ids", "exhibitor_ids"} {
		for _, wrong := range []any{uuid.NewString(), "x", "", string(long), id} {
			it.RequireInvalid(t, d.Create(400, object{"title": "B", name: []any{wrong}}), name+"[0]")
			it.RequireInvalid(t, d.Put(400, id, object{"title": "B", name: []any{wrong}}), name+"[0]")
		}
		for _, wrong := range []any{1, nil, object{}} {
			it.RequireInvalid(t, d.Put(400, id, object{name: []any{wrong}}), name+"[0]")
		}
		for _, wrong := range []any{"x", 1, object{}} {
			it.RequireInvalid(t, d.Put(400, id, object{name: wrong}), name)
		}
		require.Equal(t, "A", d.Put(200, id, object{name: []string{}})["title"])
	}
}

// TestWhoIsNotOnTheEventCannotBeOnItsSessions: contacts, accounts and roles that are
// elsewhere, deleted, or of another kind, beside one that is there.
func TestWhoIsNotOnTheEventCannotBeOnItsSessions(t *testing.T) {
	s := it.NewPeople(it.NewClient(t, "sessions_2_0"), "Ann", "Gone")
	s.AddAccount("sponsor", "Acme")
	s.AddAccount("sponsor", "Bolt")
	s.AddAccount("exhibitor", "Coil")
	s.DeletePerson("contacts", "Gone")
	s.DeletePerson("sponsors", "Bolt")
	there := it.NewPeople(s.InNewEvent("sessions_2_0"), "Far")
	far := there.AddAccount("sponsor", "Far Inc").ID()
	host := there.NewRole("Host", "moderator").ID()
	stranger := it.NewPeople(&it.Client{Stack: s.NewOrganization(t), T: t}, "Strange")
	ann := s.Participant("Ann", "speaker")
	speaker := func(id string) []object { return []object{ann, {"contact_id": id, "core_role": "speaker"}} }
	at := func(address string) []object { return []object{ann, {"email": address, "core_role": "speaker"}} }
	id := s.Create(200, object{"title": "A", "participants": []object{ann}, "sponsor_ids": s.AccountIDs("Acme")}).ID()
	before := s.Get(200, id)
	for _, c := range []struct {
		field, property string
		value           any
	}{
		{"participants[1].contact_id", "participants", speaker(s.IDs["Gone"])},
		{"participants[1].email", "participants", at(it.EmailOf("Gone"))},
		{"participants[1].contact_id", "participants", speaker(there.IDs["Far"])},
		{"participants[1].email", "participants", at(it.EmailOf("Far"))},
		{"participants[1].contact_id", "participants", speaker(stranger.IDs["Strange"])},
		{"participants[1].email", "participants", at(it.EmailOf("Strange"))},
		{"participants[1].email", "participants", at("")},
		{"participants[1].contact_id", "participants", speaker(s.IDs["Acme"])},
		{"participants[1].contact_id", "participants", speaker(id)},
		{"participants[1].email", "participants", at(" ANN@EXAMPLE.ORG ")},
		{"participants[1].role_id", "participants", []object{ann, {"contact_id": s.IDs["Ann"], "role_id": host}}},
		{"participants[1].role_slug", "participants", []object{ann, s.Participant("Ann", "host")}},
		{"sponsor_ids[1]", "sponsor_ids", s.AccountIDs("Acme", "Bolt")},
		{"sponsor_ids[1]", "sponsor_ids", s.AccountIDs("Acme", "Coil")},
		{"sponsor_ids[1]", "sponsor_ids", []string{s.IDs["Acme"], far}},
		{"sponsor_ids[1]", "sponsor_ids", s.AccountIDs("Acme", "Ann")},
		{"sponsor_ids[1]", "sponsor_ids", s.AccountIDs("Acme", "Acme")},
		{"exhibitor_ids[1]", "exhibitor_ids", s.AccountIDs("Coil", "Acme")},
		{"exhibitor_ids[1]", "exhibitor_ids", s.AccountIDs("Coil", "Coil")},
	} {
		body := object{"title": "B", c.property: c.value}
		it.RequireInvalid(t, s.Create(400, body), c.field)
		it.RequireInvalid(t, s.Put(400, id, body), c.field)
		it.RequireInvalid(t, s.Put(400, uuid.NewString(), body), c.field)
		o := s.Bulk(it.Creating(body), it.Updating(id, body))
		o.Failed(t, 0, "VALIDATION_ERROR", c.field)
		o.Failed(t, 1, "VALIDATION_ERROR", c.field)
	}
	require.Equal(t, before, s.Get(200, id))
	require.Equal(t, 1, s.List().Pagination.TotalResults)
	it.RequireError(t, s.Put(404, uuid.NewString(), object{"participants": []object{ann}}), "NOT_FOUND", "")
}
