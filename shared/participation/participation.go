// Package participation joins people and sessions: the speakers and participants of an
// event, and the sessions of a contact (spec.md section 4.3). It stores nothing. Sessions
// and their rows have the roles of people, the items beside a contact name the contact's
// sessions, and the records of contacts have the rest.
package participation

import (
	"context"
	"iter"
	"math/bits"

	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/numbering"
	"lectern/shared/participant"
	"lectern/shared/party"
	"lectern/shared/session"
	"lectern/shared/session/store"
	"lectern/shared/settings"
)

// Store reads the people on sessions and the sessions of people.
type Store struct {
	Contacts *contact.Store
	Sessions *store.Store
	Settings *settings.Cache
}

// eventRows has the rows of the sessions of an event, or of the sessions of a contact on the
// event, with the event's settings.
type eventRows struct {
	store  *Store
	caller *auth.Caller
	set    *settings.Snapshot
	// rows are oldest first, and all of the same Index.
	rows []*session.Row
}

// eventRows returns the settings of the caller's event, without rows until a read.
func (st *Store) eventRows(ctx context.Context, c *auth.Caller) (*eventRows, error) {
	set, err := st.Settings.Load(ctx, c)
	return &eventRows{store: st, caller: c, set: set}, err
}

// read reads the rows of all sessions of the event.
func (s *eventRows) read(ctx context.Context) error {
	view, err := s.store.Sessions.View(ctx, s.caller)
	if err == nil {
		s.rows = view.All()
	}
	return err
}

// index returns the index of the rows.
func (s *eventRows) index() *session.Index {
	if len(s.rows) == 0 {
		return session.NewIndex(&numbering.Numbers{})
	}
	return s.rows[0].Index
}

// people returns the contacts who have a wanted role on a session. With categories, only
// top-level sessions that match all categories count; otherwise every session that is not
// deleted.
func (s *eventRows) people(categories store.Categories, wanted func(*participant.Role) bool) set {
	categories.Forget(s.set)
	every, index := categories.Empty(), s.index()
	roles := s.roles()
	counts := make([]bool, len(roles))
	for number, role := range roles {
		counts[number] = role != nil && wanted(role)
	}
	found := newSet(index.Contacts)
	for _, row := range s.rows {
		if row.Deleted != 0 || !every && (row.Parent != "" || !categories.Keeps(row)) {
			continue
		}
		for role, contacts := range row.People() {
			if counts[role] {
				found.add(contacts...)
			}
		}
	}
	return found
}

// roles returns the event's role for each role that the rows name, by number; nil for an
// unknown role.
func (s *eventRows) roles() []*participant.Role {
	ids := s.index().Roles.IDs()
	roles := make([]*participant.Role, len(ids))
	for number, id := range ids {
		roles[number], _ = s.set.Roles.Standing(id)
	}
	return roles
}

// set is a set of contacts by number (party.IDs).
type set struct {
	numbers *numbering.Numbers
	ids     []string
	bits    []uint64
}

// newSet returns an empty set for the contacts that have a number now.
func newSet(numbers *numbering.Numbers) set {
	ids := numbers.IDs()
	return set{numbers, ids, make([]uint64, (len(ids)+63)/64)}
}

func (s set) add(numbers ...uint32) {
	for _, n := range numbers {
		s.bits[n/64] |= 1 << (n % 64)
	}
}

func (s set) has(n uint32) bool { return int(n) < len(s.ids) && s.bits[n/64]&(1<<(n%64)) != 0 }

// Has reports whether the contact of a row is in the set.
func (s set) Has(p *party.AssociationRow) bool {
	n, known := p.Number(s.numbers)
	return known && s.has(n)
}

// Len returns how many contacts are in the set.
func (s set) Len() (count int) {
	for _, word := range s.bits {
		count += bits.OnesCount64(word)
	}
	return count
}

// All yields the ids of the contacts in the set, in no order.
func (s set) All() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, word := range s.bits {
			for ; word != 0; word &= word - 1 {
				if !yield(s.ids[i*64+bits.TrailingZeros64(word)]) {
					return
				}
			}
		}
	}
}

// only removes the contacts that are not in another set by the same numbers.
func (s set) only(other set) {
	for i := range s.bits {
		if i < len(other.bits) {
			s.bits[i] &= other.bits[i]
		} else {
			s.bits[i] = 0
		}
	}
}

// Held is a role of a participant, with the sessions on which the participant has the role.
type Held struct {
	RoleID     *string  `json:"roleId" format:"uuid" doc:"Null while the event's participant_roles feature is off."`
	RoleName   string   `json:"roleName"`
	Slug       string   `json:"slug"`
	CoreRole   string   `json:"coreRole" enum:"speaker,chairperson,moderator" doc:"The built-in role that it is or stands for."`
	IsCustom   bool     `json:"isCustom"`
	SessionIDs []string `json:"sessionIds" format:"uuid" doc:"Oldest session first, subsessions and composition sources among them."`
}

// held returns all roles of people on sessions that are not deleted, in the order of the
// event's roles.
func (s *eventRows) held(people ...string) map[string][]Held {
	index := s.index()
	asked, at := newSet(index.Contacts), map[uint32]sessionsByRole{}
	for _, id := range people {
		// Numbers are added by what others read: a later one is on none of the rows.
		if number, known := index.Contacts.Of(id); known && int(number) < len(asked.ids) {
			asked.add(number)
			at[number] = sessionsByRole{}
		}
	}
	roles := s.roles()
	for _, row := range s.rows {
		if row.Deleted != 0 {
			continue
		}
		for role, contacts := range row.People() {
			for _, number := range contacts {
				if asked.has(number) {
					at[number].note(roles[role], row.ID)
				}
			}
		}
	}
	all := make(map[string][]Held, len(people))
	for number, sessions := range at {
		all[asked.ids[number]] = s.ordered(sessions)
	}
	return all
}

// sessionsByRole are the ids of a person's sessions by role.
type sessionsByRole map[*participant.Role][]string

// note adds a session to a role. Two stored roles may be the same role by now; the session
// is noted once.
func (s sessionsByRole) note(role *participant.Role, id string) {
	if noted := s[role]; role != nil && (len(noted) == 0 || noted[len(noted)-1] != id) {
		s[role] = append(noted, id)
	}
}

func (s *eventRows) ordered(sessions sessionsByRole) (held []Held) {
	for _, role := range s.set.Roles.All() {
		if len(sessions[role]) == 0 {
			continue
		}
		entry := Held{
			RoleName: role.Name, Slug: role.Slug, CoreRole: role.CoreRole, IsCustom: role.IsCustom, SessionIDs: sessions[role],
		}
		if s.caller.Event.Features.ParticipantRoles {
			entry.RoleID = &role.ID
		}
		held = append(held, entry)
	}
	return held
}

// Role is a role of the event as listed (spec.md section 2.7).
type Role struct {
	ID       string `json:"id" format:"uuid"`
	Name     string `json:"name"`
	CoreRole string `json:"core_role" enum:"speaker,chairperson,moderator"`
	IsCustom bool   `json:"is_custom"`
}

// Roles lists the roles of the caller's event in the order of its settings.
func (st *Store) Roles(ctx context.Context, c *auth.Caller) ([]Role, error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	roles := make([]Role, len(set.Roles.All()))
	for i, r := range set.Roles.All() {
		roles[i] = Role{r.ID, r.Name, r.CoreRole, r.IsCustom}
	}
	return roles, nil
}
