package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/grant"
)

const (
	aboutToken = "Gives an application tokens: for a code (`grant_type` `authorization_code`), or for a refresh token (`refresh_token`). " +
		"The body is JSON or `application/x-www-form-urlencoded`. Applications have no secret; they prove by `code_verifier` that the code " +
		"is theirs.\n\n" +
		"- An access token is valid for an hour, a refresh token for seven days and for one exchange. An exchange gives a new refresh token.\n" +
		"- A code, or a refresh token, that is used a second time ends the connection: somebody else may have it. For ten seconds, a " +
		"refresh token gives the same tokens again, for an application that lost the answer.\n" +
		"- `scope` of a refresh may name fewer scopes, for this access token.\n\n" +
		"For example:\n\n```json\n" + `{"grant_type": "authorization_code", "client_id": "5c6d...", "code": "Zk3q...", ` +
		`"redirect_uri": "https://app.example/done", "code_verifier": "dBjf..."}` + "\n```"
	aboutRevoke = "Ends the connection of an access or refresh token: no token of the connection is valid any more. The answer is the same " +
		"for a text that is no token (RFC 7009). `token_type_hint` is not needed. For example:\n\n```json\n" + `{"token": "lcr_..."}` + "\n```"
)

// tokenRequest is a request for tokens.
type tokenRequest struct {
	_            struct{} `json:"-" additionalProperties:"true"`
	GrantType    string   `json:"grant_type" doc:"authorization_code or refresh_token."`
	ClientID     string   `json:"client_id,omitempty" doc:"The id of the application. Required, unless it is the user of HTTP Basic, without a password."`
	Code         string   `json:"code,omitempty" doc:"The code. Required for authorization_code."`
	RedirectURI  string   `json:"redirect_uri,omitempty" doc:"redirect_uri of the authorization request. Required for authorization_code."`
	CodeVerifier string   `json:"code_verifier,omitempty" doc:"The PKCE verifier. Required for authorization_code."`
	RefreshToken string   `json:"refresh_token,omitempty" doc:"The refresh token. Required for refresh_token."`
	Scope        string   `json:"scope,omitempty" doc:"Fewer scopes for the access token of a refresh, with spaces."`
	Resource     string   `json:"resource,omitempty" doc:"The address of this region, or of a part of it (RFC 8707)."`
}

func (s *service) token(ctx context.Context, in *struct{ Body tokenRequest }) (*grant.Tokens, error) {
	tokens, err := s.exchange(ctx, in.Body)
	if refused := (*grant.Error)(nil); errors.As(err, &refused) && refused.Reused {
		s.Log.WarnContext(ctx, "a connection has ended: a code or refresh token was used again", "metric", "connection_reuse",
			"org", refused.Org, "token", refused.Connection)
	}
	return tokens, err
}

// exchange exchanges a code or a refresh token.
func (s *service) exchange(ctx context.Context, b tokenRequest) (*grant.Tokens, error) {
	client, err := clientID(ctx, b.ClientID)
	if err != nil {
		return nil, err
	}
	switch b.GrantType {
	case "":
		return nil, required("grant_type", "")
	case "authorization_code":
		if err := required("client_id", client, "code", b.Code, "redirect_uri", b.RedirectURI, "code_verifier", b.CodeVerifier); err != nil {
			return nil, err
		}
		return s.grants(ctx).Tokens(ctx, grant.Exchange{
			Code: b.Code, RedirectURI: b.RedirectURI, ClientID: client, Verifier: b.CodeVerifier, Resource: b.Resource,
		})
	case "refresh_token":
		if err := required("client_id", client, "refresh_token", b.RefreshToken); err != nil {
			return nil, err
		}
		return s.grants(ctx).Refresh(ctx, grant.Refresh{Token: b.RefreshToken, ClientID: client, Scope: b.Scope, Resource: b.Resource})
	}
	return nil, apierr.OAuth(http.StatusBadRequest, grant.UnsupportedGrant, "grant_type must be authorization_code or refresh_token.")
}

// required refuses a request that lacks a parameter. The parameters are names with values.
func required(parameters ...string) error {
	for pair := range slices.Chunk(parameters, 2) {
		if pair[1] == "" {
			return apierr.Invalid(pair[0], "%s is required.", pair[0])
		}
	}
	return nil
}

// clientID returns the id of the application: sent in the body, or as the user of HTTP Basic, as some libraries do
// (RFC 6749 section 2.3.1). It refuses a secret, since no application has one, and a header of HTTP Basic that names nobody.
func clientID(ctx context.Context, sent string) (string, error) {
	r := http.Request{Header: api.Header(ctx)}
	user, secret, ok := r.BasicAuth()
	if scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " "); !ok && !strings.EqualFold(scheme, "Basic") {
		return sent, nil
	}
	id, err := url.QueryUnescape(user)
	switch {
	case secret != "" || err != nil:
		return "", apierr.OAuth(http.StatusBadRequest, grant.InvalidClient, "Applications have no secret. Send client_id alone.")
	case id == "":
		return "", apierr.Invalid("client_id", "The header Authorization names no application.")
	case sent != "" && sent != id:
		return "", apierr.Invalid("client_id", "client_id and the user of the header Authorization are different.")
	}
	return id, nil
}

// revocation is a request to end a connection.
type revocation struct {
	_     struct{} `json:"-" additionalProperties:"true"`
	Token string   `json:"token" doc:"An access or a refresh token."`
	Hint  string   `json:"token_type_hint,omitempty" doc:"access_token or refresh_token; not needed."`
	// ClientID limits the request to the tokens of an application.
	ClientID string `json:"client_id,omitempty" doc:"The id of the application; a token of another one is ignored."`
}

type revoked struct{}

func (s *service) revoke(ctx context.Context, in *struct{ Body revocation }) (*revoked, error) {
	client, err := clientID(ctx, in.Body.ClientID)
	if err != nil {
		return nil, err
	}
	return &revoked{}, s.grants(ctx).Revoke(ctx, in.Body.Token, client)
}
