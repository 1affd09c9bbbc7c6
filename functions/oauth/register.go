package oauth

import (
	"cmp"
	"context"
	"hash/fnv"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/grant"
	"lectern/shared/ratelimit"
	"lectern/shared/tenancy"
)

const aboutRegister = "Registers an application (RFC 7591), where the operator of the region allows it: 403 elsewhere. " +
	"All applications are public clients, so the answer has no secret, whatever `token_endpoint_auth_method` asks for. " +
	"An application that no member connects within a day is forgotten. An IP address may register 20 applications in 15 minutes. " +
	"For example:\n\n```json\n" +
	`{"client_name": "Agenda", "redirect_uris": ["https://app.example/done"], "scope": "read:events read:sessions"}` + "\n```"

// registration describes an application. Other properties of RFC 7591 are ignored.
type registration struct {
	_            struct{} `json:"-" additionalProperties:"true"`
	ClientName   string   `json:"client_name,omitempty" doc:"The name that members see; the host of the first address without."`
	RedirectURIs []string `json:"redirect_uris" nullable:"false" doc:"The addresses that may get codes."`
	Scope        string   `json:"scope,omitempty" doc:"The scopes that the application may ask for, with spaces; all without."`
}

// registered is the application as it was registered.
type registered struct {
	ClientID      string   `json:"client_id" doc:"The id of the application."`
	IssuedAt      int64    `json:"client_id_issued_at" doc:"When it was registered, in Unix seconds."`
	ClientName    string   `json:"client_name" doc:"The name that members see."`
	RedirectURIs  []string `json:"redirect_uris" nullable:"false" doc:"The addresses that may get codes."`
	Scope         string   `json:"scope" doc:"The scopes that the application may ask for, with spaces."`
	GrantTypes    []string `json:"grant_types" nullable:"false" doc:"authorization_code and refresh_token."`
	ResponseTypes []string `json:"response_types" nullable:"false" doc:"code."`
	Method        string   `json:"token_endpoint_auth_method" doc:"none: there is no secret."`
}

// Errors of RFC 7591 section 3.2.2.
const (
	invalidRedirect = "invalid_redirect_uri"
	invalidMetadata = "invalid_client_metadata"
)

func (s *service) register(ctx context.Context, in *struct{ Body registration }) (*registered, error) {
	if !s.OpenRegistration {
		return nil, apierr.OAuth(http.StatusForbidden, grant.AccessDenied, "Applications do not register themselves here. Ask the operator.")
	}
	if err := s.limitClient(ctx, ratelimit.Registrations, maxRegistrations); err != nil {
		return nil, err
	}
	name := cmp.Or(in.Body.ClientName, hostOf(in.Body.RedirectURIs))
	c := &grant.Client{Name: name, RedirectURIs: in.Body.RedirectURIs, Scopes: grant.Offered}
	if names := strings.Fields(in.Body.Scope); len(names) > 0 {
		c.Scopes = nil
		for _, name := range names {
			c.Scopes = append(c.Scopes, auth.Scope(name))
		}
	}
	if err := s.grants(ctx).RegisterStranger(ctx, c); err != nil {
		return nil, refusedMetadata(err)
	}
	s.Log.InfoContext(ctx, "an application has registered itself", "metric", "application_registered", "client", c.ID,
		"host", hostOf(c.RedirectURIs))
	return &registered{
		ClientID: c.ID, IssuedAt: c.CreatedAt.Unix(), ClientName: c.Name, RedirectURIs: c.RedirectURIs, Scope: grant.JoinScopes(c.Scopes),
		GrantTypes: grantTypes, ResponseTypes: responseTypes, Method: noSecret,
	}, nil
}

// refusedMetadata gives a refused registration its code.
func refusedMetadata(err error) error {
	if !apierr.IsInvalid(err) {
		return err
	}
	code, e := invalidMetadata, api.Visible(err)
	switch field, _ := e.Details["field"].(string); {
	case strings.HasPrefix(field, "redirect_uris"):
		code = invalidRedirect
	case strings.HasPrefix(field, "scopes"):
		e.Message = "scope must name scopes that applications may have, each once."
	}
	return apierr.OAuth(http.StatusBadRequest, code, e.Message)
}

// hostOf returns the host of the first address; the address itself without a host.
func hostOf(addresses []string) string {
	if len(addresses) == 0 {
		return ""
	}
	u, err := url.Parse(addresses[0])
	if err != nil {
		return ""
	}
	return cmp.Or(u.Hostname(), u.Scheme)
}

// maxRegistrations is how many applications an address may register in a window of the rate limiter.
const maxRegistrations = 20

// limitClient refuses a client that has sent too many requests of a kind. The clients of a network of IPv6 count as one.
func (s *service) limitClient(ctx context.Context, of ratelimit.Bucket, most int64) error {
	address, _ := netip.ParseAddr(api.Client(ctx))
	if network, err := address.Prefix(64); address.Is6() && err == nil {
		address = network.Addr()
	}
	return s.limit(ctx, address.String(), of, most)
}

// limit refuses a requester who has sent too many requests of a kind.
func (s *service) limit(ctx context.Context, by string, of ratelimit.Bucket, most int64) error {
	h := fnv.New64a()
	_, _ = h.Write([]byte(by))
	verdict := s.limiter.Take(ctx, tenancy.Token{ID: int64(h.Sum64()>>1) | 1, Limit: most}, of)
	if verdict.Allowed {
		return nil
	}
	refused := apierr.TooManyRequests("Too many requests. Please try again later.")
	refused.Header = verdict.Header()
	return refused
}
