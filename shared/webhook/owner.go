package webhook

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lectern/shared/auth"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// owner is the token that wrote an endpoint last, with its member, as stored now.
type owner struct {
	auth.Caller
	// gone says why the token is no caller any more; empty for a caller.
	gone string
}

// absent returns why the endpoint gets nothing; empty for an endpoint that gets something.
func (o *owner) absent() string { return o.gone }

func (o *owner) may(kind string) bool { return o.gone == "" && o.May(ScopesOf(kind)) == nil }

// sees reports whether the owner sees an event. An owner that is limited to events does not get
// changes of records of the organization.
func (o *owner) sees(event int64) bool {
	if event == 0 {
		_, limited := o.Events()
		return !limited
	}
	return o.SeesEvent(event)
}

// pausedReason says what the endpoint does not get because of its owner; nil if it gets all.
func (e *Endpoint) pausedReason() *string {
	reason := e.owner.absent()
	if reason == "" {
		reason = e.missing()
	}
	if reason == "" {
		return nil
	}
	return &reason
}

// missing names the kinds and events that the owner may not read any more; empty without any.
func (e *Endpoint) missing() string {
	var parts, events []string
	kinds := slices.DeleteFunc(slices.Clone(e.Events), e.owner.may)
	if len(kinds) > 0 {
		parts = append(parts, strings.Join(kinds, ", "))
	}
	for _, id := range e.EventIDs {
		if !e.owner.SeesEvent(id) {
			events = append(events, fmt.Sprint(id))
		}
	}
	if len(events) > 0 {
		parts = append(parts, "changes of event "+strings.Join(events, ", "))
	}
	if parts == nil {
		return ""
	}
	return "The token that wrote the endpoint last may not read " + strings.Join(parts, ", nor ") + ", so the endpoint does not get those."
}

// Reasons for which an endpoint gets nothing.
const (
	goneOrganization = "The organization is disabled."
	goneMember       = "The member behind the token that wrote the endpoint last is not active."
	goneRevoked      = "The token that wrote the endpoint last is revoked."
	goneExpired      = "The token that wrote the endpoint last has expired."
	goneToken        = "The token that wrote the endpoint last does not exist."
	goneAIAccess     = "The member behind the application that wrote the endpoint last, or the organization, lacks AI Access."
)

// loadOwners loads the owners of endpoints in one batch, and sets each PausedReason.
func loadOwners(ctx context.Context, t *table.Table, now time.Time, org int64, all ...*Endpoint) error {
	hidden := make([]private, len(all))
	keys := []table.Key{{PK: table.Org(org), SK: "-"}}
	for i, e := range all {
		p, err := e.private()
		if err != nil {
			return err
		}
		hidden[i] = p
		keys = append(keys, tokenKey(org, p.Token), memberKey(org, p.Member))
	}
	if len(all) == 0 {
		return nil
	}
	got, err := t.GetMany(ctx, keys)
	if err != nil {
		return err
	}
	for i, e := range all {
		if e.owner, err = ownerOf(got, now, org, hidden[i]); err != nil {
			return err
		}
		e.PausedReason = e.pausedReason()
	}
	return nil
}

func tokenKey(org, id int64) table.Key  { return table.Key{PK: tenancy.TokenPK(org, id), SK: "-"} }
func memberKey(org, id int64) table.Key { return table.Key{PK: tenancy.MemberPK(org, id), SK: "-"} }

// ownerOf returns the owner of an endpoint from the items read.
func ownerOf(got map[table.Key]table.Item, now time.Time, org int64, p private) (*owner, error) {
	o := new(owner)
	token, err := tenancy.Tokens.In(got, tenancy.TokenPK(org, p.Token))
	if err != nil {
		return nil, err
	}
	member, err := tenancy.Members.In(got, tenancy.MemberPK(org, p.Member))
	if err != nil {
		return nil, err
	}
	organization, err := tenancy.Organizations.In(got, table.Org(org))
	if err != nil {
		return nil, err
	}
	if o.gone = gone(organization, member, token, now); o.gone != "" {
		return o, nil
	}
	o.Caller = auth.Caller{Token: *token, Member: *member, Org: *organization}
	if token.Kind == tenancy.KindOAuth && !o.Connects() {
		o.gone = goneAIAccess
	}
	return o, nil
}

// gone returns why a token is no caller; empty for a caller. The records are nil if they do not exist.
func gone(o *tenancy.Organization, m *tenancy.Member, t *tenancy.Token, now time.Time) string {
	switch {
	case o == nil || o.Disabled:
		return goneOrganization
	case m == nil || !m.Present():
		return goneMember
	case t == nil:
		return goneToken
	case t.RevokedAt != nil:
		return goneRevoked
	case t.Expired(now):
		return goneExpired
	}
	return ""
}
