package datarequest

import (
	"context"
	"slices"
	"strconv"

	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/party"
	"lectern/shared/tenancy"
)

// matcher finds who has an address.
type matcher struct {
	members  tenancy.Store
	contacts *contact.Store
}

// mostEvents limits the events in a request, as a small record has a limit.
const mostEvents = 1000

// match returns the contact and the members with an address, in any case.
func (m matcher) match(ctx context.Context, caller *auth.Caller, address string) (f Found, err error) {
	f = Found{Users: []int64{}, OrgUsers: []string{}, EventUsers: []int64{}, ContactRecord: []string{}}
	members, err := m.members.MembersWith(ctx, caller.Org.ID, address)
	if err != nil {
		return f, err
	}
	for _, member := range members {
		f.Users, f.OrgUsers = append(f.Users, member.ID), append(f.OrgUsers, strconv.FormatInt(member.ID, 10))
	}
	found, err := m.contacts.ByAddress(ctx, caller, address)
	if err != nil || found.Body == nil {
		return f, err
	}
	f.ContactRecord = append(f.ContactRecord, found.ID)
	events, err := m.Events(ctx, caller.Org.ID, found.ID)
	f.EventUsers = events[:min(len(events), mostEvents)]
	return f, err
}

// Events returns the ids of the events of a contact, lowest first, also where the contact is deleted.
func (m matcher) Events(ctx context.Context, org int64, id string) ([]int64, error) {
	events := []int64{}
	for a, err := range party.Associations(ctx, m.members.Table, contact.Kind.PK(org, id)) {
		if err != nil {
			return nil, err
		}
		events = append(events, a.Event)
	}
	slices.Sort(events)
	return events, nil
}
