package session

import (
	"context"
	"encoding/json"
	"fmt"

	"lectern/shared/account"
	"lectern/shared/apierr"
	"lectern/shared/contact"
	"lectern/shared/participant"
	"lectern/shared/table"
)

// acceptancePending is the answer of a person who has not answered.
const acceptancePending = "pending"

// guest is one entry that must be on the event: what the client called it, and
// the key that is there when it is.
type guest struct {
	field string
	key   table.Key
}

// invite finds the people and accounts a draft names (gaps.md section 2.5). One
// that is not on the event is a 400 that names its entry.
func (st *Store) invite(ctx context.Context, e *edit) error {
	p := at(e.caller)
	guests, err := st.persons(ctx, e)
	if err != nil {
		return err
	}
	for i, id := range e.draft.SponsorIDs.Value {
		guests = append(guests, guest{fmt.Sprintf("sponsor_ids[%d]", i), account.Kind.OnEvent(p.org, p.event, id)})
	}
	for i, id := range e.draft.ExhibitorIDs.Value {
		guests = append(guests, guest{fmt.Sprintf("exhibitor_ids[%d]", i), account.Kind.OnEvent(p.org, p.event, id)})
	}
	_, err = st.present(ctx, guests)
	return err
}

// present reads the guests' items; one that is not there is a 400.
func (st *Store) present(ctx context.Context, guests []guest) (map[table.Key]table.Item, error) {
	if len(guests) == 0 {
		return nil, nil
	}
	keys := make([]table.Key, len(guests))
	for i, g := range guests {
		keys[i] = g.key
	}
	got, err := st.Table.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	for _, g := range guests {
		if _, ok := got[g.key]; !ok {
			return nil, apierr.Invalid(g.field, "%s is not on this event.", g.field)
		}
	}
	return got, nil
}

// persons fills the edit's people from the draft's participants and gives the
// associations that must exist.
func (st *Store) persons(ctx context.Context, e *edit) ([]guest, error) {
	var guests, addressed []guest
	entries := e.draft.Participants.Value
	for i, entry := range entries {
		name := fmt.Sprintf("participants[%d]", i)
		role, err := entry.role(name, e.set.Roles)
		if err != nil {
			return nil, err
		}
		if err := entry.who(name); err != nil {
			return nil, err
		}
		if entry.Email.Sent {
			addressed = append(addressed, guest{name + ".email", contact.ByEmail(e.caller.Org.ID, entry.Email.Value)})
		}
		e.people = append(e.people, entry.participant(role))
	}
	holders, err := st.present(ctx, addressed)
	if err != nil {
		return nil, err
	}
	for i, entry := range entries {
		found := guest{field: fmt.Sprintf("participants[%d].contact_id", i)}
		if entry.Email.Sent {
			found.field = fmt.Sprintf("participants[%d].email", i)
			if err := holder(holders[contact.ByEmail(e.caller.Org.ID, entry.Email.Value)], &e.people[i]); err != nil {
				return nil, err
			}
		}
		if twice(e.people[:i], e.people[i]) {
			return nil, apierr.Invalid(found.field, "The same person is given the same role twice.")
		}
		found.key = contact.Kind.OnEvent(e.caller.Org.ID, e.caller.Event.ID, e.people[i].ContactID)
		guests = append(guests, found)
	}
	return guests, nil
}

// holder sets the contact that holds an address.
func holder(item table.Item, person *invited) error {
	held := struct{ ID string }{}
	if err := json.Unmarshal(item.Data, &held); err != nil {
		return fmt.Errorf("session: decode the holder of an address: %w", err)
	}
	person.ContactID = held.ID
	return nil
}

func twice(others []invited, person invited) bool {
	for _, other := range others {
		if other.ContactID == person.ContactID && other.RoleID == person.RoleID {
			return true
		}
	}
	return false
}

// invited is an entry of participants, found.
type invited struct {
	Participant
	// inviteSent is whether acceptance_invite_sent_at was sent, null too.
	inviteSent bool
}

// who checks that an entry says who it is about, in one way.
func (d ParticipantDraft) who(name string) error {
	switch {
	case d.ContactID.Sent && d.Email.Sent:
		return apierr.Invalid(name+".email", "Give contact_id or email, not both.")
	case !d.ContactID.Sent && !d.Email.Sent:
		return apierr.Invalid(name+".contact_id", "Give contact_id or email.")
	}
	return nil
}

// role finds the role of an entry, which must be given in one way.
func (d ParticipantDraft) role(name string, roles *participant.Roles) (*participant.Role, error) {
	var role *participant.Role
	var found bool
	given, field := 0, name+".role_id"
	if d.RoleID.Sent {
		role, found = roles.ByID(d.RoleID.Value)
		given++
	}
	if d.RoleSlug.Sent {
		role, found = roles.BySlug(d.RoleSlug.Value)
		field = name + ".role_slug"
		given++
	}
	if d.CoreRole.Sent {
		role, found = roles.ByCore(d.CoreRole.Value)
		field = name + ".core_role"
		given++
	}
	if given != 1 {
		return nil, apierr.Invalid(field, "Give one of role_id, role_slug and core_role.")
	}
	if !found {
		return nil, apierr.Invalid(field, "There is no such role on this event.")
	}
	return role, nil
}

// participant is the entry as it is stored, but for its id.
func (d ParticipantDraft) participant(role *participant.Role) invited {
	person := invited{inviteSent: d.InviteSentAt.Sent, Participant: Participant{
		ContactID: d.ContactID.Value, RoleID: role.ID, Order: d.Order.Value, AcceptanceStatus: d.AcceptanceStatus.Value,
	}}
	d.InviteSentAt.IntoPointer(&person.InviteSentAt)
	return person
}

// keep gives each person the place they have: the entry of the same contact and
// role keeps its id, and what of its acceptance was not sent.
func keep(before []Participant, people []invited, newID func() string) []Participant {
	kept := make([]Participant, len(people))
	for i, person := range people {
		person.ID = newID()
		for _, old := range before {
			if old.ContactID != person.ContactID || old.RoleID != person.RoleID {
				continue
			}
			person.ID = old.ID
			if person.AcceptanceStatus == "" {
				person.AcceptanceStatus = old.AcceptanceStatus
			}
			if !person.inviteSent {
				person.InviteSentAt = old.InviteSentAt
			}
		}
		if person.AcceptanceStatus == "" {
			person.AcceptanceStatus = acceptancePending
		}
		kept[i] = person.Participant
	}
	return kept
}
