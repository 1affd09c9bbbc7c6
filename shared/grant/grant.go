// Package grant lets members connect applications (spec.md section 5.2, docs/decisions/0056): the registered applications, the scopes that
// applications may ask for, the code that a consent gives, and the tokens that an application gets for the code and then for a refresh
// token. A connection is a token of the kind tenancy.KindOAuth. Package auth accepts the access tokens.
//
// Read grant.go, client.go, redirect.go, request.go, code.go, tokens.go, refresh.go.
package grant

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/change"
	"lectern/shared/keys"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// How long codes and tokens are valid. No use makes one valid for longer.
const (
	codeLife    = time.Minute
	accessLife  = time.Hour
	refreshLife = 7 * 24 * time.Hour
	// repeatTime is how long an application that lost the answer to a refresh gets the same answer again.
	repeatTime = 10 * time.Second
	// usedLife is how long a code is remembered, to notice a second use.
	usedLife = 24 * time.Hour
)

// Keys are the patterns of the items of applications and codes. Both belong to the region: an application works with all organizations.
var Keys = []keys.Pattern{
	{Name: "application", PK: applications, SK: "<id>", Personal: keys.Nothing},
	{Name: "authorization code", PK: "R#code#<hash>", SK: "-", Expires: true, Personal: keys.Nothing},
}

// Store keeps applications and their connections.
type Store struct {
	Tenancy tenancy.Store
	// Address is the address of the region, such as https://us.example.com, without a slash at the end.
	Address string
	NewID   func() string
}

// Error is an error of OAuth (RFC 6749 sections 4.1.2.1 and 5.2), for the application.
type Error struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
	// Redirects reports whether the application may be told at the address of its request: it is one of its addresses.
	Redirects bool `json:"-"`
	// Stranger reports whether the application has registered itself, so that nobody should be sent to its address without a click.
	Stranger bool `json:"-"`
	// Reused reports whether a connection has ended, since its code or a refresh token was used again: Connection of Org.
	Reused          bool  `json:"-"`
	Org, Connection int64 `json:"-"`
}

// Error returns code and description.
func (e *Error) Error() string { return e.Code + ": " + e.Description }

// Unwrap returns the error as the answer of a request.
func (e *Error) Unwrap() error { return apierr.OAuth(http.StatusBadRequest, e.Code, e.Description) }

// The codes of errors.
const (
	InvalidRequest  = "invalid_request"
	InvalidClient   = "invalid_client"
	InvalidGrant    = "invalid_grant"
	InvalidScope    = "invalid_scope"
	InvalidTarget   = "invalid_target"
	AccessDenied    = "access_denied"
	UnsupportedType = "unsupported_response_type"
	// UnsupportedGrant is for a grant_type that is neither authorization_code nor refresh_token.
	UnsupportedGrant = "unsupported_grant_type"
)

func refuse(code, description string) *Error { return &Error{Code: code, Description: description} }

// Offered lists the scopes that applications may have: all but those of log export tokens.
var Offered = auth.APIScopes

// parseScopes returns the scopes of a list with spaces, each once; otherwise for an empty list. The error is for a scope that is not
// among allowed.
func parseScopes(list string, otherwise, allowed []auth.Scope) ([]auth.Scope, *Error) {
	names := strings.Fields(list)
	if len(names) == 0 {
		return otherwise, nil
	}
	var scopes []auth.Scope
	for _, name := range names {
		scope := auth.Scope(name)
		if !slices.Contains(allowed, scope) {
			return nil, refuse(InvalidScope, "The application may not ask for the scope "+printable(name)+".")
		}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes, nil
}

// narrowed returns the error for an application that may not ask any more for what its member has approved.
func narrowed() *Error { return refuse(InvalidGrant, "The application may not ask for this any more.") }

// common returns the scopes that two lists have in common, in the order of the first.
func common(scopes, others []auth.Scope) []auth.Scope {
	var both []auth.Scope
	for _, s := range scopes {
		if slices.Contains(others, s) {
			both = append(both, s)
		}
	}
	return both
}

// JoinScopes returns scopes as a list with spaces.
func JoinScopes(scopes []auth.Scope) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, " ")
}

// printable returns a text for a description: at most 100 characters, and those of ASCII alone that RFC 6749 allows.
func printable(text string) string {
	const most = 100
	var shown []rune
	for _, r := range text {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			r = '?'
		}
		if shown = append(shown, r); len(shown) == most {
			break
		}
	}
	return string(shown)
}

// connects returns access_denied for a member without AI Access; nil for a member with AI Access.
func (st Store) connects(ctx context.Context, org, user int64) (*Error, error) {
	got, err := st.Tenancy.Table.GetMany(ctx, personKeys(org, user))
	if err != nil {
		return nil, err
	}
	return denied(got, org, user)
}

// personKeys returns the keys of a member and the organization, for denied.
func personKeys(org, user int64) []table.Key {
	return []table.Key{{PK: tenancy.MemberPK(org, user), SK: "-"}, {PK: table.Org(org), SK: "-"}}
}

// denied returns access_denied for a member without AI Access, from the items of personKeys; nil for a member with AI Access.
func denied(got write.Items, org, user int64) (*Error, error) {
	m, err := tenancy.Members.In(got, tenancy.MemberPK(org, user))
	if err != nil {
		return nil, err
	}
	o, err := tenancy.Organizations.In(got, table.Org(org))
	switch {
	case err != nil:
		return nil, err
	case o == nil || o.Disabled || m == nil || !m.Present():
		return refuse(AccessDenied, "The member does not belong to the organization any more."), nil
	case !m.MayConnect(o):
		return refuse(AccessDenied, "The member or the organization may not connect applications."), nil
	}
	return nil, nil
}

func (st Store) now() wire.Time { return wire.At(st.Tenancy.Now()) }

// end is the reason of the end of a connection.
type end struct {
	at     wire.Time
	reason string
}

// errEnded is the error of a connection that has ended before.
var errEnded = errors.New("grant: the connection has ended")

// of ends a connection.
func (e end) of(t *tenancy.Token) error {
	if t.RevokedAt != nil || t.Grant == nil {
		return errEnded
	}
	t.RevokedAt, t.Grant.Ended = &e.at, e.reason
	return nil
}

// end ends a connection: from now on no token of the connection is accepted. It reports whether the connection has ended by it: one that
// has ended before, or does not exist, stays as it is.
func (st Store) end(ctx context.Context, org, id int64, reason string) (ended bool, err error) {
	_, err = tenancy.Tokens.Update(ctx, st.Tenancy, tenancy.TokenPK(org, id), end{st.now(), reason}.of)
	if errors.Is(err, errEnded) {
		return false, nil
	}
	return err == nil, unlessNotFound(err)
}

// endForReuse ends a connection whose code or refresh token was used again, and returns the error for the application. The error reports
// the reuse if the connection has ended by it.
func (st Store) endForReuse(ctx context.Context, org, id int64, description string) error {
	ended, err := st.end(ctx, org, id, tenancy.EndedByReuse)
	if err != nil {
		return err
	}
	return &Error{Code: InvalidGrant, Description: description, Reused: ended, Org: org, Connection: id}
}

// asApplication returns a context in which the application of a connection acts for the member; id is 0 before the connection has one.
func asApplication(ctx context.Context, user, id int64) context.Context {
	return change.WithActor(ctx, change.Actor{Type: change.ActorOAuth, ID: user, Token: id}, change.SourceAPI)
}

// unlessNotFound returns an error that is no 404.
func unlessNotFound(err error) error {
	if apierr.IsNotFound(err) {
		return nil
	}
	return err
}
