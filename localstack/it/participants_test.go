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
		{"participants[1].contact_id", []object{person(object{"contact_id": nobody}), person(object{"contact_id": nobody})}},
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
