// Package auth says who is calling and what they may do: the text of API tokens,
// the checks behind a 401, and the scopes behind a 403 (spec.md section 5,
// design.md section 5). Tokens and members themselves are in package tenancy.
package auth

import (
	"context"
	"crypto/subtle"
	"slices"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/programme"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// Caller is who a request comes from.
type Caller struct {
	Token  tenancy.Token
	Member tenancy.Member
	Org    tenancy.Organization
	// Event is the event in the request's path; nil when the path has none or
	// the caller's organization has no such event.
	Event *programme.Event
}

// SeesEvent is whether both the token and the member behind it are open for an
// event of the organization.
func (c *Caller) SeesEvent(id int64) bool { return c.Token.Sees(id) && c.Member.Sees(id) }

// Events are those that the caller is limited to; limited is false for a caller who
// sees every event of the organization.
func (c *Caller) Events() (ids []int64, limited bool) {
	all := c.Token.EventIDs
	if len(all) == 0 {
		all = c.Member.EventIDs
	}
	limited = len(c.Token.EventIDs) > 0 || c.Member.Role == tenancy.RoleEventOnly
	if !limited {
		return nil, false
	}
	for _, id := range all {
		if c.SeesEvent(id) {
			ids = append(ids, id)
		}
	}
	return ids, true
}

// reasonLogExport is the reason in the 403 of a log export token.
const reasonLogExport = "log_export_only"

// May is nil if the caller's token has one of the scopes, otherwise an
// apierr.Error with status 403. A legacy token has every read scope but that of
// the logs; a log export token has that one alone.
func (c *Caller) May(scopes Scopes) error {
	has := func(scope Scope) bool { return slices.Contains(c.Token.Scopes, scope) }
	switch {
	case scopes.Open(), slices.ContainsFunc(scopes, has):
		return nil
	case c.Token.Kind == tenancy.KindLogExport:
		return apierr.Forbidden(reasonLogExport, "A log export token opens the log endpoints only.")
	case c.Token.Kind == tenancy.KindLegacy && scopes.readable():
		return nil
	}
	return apierr.Forbidden("", "This needs a token with the scope "+scopes.join(" or ")+".")
}

type callerKey struct{}

// With puts the caller into the context, also as the actor of changes.
func With(ctx context.Context, c *Caller) context.Context {
	actor := change.Actor{Type: change.ActorToken, ID: c.Member.ID, Token: c.Token.ID}
	return change.WithActor(context.WithValue(ctx, callerKey{}, c), actor, change.SourceAPI)
}

// From gives the caller of the request; nil on an open route.
func From(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

// Authenticator recognizes the tokens of one region.
type Authenticator struct {
	table  *table.Table
	now    func() time.Time
	region string
}

// New makes an Authenticator for the region's table.
func New(t *table.Table, now func() time.Time, region string) *Authenticator {
	return &Authenticator{table: t, now: now, region: region}
}

// Authenticate finds out who bears a token, with one strongly consistent read of
// the token, its organization, its maker and, unless event is 0, the event of
// the path. A token that is not accepted gives a Refusal.
func (a *Authenticator) Authenticate(ctx context.Context, token string, event int64) (*Caller, error) {
	if token == "" {
		return nil, Refuse(ReasonMissing)
	}
	text, err := Parse(token)
	if err != nil {
		return nil, err
	}
	if text.Region != a.region {
		return nil, Refuse(ReasonRegion)
	}
	found, err := a.read(ctx, text, event)
	if err != nil {
		return nil, err
	}
	if reason := found.refused(text, a.now()); reason != "" {
		return nil, found.refusal(reason)
	}
	return &Caller{Token: *found.token, Member: *found.member, Org: *found.org, Event: found.event}, nil
}

// found is what stands behind a token's text; nil where there is nothing.
type found struct {
	token  *tenancy.Token
	member *tenancy.Member
	org    *tenancy.Organization
	event  *programme.Event
}

func (a *Authenticator) read(ctx context.Context, text Text, event int64) (f found, err error) {
	pks := []string{
		tenancy.TokenPK(text.Org, text.ID), tenancy.MemberPK(text.Org, text.User),
		table.Org(text.Org), table.Event(text.Org, event),
	}
	if event == 0 {
		pks = pks[:3]
	}
	keys := make([]table.Key, len(pks))
	for i, pk := range pks {
		keys[i] = table.Key{PK: pk, SK: "-"}
	}
	got, err := a.table.GetMany(ctx, keys)
	if err != nil {
		return f, err
	}
	take(got, keys[0], tenancy.Tokens, &f.token, &err)
	take(got, keys[1], tenancy.Members, &f.member, &err)
	take(got, keys[2], tenancy.Organizations, &f.org, &err)
	if event != 0 {
		take(got, keys[3], programme.Events, &f.event, &err)
	}
	return f, err
}

// take reads the record at key, if there is one and no error so far.
func take[T any](got map[table.Key]table.Item, key table.Key, family tenancy.Family[T], to **T, err *error) {
	if item, ok := got[key]; ok && *err == nil {
		*to, *err = family.Decode(item)
	}
}

// refused is why what was found does not let the bearer in; empty if it does.
func (f found) refused(text Text, now time.Time) Reason {
	switch {
	case f.token == nil || f.token.UserID != text.User:
		return ReasonUnknown
	case subtle.ConstantTimeCompare(f.token.SecretHash, text.Hash()) != 1:
		return ReasonWrongSecret
	case f.token.RevokedAt != nil:
		return ReasonRevoked
	case f.token.Expired(now):
		return ReasonExpired
	case f.org == nil || f.org.Disabled:
		return ReasonOrganization
	case f.member == nil || !f.member.Present():
		return ReasonOwner
	}
	return ""
}

// refusal names the token if it is known, for the log.
func (f found) refusal(reason Reason) error {
	r := &Refusal{Reason: reason}
	if reason != ReasonUnknown {
		r.Org, r.Token = f.token.OrgID, f.token.ID
	}
	return r
}
