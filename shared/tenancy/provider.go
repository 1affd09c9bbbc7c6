package tenancy

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Provider is an identity provider at which the members of an organization sign in (OpenID Connect). Several organizations may have the
// same provider: a person then signs in to all of them at once.
type Provider struct {
	ID    int64 `json:"id"`
	OrgID int64 `json:"org_id"`
	// Name is for the page of sign-in.
	Name string `json:"name"`
	// Issuer is the address of the provider, and ClientID the name of the service there.
	Issuer   string `json:"issuer"`
	ClientID string `json:"client_id"`
	// Secret is the secret of the service at the provider, sealed.
	Secret []byte `json:"secret,omitempty"`
	// Domains are those of the e-mail addresses for which the organization trusts the provider.
	Domains []string `json:"domains"`
	// Disabled providers are not used.
	Disabled  bool      `json:"disabled"`
	CreatedAt wire.Time `json:"created_at"`
	UpdatedAt wire.Time `json:"updated_at"`
	Version   int64     `json:"-"`
}

// maxDomains is how many domains a provider may have: a change of all of them is one transaction.
const maxDomains = 40

// domain matches a domain in small letters of ASCII: foreign letters are in punycode.
var domain = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$`)

func (p *Provider) check(s Store) error {
	if err := CheckName(p.Name); err != nil {
		return err
	}
	if !isIssuer(p.Issuer, s.LocalProviders) {
		return apierr.Invalid("issuer", "issuer must be an address with https, without query and fragment.")
	}
	if p.ClientID == "" || len(p.ClientID) > maxName {
		return apierr.Invalid("client_id", "client_id must have 1 to %d characters.", maxName)
	}
	return checkDomains(p.Domains)
}

// isIssuer reports whether an address may be that of a provider: with https, or if local also with http on this machine.
func isIssuer(address string, local bool) bool {
	u, err := url.Parse(address)
	return err == nil && (strings.HasPrefix(address, "https://") || local && u.Scheme == "http" && u.Hostname() == "127.0.0.1") &&
		u.Host != "" && u.RawQuery == "" && u.Fragment == "" && u.User == nil
}

// checkDomains refuses a list of domains with too many, a repeated or an invalid one.
func checkDomains(names []string) error {
	sorted := slices.Compact(slices.Sorted(slices.Values(names)))
	if len(names) == 0 || len(names) > maxDomains || len(sorted) != len(names) {
		return apierr.Invalid("domains", "domains must name 1 to %d domains, each once.", maxDomains)
	}
	for i, name := range names {
		if !domain.MatchString(name) {
			return apierr.Invalid(fmt.Sprintf("domains[%d]", i), "domains[%d] must be a domain in small letters, such as example.org.", i)
		}
	}
	return nil
}

// Trusts reports whether the organization trusts the provider for the addresses of a domain.
func (p *Provider) Trusts(domain string) bool { return slices.Contains(p.Domains, domain) }

// IsSame reports whether two organizations have the same provider: who has signed in for one has for the other.
func (p *Provider) IsSame(other *Provider) bool {
	return p.Issuer == other.Issuer && p.ClientID == other.ClientID
}

// WithoutSecret returns a copy to show, without the secret.
func (p *Provider) WithoutSecret() *Provider {
	shown := *p
	shown.Secret = nil
	return &shown
}

// ProviderPK returns the partition of a provider.
func ProviderPK(org, id int64) string { return table.Org(org) + "#IP#" + strconv.FormatInt(id, 10) }

// Providers is the family of the identity providers.
var Providers = Family[Provider]{Name: "identity_provider", Title: "Identity provider", Check: (*Provider).check,
	Secret: []string{"secret"}, Security: providerEvents, Also: domainLines,
	Facts: func(p *Provider) Facts {
		return Facts{ID: &p.ID, Version: &p.Version,
			CreatedAt: &p.CreatedAt, UpdatedAt: &p.UpdatedAt, Org: p.OrgID, PK: ProviderPK(p.OrgID, p.ID)}
	}}

// DomainPK returns the partition with a line for each provider of a domain in the region: the sign-in finds the providers of an address.
func DomainPK(name string) string { return "R#domain#" + name }

// domainLine returns the line of a provider for a domain.
func domainLine(p *Provider, name string) table.Item {
	data := fmt.Appendf(nil, "%d %d", p.OrgID, p.ID)
	return table.Item{Key: table.Key{PK: DomainPK(name), SK: fmt.Sprintf("%019d#%019d", p.OrgID, p.ID)}, Version: 1, Data: data}
}

// domainLines returns the writes of the lines of a provider's domains that a change adds and takes away.
func domainLines(before, after *Provider) (writes []table.Write) {
	var known []string
	if before != nil {
		known = before.Domains
	}
	for _, name := range after.Domains {
		if !slices.Contains(known, name) {
			writes = append(writes, table.Put(domainLine(after, name)))
		}
	}
	for _, name := range known {
		if !slices.Contains(after.Domains, name) {
			writes = append(writes, table.Delete(domainLine(after, name).Key))
		}
	}
	return writes
}
