// Package auth says who is calling and what they may do: the text of API tokens,
// the checks behind a 401, and the scopes behind a 403 (spec.md section 5,
// design.md section 5). Tokens and members themselves are in package tenancy.
package auth

import (
	"context"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/programme"
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
