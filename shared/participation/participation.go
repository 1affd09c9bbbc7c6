// Package participation knows who takes part in which sessions: the speakers and
// participants of an event, and the sessions of a contact (spec.md section 4.3).
// It stores nothing. Who has a role stands in sessions and their rows, and which sessions
// these are beside the contacts; what a person is stands in the records of contacts. Here
// they are joined.
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
	"lectern/shared/settings"
)

// Store reads who takes part.
type Store struct {
	Contacts *contact.Store
	Sessions *session.Store
	Settings *settings.Cache
}

// stage is the sessions of an event as they stand, or those of one person, with what the
// event's settings say of the people on them.
type stage struct {
	caller *auth.Caller
	set    *settings.Snapshot
	// rows are oldest first, and all of one Index.
	rows []*session.Row
}

// stage gives the stage of the caller's event, which is empty until it is read.
func (st *Store) stage(ctx context.Context, c *auth.Caller) (*stage, error) {
	set, err := st.Settings.Load(ctx, c)
	return &stage{caller: c, set: set}, err
}

// read fills the stage with all sessions of the event.
func (st *Store) read(ctx context.Context, s *stage) error {
	view, err := st.Sessions.View(ctx, s.caller)
	if err == nil {
		s.rows = view.All()
	}
	return err
}

// index returns the index of the rows.
func (s *stage) index() *session.Index {
	if len(s.rows) == 0 {
		return session.NewIndex(&numbering.Numbers{})
	}
	return s.rows[0].Index
}

// people are the ids of those who have a role that wanted holds for on one of the
// sessions. Where there are categories, that must be a top-level session that passes
// all of them; otherwise every session counts that is not deleted.
func (s *stage) people(categories session.Categories, wanted func(*participant.Role) bool) set {
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

// roles returns what stands for each role that the rows name, by its number; nil for one
// that is not there.
func (s *stage) roles() []*participant.Role {
	ids := s.index().Roles.IDs()
	roles := make([]*participant.Role, len(ids))
	for number, id := range ids {
		roles[number], _ = s.set.Roles.Standing(id)
	}
	return roles
}

// set is contacts by their numbers (party.IDs).
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

// Has reports whether the contact of a place is in the set.
func (s set) Has(p *party.Place) bool {
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

// All yields the ids of the contacts in the set, in no order that means anything.
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

// isSpeaker is whether a role is the built-in one of speakers. Custom roles that
// stand for it are roles of their own.
func isSpeaker(r *participant.Role) bool { return !r.IsCustom && r.Slug == participant.Speaker }

// Held is a role that a participant has, with the sessions on which they have it.
type Held struct {
	RoleID     *string  `json:"roleId" format:"uuid" doc:"Null while the event's participant_roles feature is off."`
	RoleName   string   `json:"roleName"`
	Slug       string   `json:"slug"`
	CoreRole   string   `json:"coreRole" enum:"speaker,chairperson,moderator" doc:"The built-in role that it is or stands for."`
	IsCustom   bool     `json:"isCustom"`
	SessionIDs []string `json:"sessionIds" format:"uuid" doc:"Oldest session first, subsessions and composition sources among them."`
}

// held gives all roles of each of the people on sessions that are not deleted, in
// the order of the event's roles.
func (s *stage) held(people ...string) map[string][]Held {
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

// sessionsByRole are the ids of the sessions on which a person has each role.
type sessionsByRole map[*participant.Role][]string

// note adds a session to a role. Two stored roles may be one role by now, and the session
// is noted once.
func (s sessionsByRole) note(role *participant.Role, id string) {
	if noted := s[role]; role != nil && (len(noted) == 0 || noted[len(noted)-1] != id) {
		s[role] = append(noted, id)
	}
}

func (s *stage) ordered(sessions sessionsByRole) (held []Held) {
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

// Role is a role of the event as it is listed (spec.md section 2.7).
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
