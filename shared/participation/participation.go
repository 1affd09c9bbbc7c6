// Package participation knows who takes part in which sessions: the speakers and
// participants of an event, and the sessions of a contact (spec.md section 4.3).
// It stores nothing. Who has a role stands in the rows of sessions, what a person
// is in the records of contacts, and here the two are joined.
package participation

import (
	"context"

	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/contact"
	"lectern/shared/participant"
	"lectern/shared/session"
	"lectern/shared/settings"
)

// Store reads who takes part.
type Store struct {
	Contacts *contact.Store
	Sessions *session.Store
	Settings *settings.Cache
}

// stage is the sessions of an event as they stand, with what the event's settings
// say of the people on them.
type stage struct {
	caller *auth.Caller
	set    *settings.Snapshot
	view   *catalogue.View[session.Row]
}

// stage gives the stage of the caller's event, which is empty until it is read.
func (st *Store) stage(ctx context.Context, c *auth.Caller) (*stage, error) {
	set, err := st.Settings.Load(ctx, c)
	return &stage{caller: c, set: set}, err
}

// read fills the stage with the sessions.
func (st *Store) read(ctx context.Context, s *stage) (err error) {
	s.view, err = st.Sessions.View(ctx, s.caller)
	return err
}

// people are the ids of those who have a role that wanted holds for on one of the
// sessions. Where there are categories, that must be a top-level session that passes
// all of them; otherwise every session counts that is not deleted.
func (s *stage) people(categories session.Categories, wanted func(*participant.Role) bool) map[string]bool {
	categories.Forget(s.set)
	every := categories.Empty()
	var casts [][]string
	places := 0
	for _, row := range s.view.All() {
		if row.Deleted != 0 || !every && (row.Parent != "" || !categories.Keeps(row)) {
			continue
		}
		for _, cast := range row.Cast {
			if role, ok := s.set.Roles.Standing(cast.Role); ok && wanted(role) {
				casts = append(casts, cast.Contacts)
				places += len(cast.Contacts)
			}
		}
	}
	return setOf(casts, places)
}

// setOf joins lists that have so many entries together. An event may have ten
// thousands, for which a set must not grow bit by bit.
func setOf(lists [][]string, entries int) map[string]bool {
	set := make(map[string]bool, entries)
	for _, list := range lists {
		for _, id := range list {
			set[id] = true
		}
	}
	return set
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
	at := map[string]map[*participant.Role][]string{}
	for _, id := range people {
		at[id] = map[*participant.Role][]string{}
	}
	for _, row := range s.view.All() {
		if row.Deleted == 0 {
			s.note(row, at)
		}
	}
	all := make(map[string][]Held, len(people))
	for id, sessions := range at {
		all[id] = s.ordered(sessions)
	}
	return all
}

// note adds a session to the roles that people have on it. Two stored roles may be
// one role by now, and the session is noted once.
func (s *stage) note(row *session.Row, at map[string]map[*participant.Role][]string) {
	for _, cast := range row.Cast {
		for _, id := range cast.Contacts {
			sessions, asked := at[id]
			if !asked {
				continue
			}
			role, ok := s.set.Roles.Standing(cast.Role)
			if noted := sessions[role]; ok && (len(noted) == 0 || noted[len(noted)-1] != row.ID) {
				sessions[role] = append(noted, row.ID)
			}
		}
	}
}

func (s *stage) ordered(sessions map[*participant.Role][]string) (held []Held) {
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
