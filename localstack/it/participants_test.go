package it_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestParticipantsMustBeOnTheEvent(t *testing.T) {
	d := newDesk(t)
	nobody := uuid.NewString()
	id := d.titled("A")[0]
	person := func(more object) object { return merged(object{"contact_id": nobody, "core_role": "speaker"}, more) }
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
		isInvalid(t, d.create(400, object{"title": "B", "participants": c.entries}), c.field)
		isInvalid(t, d.put(400, id, object{"title": "B", "participants": c.entries}), c.field)
		if c.entries != nil {
			o := d.bulk(updating(id, object{"title": "B", "participants": c.entries}))
			o.failed(t, 0, "VALIDATION_ERROR", c.field)
		}
	}
	require.Equal(t, "A", d.get(200, id)["title"])
	require.Equal(t, 1, d.search(object{}).Pagination.TotalResults)
}

func TestTheFirstMistakeAmongParticipantsIsNamed(t *testing.T) {
	d := newDesk(t)
	entries := []object{
		{"contact_id": uuid.NewString(), "core_role": "speaker"}, {"contact_id": uuid.NewString(), "core_role": "moderator"},
		{"contact_id": uuid.NewString(), "core_role": "speaker"},
	}
	isInvalid(t, d.create(400, object{"title": "B", "participants": entries}), "participants[0].contact_id")
	entries[2]["contact_id"] = 7
	isInvalid(t, d.create(400, object{"title": "B", "participants": entries}), "participants[2].contact_id")
}

func TestAccountsMustBeOnTheEvent(t *testing.T) {
	d := newDesk(t)
	id := d.titled("A")[0]
	long := make([]byte, 3000)
	for i := range long {
		long[i] = 'x'
	}
	for _, name := range []string{"sponsor_ids", "exhibitor_ids"} {
		for _, wrong := range []any{uuid.NewString(), "x", "", string(long), id} {
			isInvalid(t, d.create(400, object{"title": "B", name: []any{wrong}}), name+"[0]")
			isInvalid(t, d.put(400, id, object{"title": "B", name: []any{wrong}}), name+"[0]")
		}
		for _, wrong := range []any{1, nil, object{}} {
			isInvalid(t, d.put(400, id, object{name: []any{wrong}}), name+"[0]")
		}
		for _, wrong := range []any{"x", 1, object{}} {
			isInvalid(t, d.put(400, id, object{name: wrong}), name)
		}
		require.Equal(t, "A", d.put(200, id, object{name: []string{}})["title"])
	}
}

// TestWhoIsNotOnTheEventCannotBeOnItsSessions: contacts, accounts and roles that are
// elsewhere, deleted, or of another kind, beside one that is there.
func TestWhoIsNotOnTheEventCannotBeOnItsSessions(t *testing.T) {
	s := newTroupe(newDesk(t, "sessions_2_0"), "Ann", "Gone")
	s.sign("sponsor", "Acme")
	s.sign("sponsor", "Bolt")
	s.sign("exhibitor", "Coil")
	s.fire("contacts", "Gone")
	s.fire("sponsors", "Bolt")
	there := newTroupe(s.elsewhere("sessions_2_0"), "Far")
	far := there.sign("sponsor", "Far Inc").id()
	host := there.role("Host", "moderator").id()
	stranger := newTroupe(&desk{s.NewOrganization(t), t}, "Strange")
	ann := s.part("Ann", "speaker")
	speaker := func(id string) []object { return []object{ann, {"contact_id": id, "core_role": "speaker"}} }
	at := func(address string) []object { return []object{ann, {"email": address, "core_role": "speaker"}} }
	id := s.create(200, object{"title": "A", "participants": []object{ann}, "sponsor_ids": s.accounts("Acme")}).id()
	before := s.get(200, id)
	for _, c := range []struct {
		field, property string
		value           any
	}{
		{"participants[1].contact_id", "participants", speaker(s.ids["Gone"])},
		{"participants[1].email", "participants", at(emailOf("Gone"))},
		{"participants[1].contact_id", "participants", speaker(there.ids["Far"])},
		{"participants[1].email", "participants", at(emailOf("Far"))},
		{"participants[1].contact_id", "participants", speaker(stranger.ids["Strange"])},
		{"participants[1].email", "participants", at(emailOf("Strange"))},
		{"participants[1].email", "participants", at("")},
		{"participants[1].contact_id", "participants", speaker(s.ids["Acme"])},
		{"participants[1].contact_id", "participants", speaker(id)},
		{"participants[1].email", "participants", at(" ANN@EXAMPLE.ORG ")},
		{"participants[1].role_id", "participants", []object{ann, {"contact_id": s.ids["Ann"], "role_id": host}}},
		{"participants[1].role_slug", "participants", []object{ann, s.part("Ann", "host")}},
		{"sponsor_ids[1]", "sponsor_ids", s.accounts("Acme", "Bolt")},
		{"sponsor_ids[1]", "sponsor_ids", s.accounts("Acme", "Coil")},
		{"sponsor_ids[1]", "sponsor_ids", []string{s.ids["Acme"], far}},
		{"sponsor_ids[1]", "sponsor_ids", s.accounts("Acme", "Ann")},
		{"sponsor_ids[1]", "sponsor_ids", s.accounts("Acme", "Acme")},
		{"exhibitor_ids[1]", "exhibitor_ids", s.accounts("Coil", "Acme")},
		{"exhibitor_ids[1]", "exhibitor_ids", s.accounts("Coil", "Coil")},
	} {
		body := object{"title": "B", c.property: c.value}
		isInvalid(t, s.create(400, body), c.field)
		isInvalid(t, s.put(400, id, body), c.field)
		isInvalid(t, s.put(400, uuid.NewString(), body), c.field)
		o := s.bulk(creating(body), updating(id, body))
		o.failed(t, 0, "VALIDATION_ERROR", c.field)
		o.failed(t, 1, "VALIDATION_ERROR", c.field)
	}
	require.Equal(t, before, s.get(200, id))
	require.Equal(t, 1, s.list().Pagination.TotalResults)
	isRefused(t, s.put(404, uuid.NewString(), object{"participants": []object{ann}}), "NOT_FOUND", "")
}
