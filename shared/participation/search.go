package participation

import (
	"context"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/contact"
	"lectern/shared/numbering"
	"lectern/shared/page"
	"lectern/shared/participant"
	"lectern/shared/party"
	"lectern/shared/search"
	"lectern/shared/session"
)

// Filter is what the searches of speakers and participants filter by.
type Filter struct {
	party.Filter
	session.Categories
}

// ParticipantFilter adds what only participants are filtered by. Ids and slugs are two
// filters, which two roles of a person may pass on two sessions. Either role is held
// on a session that passes the categories.
type ParticipantFilter struct {
	Filter
	RoleIDs   []string `json:"roleIds,omitempty" minItems:"1" format:"uuid" doc:"Holding any of these roles."`
	RoleSlugs []string `json:"roleSlugs,omitempty" minItems:"1" doc:"Holding any of the roles with these slugs; with roleIds, a role of each of the two."`
	Email     string   `json:"email,omitempty" pattern:"\\S" maxLength:"255" doc:"The participant with this e-mail address, whatever its case."`
}

// bySlug lets every role pass where no slugs are given.
func (f *ParticipantFilter) bySlug(r *participant.Role) bool {
	return len(f.RoleSlugs) == 0 || slices.Contains(f.RoleSlugs, r.Slug)
}

// Query is one search of speakers, or of participants.
type Query[F any] struct {
	Filter F
	Sort   []search.Key
	Page   page.Query
	Expand party.Expand
}

// Speakers gives one page of the contacts that have the built-in role of speakers.
func (st *Store) Speakers(ctx context.Context, c *auth.Caller, q Query[Filter]) (*page.Of[*contact.Contact], error) {
	s, err := st.stage(ctx, c)
	if err != nil {
		return nil, err
	}
	return st.Contacts.Search(st.together(ctx, c), c, party.Query{
		Filter: q.Filter.Filter, Sort: q.Sort, Page: q.Page,
		OnlyIDs: func(ctx context.Context) (party.IDs, error) {
			if err := st.read(ctx, s); err != nil {
				return nil, err
			}
			return s.people(q.Filter.Categories, isSpeaker), nil
		},
	}, q.Expand)
}

// together has the versions of sessions and contacts read with one Query a partition.
func (st *Store) together(ctx context.Context, c *auth.Caller) context.Context {
	return catalogue.Together(ctx, append(st.Contacts.Sources(c), st.Sessions.Source(c))...)
}

// Participants gives one page of the contacts that have a role, each with all of
// their roles, whatever was filtered by.
func (st *Store) Participants(ctx context.Context, c *auth.Caller, q Query[ParticipantFilter]) (*page.Of[*Participant], error) {
	s, err := st.stage(ctx, c)
	if err != nil {
		return nil, err
	}
	found, err := st.Contacts.Search(st.together(ctx, c), c, party.Query{
		Filter: q.Filter.Filter.Filter, Sort: q.Sort, Page: q.Page,
		OnlyIDs: func(ctx context.Context) (party.IDs, error) { return st.matching(ctx, s, &q.Filter) },
		Confirm: func(p party.Party) bool { return q.Filter.Email == "" || contact.Holds(p, q.Filter.Email) },
	}, q.Expand)
	if err != nil {
		return nil, err
	}
	return page.New(q.Page, found.Pagination.TotalResults, s.participants(found.Results)), nil
}

// matching reads the stage and returns the people on it that pass the filter.
func (st *Store) matching(ctx context.Context, s *stage, f *ParticipantFilter) (found set, err error) {
	if f.Email == "" {
		if err := st.read(ctx, s); err != nil {
			return set{}, err
		}
		return s.wanted(f), nil
	}
	holder, err := st.holder(ctx, s, f.Email)
	numbers := s.index().Contacts
	found = newSet(numbers)
	if err != nil || holder.Body == nil {
		return found, err
	}
	if number, known := numbers.Of(holder.ID); known && s.wanted(f).has(number) {
		found.add(number)
	}
	return found, nil
}

// wanted returns the people whose roles pass the filter.
func (s *stage) wanted(f *ParticipantFilter) set {
	if len(f.RoleIDs) == 0 {
		return s.people(f.Categories, f.bySlug)
	}
	wanted := s.people(f.Categories, func(r *participant.Role) bool { return slices.Contains(f.RoleIDs, r.ID) })
	if len(f.RoleSlugs) > 0 {
		wanted.only(s.people(f.Categories, f.bySlug))
	}
	return wanted
}

// holder returns the contact that holds an address, one without a Body where there is
// none, and reads the sessions of that contact onto the stage.
func (st *Store) holder(ctx context.Context, s *stage, address string) (party.Party, error) {
	holder, err := st.Contacts.ByAddress(ctx, s.caller, address)
	s.rows = nil
	if err != nil || holder.Body == nil {
		return holder, err
	}
	w := walk{st: st, caller: s.caller, contact: holder.ID, items: st.onEvent(s.caller, holder.ID), most: all}
	index := session.NewIndex(&numbering.Numbers{})
	s.rows, err = follow(ctx, w, func(visits []visit) ([]*session.Row, error) {
		rows := make([]*session.Row, len(visits))
		for i, v := range visits {
			rows[i] = v.Row(index)
		}
		return rows, nil
	})
	return holder, err
}

// Participant is a contact with the roles they have on the event's sessions.
type Participant struct{ contact.Contact }

// participants adds to contacts the roles they have on the stage.
func (s *stage) participants(contacts []*contact.Contact) []*Participant {
	ids := make([]string, len(contacts))
	for i, c := range contacts {
		ids[i] = c.RecordID()
	}
	held := s.held(ids...)
	all := make([]*Participant, len(contacts))
	for i, c := range contacts {
		all[i] = participantOf(c, held[ids[i]])
	}
	return all
}

func participantOf(c *contact.Contact, roles []Held) *Participant {
	p := &Participant{*c}
	p.Add("roles", roles)
	return p
}

// TransformSchema describes the contact and the roles.
func (p Participant) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	s = p.Contact.TransformSchema(r, s)
	s.Properties["roles"] = huma.SchemaFromType(r, reflect.TypeFor[[]Held]())
	s.Required = append(s.Required, "roles")
	return s
}
