package participation

import (
	"context"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/contact"
	"lectern/shared/page"
	"lectern/shared/participant"
	"lectern/shared/party"
	"lectern/shared/search"
	"lectern/shared/session/store"
)

// Filter has the filters of searches of speakers and participants.
type Filter struct {
	party.Filter
	store.Categories
}

// ParticipantFilter adds the filters of participants. Ids and slugs are two filters: two
// roles of a person on two sessions may match them. Either role must be on a session that
// matches the categories.
type ParticipantFilter struct {
	Filter
	RoleIDs   []string `json:"roleIds,omitempty" minItems:"1" format:"uuid" doc:"Holding any of these roles."`
	RoleSlugs []string `json:"roleSlugs,omitempty" minItems:"1" doc:"Holding any of the roles with these slugs; with roleIds, a role of each of the two."`
	Email     string   `json:"email,omitempty" pattern:"\\S" maxLength:"255" doc:"The participant with this e-mail address, whatever its case."`
}

// bySlug reports whether a role matches the slugs; every role does without slugs.
func (f *ParticipantFilter) bySlug(r *participant.Role) bool {
	return len(f.RoleSlugs) == 0 || slices.Contains(f.RoleSlugs, r.Slug)
}

// byID reports whether a role matches the ids.
func (f *ParticipantFilter) byID(r *participant.Role) bool { return slices.Contains(f.RoleIDs, r.ID) }

// Query is a search of speakers or participants.
type Query[F any] struct {
	Filter F
	Sort   []search.Key
	Page   page.Query
	Expand party.Expand
}

// Speakers returns a page of the contacts with the built-in role of speakers.
func (st *Store) Speakers(ctx context.Context, c *auth.Caller, q Query[Filter]) (*page.Of[*contact.Contact], error) {
	rows, err := st.eventRows(ctx, c)
	if err != nil {
		return nil, err
	}
	s := speakerSearch{rows, q.Filter.Categories}
	return st.Contacts.Search(st.together(ctx, c), c, party.Query{
		Filter: q.Filter.Filter, Sort: q.Sort, Page: q.Page, OnlyIDs: s.ids,
	}, q.Expand)
}

// together returns a context that reads the versions of sessions and contacts with a single
// Query for each partition.
func (st *Store) together(ctx context.Context, c *auth.Caller) context.Context {
	return catalogue.ShareVersions(ctx, append(st.Contacts.Sources(c), st.Sessions.Source(c))...)
}

// speakerSearch finds the speakers on sessions that match the categories.
type speakerSearch struct {
	*eventRows
	categories store.Categories
}

func (s speakerSearch) ids(ctx context.Context) (party.IDs, error) {
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	return s.people(s.categories, (*participant.Role).IsSpeaker), nil
}

// Participants returns a page of the contacts with a role, each with all roles, whatever the
// filter.
func (st *Store) Participants(ctx context.Context, c *auth.Caller, q Query[ParticipantFilter]) (*page.Of[*Participant], error) {
	rows, err := st.eventRows(ctx, c)
	if err != nil {
		return nil, err
	}
	s := participantSearch{rows, &q.Filter}
	found, err := st.Contacts.Search(st.together(ctx, c), c, party.Query{
		Filter: q.Filter.Filter.Filter, Sort: q.Sort, Page: q.Page, OnlyIDs: s.ids, Confirm: s.confirm,
	}, q.Expand)
	if err != nil {
		return nil, err
	}
	return page.New(q.Page, found.Pagination.TotalResults, s.participants(found.Results)), nil
}

// participantSearch finds the participants that match the filter.
type participantSearch struct {
	*eventRows
	filter *ParticipantFilter
}

// ids reads the rows and returns the contacts that match the filter.
func (s participantSearch) ids(ctx context.Context) (party.IDs, error) {
	if s.filter.Email == "" {
		if err := s.read(ctx); err != nil {
			return nil, err
		}
		return s.wanted(), nil
	}
	holder, err := s.holder(ctx, s.filter.Email)
	numbers := s.index().Contacts
	found := newSet(numbers)
	if err != nil || holder.Body == nil {
		return found, err
	}
	if number, known := numbers.Of(holder.ID); known && s.wanted().has(number) {
		found.add(number)
	}
	return found, nil
}

// confirm reports whether a contact still has the address of the filter.
func (s participantSearch) confirm(p party.Party) bool {
	return s.filter.Email == "" || contact.Holds(p.Body, s.filter.Email)
}

// wanted returns the contacts with roles that match the filter.
func (s participantSearch) wanted() set {
	f := s.filter
	if len(f.RoleIDs) == 0 {
		return s.people(f.Categories, f.bySlug)
	}
	wanted := s.people(f.Categories, f.byID)
	if len(f.RoleSlugs) > 0 {
		wanted.only(s.people(f.Categories, f.bySlug))
	}
	return wanted
}

// holder returns the contact with an address, without a Body for a free address, and reads
// the rows of the contact's sessions.
func (s *eventRows) holder(ctx context.Context, address string) (party.Party, error) {
	holder, err := s.store.Contacts.ByAddress(ctx, s.caller, address)
	s.rows = nil
	if err != nil || holder.Body == nil {
		return holder, err
	}
	s.rows, err = s.store.onEvent(s.caller, holder.ID).rows(ctx, all)
	return holder, err
}

// Participant is a contact with the contact's roles on the event's sessions.
type Participant struct{ contact.Contact }

// participants adds to contacts their roles on the sessions of the rows.
func (s *eventRows) participants(contacts []*contact.Contact) []*Participant {
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
