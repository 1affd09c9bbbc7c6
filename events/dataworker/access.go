package dataworker

import (
	"context"
	"fmt"
	"slices"

	"lectern/shared/account"
	"lectern/shared/auth"
	"lectern/shared/award"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/datarequest"
	"lectern/shared/participant"
	"lectern/shared/party"
	"lectern/shared/person"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// scopes are the scopes of the service that reads a person.
var scopes = auth.Scopes{auth.ReadContacts, auth.ReadSessions, auth.ReadEvents}

// access collects what is stored of the person of a request, and ends the request.
func (w *Worker) access(ctx context.Context, r *datarequest.Request) error {
	c := &datarequest.Collected{
		RequestID: r.ID, OrgID: r.OrgID, Identity: r.IdentityValue, CollectedAt: wire.At(w.Now()),
		Contacts: []datarequest.CollectedContact{}, Submissions: []wire.Raw{}, Reviews: []wire.Raw{}, Omitted: []string{},
	}
	var err error
	for _, id := range r.Response.ContactRecord {
		one, err := w.contact(ctx, c, id)
		if err != nil {
			return err
		}
		if one != nil {
			c.Contacts = append(c.Contacts, *one)
		}
	}
	if err := w.collectAwards(ctx, r, c); err != nil {
		return err
	}
	if c.Members, err = w.collectMembers(ctx, r); err != nil {
		return err
	}
	if c.Requests, err = w.collectRequests(ctx, r); err != nil {
		return err
	}
	return w.Requests.StoreArchive(ctx, r, c)
}

// contact collects a contact; nil for a contact that is purged.
func (w *Worker) contact(ctx context.Context, c *datarequest.Collected, id string) (*datarequest.CollectedContact, error) {
	org := c.OrgID
	caller, err := auth.Service(ctx, w.Table, org, 0, scopes)
	if err != nil || caller == nil {
		return nil, err
	}
	found, err := w.Contacts.Find(ctx, caller, id)
	if err != nil || found.Body == nil {
		return nil, err
	}
	shown, err := w.Contacts.GetOfOrganization(ctx, caller, id, true)
	if err != nil {
		return nil, err
	}
	one := &datarequest.CollectedContact{}
	if one.Contact, err = raw(shown); err != nil {
		return nil, err
	}
	if one.Events, err = w.events(ctx, org, id); err != nil {
		return nil, err
	}
	if one.Changes, err = w.changes(ctx, c, contact.Kind.PK(org, id)); err != nil {
		return nil, err
	}
	one.Deliveries, err = w.webhooks(ctx, org, id)
	return one, err
}

// submission is a submission in an archive: without the numbers of its reviews.
type submission struct {
	*award.Submission
	AverageScore *award.Points `json:"average_score,omitempty"`
	ReviewCount  *int          `json:"review_count,omitempty"`
}

// collectAwards collects the submissions and reviews of the person of a request, as many as an archive may have. The archive
// does not have the damaged records of the organization.
func (w *Worker) collectAwards(ctx context.Context, r *datarequest.Request, c *datarequest.Collected) error {
	found, err := w.awardsOf(r).Records(ctx, datarequest.MostValues)
	if found.Cut {
		c.OmitAwards()
	}
	for _, key := range found.Damaged {
		c.OmitAwards()
		w.logDamage(ctx, r, key)
	}
	for _, s := range found.Submissions {
		one, err := raw(submission{Submission: s})
		if err != nil {
			return err
		}
		c.Submissions = append(c.Submissions, one)
	}
	for _, review := range found.Reviews {
		one, err := raw(review)
		if err != nil {
			return err
		}
		c.Reviews = append(c.Reviews, one)
	}
	return err
}

// webhooks collects the webhooks about a contact.
func (w *Worker) webhooks(ctx context.Context, org int64, id string) ([]datarequest.CollectedDelivery, error) {
	all := []datarequest.CollectedDelivery{}
	for kept, err := range w.deliveries.Bodies(ctx, org, contact.Kind.Name, id) {
		if err != nil {
			return nil, err
		}
		all = append(all, datarequest.CollectedDelivery{Kind: kept.Kind, ChangeID: kept.Change, At: kept.At()})
	}
	return all, nil
}

// events collects a contact on each event.
func (w *Worker) events(ctx context.Context, org int64, id string) ([]datarequest.CollectedEvent, error) {
	all := []datarequest.CollectedEvent{}
	events, err := w.Requests.Events(ctx, org, id)
	if err != nil {
		return nil, err
	}
	for _, event := range events {
		on, err := w.event(ctx, org, event, id)
		if err != nil {
			return nil, err
		}
		if on != nil {
			all = append(all, *on)
		}
	}
	return all, nil
}

// raw returns the JSON of a record.
func raw(record any) (wire.Raw, error) {
	text, err := wire.Encode(record)
	if err != nil {
		return wire.Raw{}, fmt.Errorf("dataworker: encode a record: %w", err)
	}
	return wire.Raw{RawMessage: text}, nil
}

// event collects a contact on an event; nil for an event that is gone.
func (w *Worker) event(ctx context.Context, org, event int64, id string) (*datarequest.CollectedEvent, error) {
	caller, err := auth.Service(ctx, w.Table, org, event, scopes)
	if err != nil || caller == nil {
		return nil, err
	}
	set, err := w.Contacts.Settings.Load(ctx, caller)
	if err != nil {
		return nil, err
	}
	stored, err := w.Contacts.Writer(caller, true).Rules.Stored(ctx, []string{id})
	if err != nil {
		return nil, err
	}
	on := &datarequest.CollectedEvent{EventID: event}
	if on.Contact, err = raw(stored[id]); err != nil {
		return nil, err
	}
	if on.Sessions, err = w.sessions(ctx, session.Of(org, event), set.Roles, id); err != nil {
		return nil, err
	}
	if on.Files, err = w.files(ctx, caller, id); err != nil {
		return nil, err
	}
	on.Accounts, err = w.accounts(ctx, org, event, id)
	return on, err
}

// sessions collects the sessions of an event on which a contact has a role.
func (w *Worker) sessions(ctx context.Context, of session.Place, roles *participant.Roles, id string) (
	[]datarequest.CollectedSession, error) {
	items, err := person.OnEvent(ctx, w.Table, of.Org, of.Event, id)
	if err != nil {
		return nil, err
	}
	keys := make([]table.Key, len(items))
	for i, item := range items {
		keys[i] = of.Body(item.Session)
	}
	got, err := w.Table.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	all := []datarequest.CollectedSession{}
	for _, key := range keys {
		stored, ok := got[key]
		if !ok {
			continue
		}
		b, err := session.Decode(stored)
		if err != nil {
			return nil, err
		}
		one := datarequest.CollectedSession{ID: b.ID, Title: b.Title, StartsAt: b.StartsAt, Roles: []string{}}
		for _, role := range b.Roles()[id] {
			if known, ok := roles.Standing(role); ok {
				one.Roles = append(one.Roles, known.Name)
			}
		}
		if len(one.Roles) > 0 {
			all = append(all, one)
		}
	}
	return all, nil
}

// accountsAtOnce is how many accounts are read at once.
const accountsAtOnce = 500

// accounts collects the accounts of an event that name a contact.
func (w *Worker) accounts(ctx context.Context, org, event int64, id string) ([]datarequest.CollectedAccount, error) {
	var keys []table.Key
	for item, err := range w.Table.Between(ctx, account.Kind.Rows(org, event).Rows, "0", "~") {
		if err != nil {
			return nil, err
		}
		row, err := party.DecodeAssociationRow(item)
		if err != nil {
			return nil, err
		}
		keys = append(keys, account.Kind.OnEvent(org, event, row.ID))
	}
	all := []datarequest.CollectedAccount{}
	for some := range slices.Chunk(keys, accountsAtOnce) {
		got, err := w.Table.GetMany(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, key := range some {
			if got[key].Version == 0 {
				continue
			}
			a, err := party.DecodeAssociation(got[key])
			if err != nil {
				return nil, err
			}
			for _, r := range a.Relations {
				if r.ContactID == id {
					all = append(all, datarequest.CollectedAccount{ID: a.ID, IsPrimary: r.IsPrimary, CreatedAt: r.CreatedAt})
				}
			}
		}
	}
	return all, nil
}

// changes collects the changes in the partition of a contact, without their values if they are too long.
func (w *Worker) changes(ctx context.Context, c *datarequest.Collected, pk string) ([]datarequest.CollectedChange, error) {
	all, length := []datarequest.CollectedChange{}, 0
	for item, err := range w.Table.Between(ctx, pk, "H#", "H#~") {
		if err != nil {
			return nil, err
		}
		r, err := change.Decode(item)
		if err != nil {
			return nil, err
		}
		one := datarequest.CollectedChange{ID: r.ID, At: r.At, Action: r.Action, Values: []datarequest.OneValue{}}
		if r.Event != 0 {
			one.EventID = &r.Event
		}
		if length += len(item.Data); length > datarequest.MostValues {
			c.OmitValues()
			r.Values = nil
			for i := range all {
				all[i].Values = []datarequest.OneValue{}
			}
		}
		for _, v := range r.Values {
			one.Values = append(one.Values, datarequest.OneValue{Field: v.Field, Old: v.Old, New: v.New})
		}
		all = append(all, one)
	}
	return all, nil
}

// collectMembers collects the members with the address of a request.
func (w *Worker) collectMembers(ctx context.Context, r *datarequest.Request) ([]datarequest.CollectedMember, error) {
	pks := make([]string, len(r.Response.Users))
	for i, id := range r.Response.Users {
		pks[i] = tenancy.MemberPK(r.OrgID, id)
	}
	members, err := tenancy.Members.Existing(ctx, w.members, pks)
	all := make([]datarequest.CollectedMember, len(members))
	for i, m := range members {
		all[i] = datarequest.CollectedMember{
			ID: m.ID, Name: m.Name, Email: m.Email, Role: string(m.Role), Active: m.Active, CreatedAt: m.CreatedAt,
		}
	}
	return all, err
}

// collectRequests collects the data requests for the address of a request.
func (w *Worker) collectRequests(ctx context.Context, r *datarequest.Request) ([]datarequest.CollectedRequest, error) {
	requests, err := w.Requests.Alike(ctx, r)
	all := make([]datarequest.CollectedRequest, len(requests))
	for i, one := range requests {
		all[i] = datarequest.CollectedRequest{ID: one.ID, Type: one.Type, Status: one.Status, CreatedAt: one.CreatedAt}
	}
	return all, err
}
