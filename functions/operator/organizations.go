package operator

import (
	"cmp"
	"context"

	"lectern/shared/apierr"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

type organizationCreate struct {
	Name      string `json:"name"`
	AIEnabled bool   `json:"ai_enabled,omitempty"`
}

func (s *Service) createOrganization(ctx context.Context, in *organizationCreate) (*tenancy.Organization, error) {
	o := &tenancy.Organization{Name: in.Name, AIEnabled: in.AIEnabled, PersonItems: true, RowsCounted: true, HourItems: true}
	return o, tenancy.Organizations.Create(ctx, s.tenancy, o)
}

type organizationUpdate struct {
	InOrganization
	Name      wire.Opt[string] `json:"name,omitzero" nullable:"false"`
	Disabled  wire.Opt[bool]   `json:"disabled,omitzero" nullable:"false"`
	AIEnabled wire.Opt[bool]   `json:"ai_enabled,omitzero" nullable:"false"`
	// AwardPrograms is the limit of the plan; null sets the default.
	AwardPrograms wire.Opt[int] `json:"award_programs,omitzero" minimum:"0" maximum:"1000"`
}

func (s *Service) updateOrganization(ctx context.Context, in *organizationUpdate) (*tenancy.Organization, error) {
	return tenancy.Organizations.Update(ctx, s.tenancy, table.Org(in.OrgID), in.apply)
}

func (in *organizationUpdate) apply(o *tenancy.Organization) error {
	in.Name.Into(&o.Name)
	in.Disabled.Into(&o.Disabled)
	in.AIEnabled.Into(&o.AIEnabled)
	in.AwardPrograms.IntoPointer(&o.AwardPrograms)
	return nil
}

func (s *Service) showOrganization(ctx context.Context, in *InOrganization) (*tenancy.Organization, error) {
	return tenancy.Organizations.Get(ctx, s.tenancy, table.Org(in.OrgID))
}

// organizationPage is how many organizations a page has without a limit.
const organizationPage = 100

type organizationList struct {
	After int64 `json:"after,omitempty" minimum:"0"`
	Limit int   `json:"limit,omitempty" minimum:"1" maximum:"1000"`
}

// organizations is a page of the region's organizations. Next is the after of the next
// page, absent on the last one.
type organizations struct {
	results[*tenancy.Organization]
	Next int64 `json:"next,omitempty"`
}

func (s *Service) listOrganizations(ctx context.Context, in *organizationList) (page organizations, err error) {
	limit := cmp.Or(in.Limit, organizationPage)
	pks := []string{}
	last := int64(0)
	for id, err := range s.tenancy.AllOrganizations(ctx, in.After) {
		if err != nil {
			return page, err
		}
		if len(pks) == limit {
			page.Next = last
			break
		}
		pks, last = append(pks, table.Org(id)), id
	}
	page.Results, err = tenancy.Organizations.Existing(ctx, s.tenancy, pks)
	return page, err
}

// MemberOptions has the properties that create and update of a member share.
type MemberOptions struct {
	Role        wire.Opt[tenancy.Role] `json:"role,omitzero" nullable:"false"`
	Active      wire.Opt[bool]         `json:"active,omitzero" nullable:"false"`
	ManageUsers wire.Opt[bool]         `json:"manage_users,omitzero" nullable:"false"`
	AIAccess    wire.Opt[bool]         `json:"ai_access,omitzero" nullable:"false"`
	EventIDs    wire.Opt[[]int64]      `json:"event_ids,omitzero" nullable:"false"`
}

func (in MemberOptions) apply(m *tenancy.Member) {
	in.Role.Into(&m.Role)
	in.Active.Into(&m.Active)
	in.ManageUsers.Into(&m.ManageUsers)
	in.AIAccess.Into(&m.AIAccess)
	in.EventIDs.Into(&m.EventIDs)
}

type memberCreate struct {
	InOrganization
	Name  string `json:"name"`
	Email string `json:"email"`
	MemberOptions
}

func (s *Service) createMember(ctx context.Context, in *memberCreate) (*tenancy.Member, error) {
	if err := s.haveOrganization(ctx, in.OrgID); err != nil {
		return nil, err
	}
	if err := s.haveEvents(ctx, in.OrgID, in.EventIDs.Value); err != nil {
		return nil, err
	}
	m := &tenancy.Member{OrgID: in.OrgID, Name: in.Name, Email: in.Email,
		Role: tenancy.RoleMember, Active: true, EventIDs: []int64{}}
	in.apply(m)
	return m, tenancy.Members.Create(ctx, s.tenancy, m)
}

// InMember names a member.
type InMember struct {
	InOrganization
	UserID int64 `json:"user_id"`
}

type memberUpdate struct {
	InMember
	Name  wire.Opt[string] `json:"name,omitzero" nullable:"false"`
	Email wire.Opt[string] `json:"email,omitzero" nullable:"false"`
	MemberOptions
}

func (s *Service) updateMember(ctx context.Context, in *memberUpdate) (*tenancy.Member, error) {
	if err := s.haveEvents(ctx, in.OrgID, in.EventIDs.Value); err != nil {
		return nil, err
	}
	return s.editMember(ctx, in.InMember, in.edit)
}

func (in *memberUpdate) edit(m *tenancy.Member) error {
	in.Name.Into(&m.Name)
	in.Email.Into(&m.Email)
	in.apply(m)
	return present(m)
}

// present returns the 404 of a removed member.
func present(m *tenancy.Member) error {
	if m.RemovedAt != nil {
		return apierr.NotFound("Member")
	}
	return nil
}

func (s *Service) removeMember(ctx context.Context, in *InMember) (*tenancy.Member, error) {
	return s.editMember(ctx, *in, end{wire.At(s.env.Now())}.removeMember)
}

// end has the time at which a member is removed or a token is revoked.
type end struct{ at wire.Time }

func (e end) removeMember(m *tenancy.Member) error {
	err := present(m)
	m.RemovedAt = &e.at
	return err
}

func (s *Service) restoreMember(ctx context.Context, in *InMember) (*tenancy.Member, error) {
	return s.editMember(ctx, *in, restoreMember)
}

// restoreMember brings a removed member back. It returns a 404 for any other member.
func restoreMember(m *tenancy.Member) error {
	if m.RemovedAt == nil {
		return apierr.NotFound("Removed member")
	}
	m.RemovedAt = nil
	return nil
}

func (s *Service) editMember(ctx context.Context, in InMember, edit func(*tenancy.Member) error) (*tenancy.Member, error) {
	return s.tenancy.UpdateMember(ctx, in.OrgID, in.UserID, edit)
}

// list returns the command that lists the records of a family in an organization, oldest
// first.
func list[T any](f tenancy.Family[T], pk func(org, id int64) string) method[InOrganization, results[*T]] {
	return func(s *Service, ctx context.Context, in *InOrganization) (all results[*T], err error) {
		if err := s.haveOrganization(ctx, in.OrgID); err != nil {
			return all, err
		}
		ids, err := f.IDs(ctx, s.tenancy, in.OrgID)
		if err != nil {
			return all, err
		}
		pks := make([]string, len(ids))
		for i, id := range ids {
			pks[i] = pk(in.OrgID, id)
		}
		all.Results, err = f.Many(ctx, s.tenancy, pks)
		return all, err
	}
}

// haveOrganization returns a 404 for an unknown organization.
func (s *Service) haveOrganization(ctx context.Context, id int64) error {
	_, err := tenancy.Organizations.Get(ctx, s.tenancy, table.Org(id))
	return err
}

// haveEvents refuses ids of events that the organization does not have.
func (s *Service) haveEvents(ctx context.Context, org int64, ids []int64) error {
	keys := make([]table.Key, len(ids))
	for i, id := range ids {
		keys[i] = table.Key{PK: table.Event(org, id), SK: "-"}
	}
	got, err := s.env.Table.GetMany(ctx, keys)
	if err != nil {
		return err
	}
	for i, key := range keys {
		if _, ok := got[key]; !ok {
			field := element("event_ids", i)
			return apierr.Invalid(field, "%s: organization %d has no event %d.", field, org, ids[i])
		}
	}
	return nil
}
