package oauth

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/grant"
)

const (
	aboutServer = "Describes the authorization server of the region (RFC 8414). `issuer` is the address of the region. " +
		"The description is also below `/oauth`. `registration_endpoint` is there where applications may register themselves."
	aboutResource  = "Names the authorization server whose access tokens open the region (RFC 9728)."
	aboutAssistant = "Names the authorization server whose access tokens open the MCP server of the region (RFC 9728)."
)

// The only values of some properties.
var (
	grantTypes    = []string{"authorization_code", "refresh_token"}
	responseTypes = []string{"code"}
	methods       = []string{noSecret}
)

// noSecret is the way in which applications prove who they are to the token endpoint: they do not.
const noSecret = "none"

// server is the description of the authorization server.
type server struct {
	Issuer                string       `json:"issuer" doc:"The address of the region; iss in each answer to an application."`
	AuthorizationEndpoint string       `json:"authorization_endpoint" doc:"Where an application sends the browser of a member."`
	TokenEndpoint         string       `json:"token_endpoint" doc:"Where codes and refresh tokens are exchanged."`
	RevocationEndpoint    string       `json:"revocation_endpoint" doc:"Where a connection is ended."`
	RegistrationEndpoint  string       `json:"registration_endpoint,omitempty" doc:"Where applications register themselves; absent where they may not."`
	ResponseTypes         []string     `json:"response_types_supported" nullable:"false" doc:"code."`
	GrantTypes            []string     `json:"grant_types_supported" nullable:"false" doc:"authorization_code and refresh_token."`
	Scopes                []auth.Scope `json:"scopes_supported" nullable:"false" doc:"The scopes that applications may have."`
	ChallengeMethods      []string     `json:"code_challenge_methods_supported" nullable:"false" doc:"S256."`
	TokenMethods          []string     `json:"token_endpoint_auth_methods_supported" nullable:"false" doc:"none: applications have no secret."`
	RevocationMethods     []string     `json:"revocation_endpoint_auth_methods_supported" nullable:"false" doc:"none."`
	SendsIssuer           bool         `json:"authorization_response_iss_parameter_supported" doc:"Always true (RFC 9207)."`
	Documentation         string       `json:"service_documentation" doc:"The reference of the API."`
}

func (s *service) server(ctx context.Context, _ *struct{}) (*server, error) {
	at := api.Address(ctx)
	d := &server{
		Issuer: at, AuthorizationEndpoint: at + pathAuthorize, TokenEndpoint: at + pathToken, RevocationEndpoint: at + pathRevoke,
		ResponseTypes: responseTypes, GrantTypes: grantTypes, Scopes: grant.Offered, ChallengeMethods: []string{grant.S256},
		TokenMethods: methods, RevocationMethods: methods, SendsIssuer: true, Documentation: at + "/docs",
	}
	if s.OpenRegistration {
		d.RegistrationEndpoint = at + pathRegister
	}
	return d, nil
}

// resource is the description of the region as a resource.
type resource struct {
	Resource      string       `json:"resource" doc:"The address of the region."`
	Servers       []string     `json:"authorization_servers" nullable:"false" doc:"The issuers of access tokens: the region itself."`
	Scopes        []auth.Scope `json:"scopes_supported" nullable:"false" doc:"The scopes that applications may have."`
	Methods       []string     `json:"bearer_methods_supported" nullable:"false" doc:"header: in Authorization, after Bearer."`
	Name          string       `json:"resource_name" doc:"The name of the service."`
	Documentation string       `json:"resource_documentation" doc:"The reference of the API."`
}

func (s *service) resource(ctx context.Context, _ *struct{}) (*resource, error) {
	at := api.Address(ctx)
	return &resource{at, []string{at}, grant.Offered, []string{"header"}, "Lectern " + s.Region, at + "/docs"}, nil
}

// assistants describes the MCP server as a resource.
func (s *service) assistants(ctx context.Context, in *struct{}) (*resource, error) {
	d, err := s.resource(ctx, in)
	if err == nil {
		d.Resource += api.PathMCP
	}
	return d, err
}
