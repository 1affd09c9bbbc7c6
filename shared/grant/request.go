package grant

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"lectern/shared/auth"
)

// Request has the parameters of an authorization request (spec.md section 5.2).
type Request struct {
	ClientID, RedirectURI, ResponseType, Scope, CodeChallenge, CodeChallengeMethod, State, Resource string
}

// Authorization is a valid request of an application to a member.
type Authorization struct {
	Client      *Client
	RedirectURI string
	Scopes      []auth.Scope
	// Challenge is the PKCE challenge (RFC 7636), State the text that the application gets back.
	Challenge, State string
}

// challenge matches a challenge of the method S256: 32 bytes in base64url.
var challenge = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// S256 is the only method of a challenge.
const S256 = "S256"

// maxState is the largest length of a state.
const maxState = 2000

// Check returns what a request asks for. The error is an *Error for a request that breaks a rule: before the application and its address
// are known to belong together, it must not be told at that address.
func (st Store) Check(ctx context.Context, r Request) (*Authorization, error) {
	client, err := st.Client(ctx, r.ClientID)
	if err != nil {
		return nil, err
	}
	if !client.redirects(r.RedirectURI) {
		return nil, refuse(InvalidRequest, "redirect_uri is not one of the addresses of the application.")
	}
	scopes, refused := parseScopes(r.Scope, client.Scopes, client.Scopes)
	switch {
	case r.ResponseType != "code":
		refused = refuse(UnsupportedType, "response_type must be code.")
	case len(r.State) > maxState:
		refused = refuse(InvalidRequest, "state must have at most 2000 characters.")
	case r.CodeChallengeMethod != S256:
		refused = refuse(InvalidRequest, "code_challenge_method must be S256.")
	case !challenge.MatchString(r.CodeChallenge):
		refused = refuse(InvalidRequest, "code_challenge must be the SHA-256 of the code verifier, in 43 characters of base64url.")
	case !st.isResource(r.Resource):
		refused = foreign()
	}
	if refused != nil {
		refused.Redirects, refused.Stranger = true, client.SelfRegistered
		return nil, refused
	}
	return &Authorization{client, r.RedirectURI, scopes, r.CodeChallenge, r.State}, nil
}

// foreign returns the error for a resource that isResource refuses.
func foreign() *Error { return refuse(InvalidTarget, "resource must be an address of this region.") }

// isResource reports whether an application may name an address as what it wants access to (RFC 8707): the region, or a part of it. The
// name tells an application of another region that it is wrong here. It limits nothing, since a token opens all of /v1 (spec.md
// section 5.2).
func (st Store) isResource(address string) bool {
	rest, within := strings.CutPrefix(address, st.Address)
	return address == "" || within && (rest == "" || rest[0] == '/') && len(address) <= maxAddress &&
		!strings.ContainsAny(rest, "#?\\") && !strings.ContainsFunc(rest, isNotASCII)
}

// Granted returns the address of the application with a code, and Refused that with an error: the way of the browser back to the
// application of a request with a known address (RFC 6749 section 4.1.2, RFC 9207).
func (st Store) Granted(r Request, code string) string { return st.back(r, "code", code) }

// Refused returns the address of the application with an error, see Granted.
func (st Store) Refused(r Request, e *Error) string {
	return st.back(r, "error", e.Code, "error_description", e.Description)
}

// back returns the address of the application with parameters, and the state and the issuer.
func (st Store) back(r Request, parameters ...string) string {
	sent := url.Values{"iss": {st.Address}}
	for pair := range slices.Chunk(parameters, 2) {
		sent.Set(pair[0], pair[1])
	}
	if r.State != "" && len(r.State) <= maxState {
		sent.Set("state", r.State)
	}
	address, query, _ := strings.Cut(r.RedirectURI, "?")
	if query != "" {
		query += "&"
	}
	return address + "?" + query + sent.Encode()
}
