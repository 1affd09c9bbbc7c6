// Package auth authenticates callers and checks their scopes: the form of API tokens, the
// checks for a 401, and the scopes for a 403 (spec.md section 5, design.md section 5). Package
// tenancy stores tokens and members.
//
// Read auth.go, authenticate.go, memory.go, text.go, scope.go, refusal.go.
package auth

import (
	"context"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/programme"
	"lectern/shared/tenancy"
)

// Caller is the sender of a request.
type Caller struct {
	Token  tenancy.Token
	Member tenancy.Member
	Org    tenancy.Organization
	// Event is the event in the path of the request; nil without an event in the path, and
	// for an event that the caller's organization does not have.
	Event *programme.Event
}

// SeesEvent reports whether the token and its member both have access to an event of the
// organization.
func (c *Caller) SeesEvent(id int64) bool { return c.Token.Sees(id) && c.Member.Sees(id) }

// Events returns the events that the caller may access. For a caller with access to all events
// of the organization, limited is false.
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

// The reasons in a 403: of a log export token, and of an application whose member or organization may not connect applications any more.
const (
	reasonLogExport = "log_export_only"
	reasonAIAccess  = "ai_access"
)

// May returns nil if the caller's token has one of the scopes, otherwise an apierr.Error with
// status 403. A legacy token has every read scope except ReadAuditLogs. A log export token has
// only ReadAuditLogs.
func (c *Caller) May(scopes Scopes) error {
	switch {
	case !scopes.NeedToken():
		return nil
	case c.Token.Kind == tenancy.KindOAuth && !c.Connects():
		return withoutAccess()
	case slices.ContainsFunc(scopes, c.hasScope):
		return nil
	case c.Token.Kind == tenancy.KindLogExport:
		return apierr.Forbidden(reasonLogExport, "A log export token opens the log endpoints only.")
	case c.Token.Kind == tenancy.KindLegacy && scopes.readable():
		return nil
	}
	return apierr.Forbidden("", "This needs a token with the scope "+scopes.join(" or ")+".")
}

// Lacks returns the scope that an application lacks for a route: the first of scopes that its member can approve. It is empty for a caller
// who has one of scopes, is no application, or lacks AI Access.
func (c *Caller) Lacks(scopes Scopes) Scope {
	if c.Token.Kind != tenancy.KindOAuth || !c.Connects() || slices.ContainsFunc(scopes, c.hasScope) {
		return ""
	}
	for _, s := range scopes {
		if slices.Contains(APIScopes, s) {
			return s
		}
	}
	return ""
}

// MayAssist returns nil if the caller is an application whose member may connect applications. Otherwise it returns a Refusal for another
// token, and an apierr.Error with status 403 for a member without AI Access.
func (c *Caller) MayAssist() error {
	switch {
	case c.Token.Kind != tenancy.KindOAuth:
		return &Refusal{Reason: ReasonKind, Org: c.Org.ID, Token: c.Token.ID}
	case !c.Connects():
		return withoutAccess()
	}
	return nil
}

// withoutAccess returns the error for an application whose member or organization may not connect applications any more.
func withoutAccess() error {
	return apierr.Forbidden(reasonAIAccess, "The member or the organization lacks AI Access. Ask an administrator for it.")
}

// Connects reports whether the member may connect applications (tenancy.Member.MayConnect).
func (c *Caller) Connects() bool { return c.Member.MayConnect(&c.Org) }

func (c *Caller) hasScope(s Scope) bool { return slices.Contains(c.Token.Scopes, s) }

type callerKey struct{}

// With returns a context with the caller. The caller is also the actor of the context's changes.
func With(ctx context.Context, c *Caller) context.Context {
	actor := change.Actor{Type: change.ActorToken, ID: c.Member.ID, Token: c.Token.ID}
	if c.Token.Kind == tenancy.KindOAuth {
		actor.Type = change.ActorOAuth
	}
	return change.WithActor(context.WithValue(ctx, callerKey{}, c), actor, change.SourceAPI)
}

// From returns the caller of the request; nil on a public route.
func From(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}
