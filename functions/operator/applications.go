package operator

import (
	"cmp"
	"context"

	"lectern/shared/apierr"
	"lectern/shared/grant"
	"lectern/shared/signin"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// grants returns the store of applications and their connections. The address of the region is for requests of applications alone.
func (s *Service) grants() grant.Store { return grant.Store{Tenancy: s.tenancy, NewID: s.env.NewID} }

type applicationCreate struct {
	ClientName   string   `json:"client_name"`
	RedirectURIs []string `json:"redirect_uris"`
	// Scopes are all that an application may have without.
	Scopes []tenancy.Scope `json:"scopes,omitempty"`
}

func (s *Service) createApplication(ctx context.Context, in *applicationCreate) (*grant.Client, error) {
	c := &grant.Client{Name: in.ClientName, RedirectURIs: in.RedirectURIs, Scopes: in.Scopes}
	if len(in.Scopes) == 0 {
		c.Scopes = grant.Offered
	}
	return c, s.grants().Register(ctx, c)
}

// InApplication names an application.
type InApplication struct {
	ClientID string `json:"client_id" format:"uuid"`
}

type applicationUpdate struct {
	InApplication
	ClientName   wire.Opt[string]          `json:"client_name,omitzero" nullable:"false"`
	RedirectURIs wire.Opt[[]string]        `json:"redirect_uris,omitzero" nullable:"false"`
	Scopes       wire.Opt[[]tenancy.Scope] `json:"scopes,omitzero" nullable:"false"`
	Disabled     wire.Opt[bool]            `json:"disabled,omitzero" nullable:"false"`
}

func (s *Service) updateApplication(ctx context.Context, in *applicationUpdate) (*grant.Client, error) {
	return s.grants().Edit(ctx, in.ClientID, in.apply)
}

func (in *applicationUpdate) apply(c *grant.Client) {
	in.ClientName.Into(&c.Name)
	in.RedirectURIs.Into(&c.RedirectURIs)
	in.Scopes.Into(&c.Scopes)
	in.Disabled.Into(&c.Disabled)
}

type applicationList struct {
	After string `json:"after,omitempty" format:"uuid"`
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"1000"`
}

// applications is a page of the region's applications. Next is the after of the next page, absent on the last one.
type applications struct {
	results[*grant.Client]
	Next string `json:"next,omitempty"`
}

func (s *Service) listApplications(ctx context.Context, in *applicationList) (page applications, err error) {
	page.Results, page.Next, err = s.grants().Clients(ctx, in.After, cmp.Or(in.Limit, organizationPage))
	return page, err
}

type applicationDisconnect struct {
	InApplication
	After int64 `json:"after,omitempty" minimum:"0"`
}

// disconnected says how many connections have ended. Next is the after of the next call, absent if there is nothing left to do.
type disconnected struct {
	Ended int   `json:"ended"`
	Next  int64 `json:"next,omitempty"`
}

// disconnectApplication ends the connections of an application in the next organizations, and disables it first: so there are no new ones.
func (s *Service) disconnectApplication(ctx context.Context, in *applicationDisconnect) (done disconnected, err error) {
	if _, err := s.grants().Edit(ctx, in.ClientID, func(c *grant.Client) { c.Disabled = true }); err != nil {
		return done, err
	}
	left, last := organizationPage, int64(0)
	for org, err := range s.tenancy.AllOrganizations(ctx, in.After) {
		if err != nil {
			return done, err
		}
		if left == 0 {
			done.Next = last
			return done, nil
		}
		ended, err := s.grants().DisconnectAll(ctx, org, in.ClientID)
		if done.Ended += ended; err != nil {
			return done, err
		}
		left, last = left-1, org
	}
	return done, nil
}

// ProviderOptions has the properties that create and update of an identity provider share.
type ProviderOptions struct {
	Name         wire.Opt[string]   `json:"name,omitzero" nullable:"false"`
	Issuer       wire.Opt[string]   `json:"issuer,omitzero" nullable:"false"`
	ClientID     wire.Opt[string]   `json:"client_id,omitzero" nullable:"false"`
	ClientSecret wire.Opt[string]   `json:"client_secret,omitzero" nullable:"false" maxLength:"4096"`
	Domains      wire.Opt[[]string] `json:"domains,omitzero" nullable:"false"`
	Disabled     wire.Opt[bool]     `json:"disabled,omitzero" nullable:"false"`
}

// providerEdit is a change of an identity provider, with the sealed secret; nil for the present one.
type providerEdit struct {
	ProviderOptions
	sealed []byte
}

func (in providerEdit) apply(p *tenancy.Provider) error {
	in.Name.Into(&p.Name)
	in.Issuer.Into(&p.Issuer)
	in.ClientID.Into(&p.ClientID)
	in.Domains.Into(&p.Domains)
	in.Disabled.Into(&p.Disabled)
	if in.sealed != nil {
		p.Secret = in.sealed
	}
	return nil
}

type providerCreate struct {
	InOrganization
	ProviderOptions
}

// createProvider creates a provider in two steps: the secret is sealed with the id. Until then nobody signs in there.
func (s *Service) createProvider(ctx context.Context, in *providerCreate) (*tenancy.Provider, error) {
	if err := s.haveOrganization(ctx, in.OrgID); err != nil {
		return nil, err
	}
	if in.ClientSecret.Value == "" {
		return nil, apierr.Invalid("client_secret", "client_secret must be the secret of the service at the provider.")
	}
	p := &tenancy.Provider{OrgID: in.OrgID}
	_ = providerEdit{ProviderOptions: in.ProviderOptions}.apply(p) // It has no error.
	p.Disabled = true
	if err := tenancy.Providers.Create(ctx, s.tenancy, p); err != nil {
		return nil, err
	}
	options := in.ProviderOptions
	options.Disabled = wire.Opt[bool]{Sent: true, Value: in.Disabled.Value}
	return s.editProvider(ctx, InProvider{in.InOrganization, p.ID}, options)
}

// InProvider names an identity provider.
type InProvider struct {
	InOrganization
	ProviderID int64 `json:"provider_id"`
}

type providerUpdate struct {
	InProvider
	ProviderOptions
}

func (s *Service) updateProvider(ctx context.Context, in *providerUpdate) (*tenancy.Provider, error) {
	return s.editProvider(ctx, in.InProvider, in.ProviderOptions)
}

// editProvider changes a provider, and returns what may be shown.
func (s *Service) editProvider(ctx context.Context, in InProvider, options ProviderOptions) (*tenancy.Provider, error) {
	edit := providerEdit{ProviderOptions: options}
	if options.ClientSecret.Sent {
		var err error
		if edit.sealed, err = (signin.Store{Keys: s.env.Keys}).Seal(ctx, in.OrgID, in.ProviderID, options.ClientSecret.Value); err != nil {
			return nil, err
		}
	}
	p, err := tenancy.Providers.Update(ctx, s.tenancy, tenancy.ProviderPK(in.OrgID, in.ProviderID), edit.apply)
	if err != nil {
		return nil, err
	}
	return p.WithoutSecret(), nil
}

func (s *Service) listProviders(ctx context.Context, in *InOrganization) (results[*tenancy.Provider], error) {
	all, err := list(tenancy.Providers, tenancy.ProviderPK)(s, ctx, in)
	for i, p := range all.Results {
		all.Results[i] = p.WithoutSecret()
	}
	return all, err
}
