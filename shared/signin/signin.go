// Package signin signs members in with the identity providers of their organizations, by OpenID Connect, and keeps the sessions of
// browsers (docs/decisions/0057). A person is known by the e-mail address that a provider has verified, and is a member of each
// organization that trusts the provider for the address.
//
// Read signin.go, attempt.go, session.go.
package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"

	"lectern/shared/keys"
	"lectern/shared/lru"
	"lectern/shared/outside"
	"lectern/shared/secret"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

const (
	// sessionLife is the time after which a session ends, and idleLife the time without a request.
	sessionLife = 12 * time.Hour
	idleLife    = time.Hour
	// seenEvery is how often a session notes a use.
	seenEvery = 5 * time.Minute
	// attemptLife is the time that a person has for the sign-in at the provider.
	attemptLife = 10 * time.Minute
	// discoveryLife is how long the description of a provider is kept, and failureLife a failure to get it.
	discoveryLife = time.Hour
	failureLife   = 10 * time.Second
	// callTime limits a call of a provider, and maxAnswer the bytes of its answer.
	callTime  = 5 * time.Second
	maxAnswer = 1 << 20
)

// callback begins the path to which providers send browsers back. Each provider has a path of its own, so that one cannot send what
// another has given.
const callback = "/oauth/signin/callback/"

// Place returns the end of the path to which a provider sends browsers back.
func Place(p *tenancy.Provider) string { return fmt.Sprintf("%d-%d", p.OrgID, p.ID) }

// Keys are the patterns of the items of attempts and sessions.
var Keys = []keys.Pattern{
	{Name: "attempt to sign in", PK: "R#attempt#<hash>", SK: "-", Expires: true, Personal: keys.Nothing},
	{Name: "session of a browser", PK: "R#browser#<hash>", SK: "-", Expires: true, Personal: keys.Outside},
}

// Store signs members in.
type Store struct {
	Tenancy tenancy.Store
	Keys    *secret.Keys
	// Address is the address of the region, without a slash at the end.
	Address string
	// Client calls the providers; see NewClient.
	Client *http.Client
	// Known keeps the descriptions of providers.
	Known *Known
}

// NewClient returns the client for providers on a network. local allows providers at http://127.0.0.1:PORT.
func NewClient(n outside.Network, local bool) *http.Client {
	return n.Client(local, callTime, maxAnswer)
}

// Reason says why nobody was signed in. The person sees a text for it.
type Reason string

// The reasons.
const (
	// UnknownAttempt is for a browser that began no sign-in, or too long ago.
	UnknownAttempt Reason = "unknown_attempt"
	// ProviderRefused is for a person whom the provider did not sign in.
	ProviderRefused Reason = "provider_refused"
	// ProviderFailed is for a provider that cannot be reached, or whose answer proves nothing.
	ProviderFailed Reason = "provider_failed"
	// Unverified is for an address that the provider has not verified.
	Unverified Reason = "email_not_verified"
	// ForeignDomain is for an address for which the organization does not trust the provider.
	ForeignDomain Reason = "foreign_domain"
	// NoMember is for a person without an active member.
	NoMember Reason = "no_member"
)

// Refusal is the error of a sign-in that failed.
type Refusal struct {
	Reason Reason
	// Org is the organization of the provider; 0 if unknown.
	Org   int64
	cause error
}

// Error returns reason and cause, for the log.
func (r *Refusal) Error() string { return fmt.Sprintf("signin: %s: %s", r.Reason, plain(r.cause)) }

// plain returns the first 200 characters of an error's text, with spaces for control characters: a provider can write into the text.
func plain(err error) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, fmt.Sprintf("%.200v", err))
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.cause }

// domainOf returns the domain of an address in small letters; empty for a text that is no address. Addresses with characters beyond ASCII
// are none here: some of these characters become letters of ASCII where case is folded.
func domainOf(email string) string {
	at := strings.LastIndexByte(email, '@')
	if at <= 0 || strings.ContainsFunc(email, isForeign) {
		return ""
	}
	return strings.ToLower(email[at+1:])
}

func isForeign(r rune) bool { return r <= ' ' || r > '~' }

// Providers returns the providers at which a person with an e-mail address may sign in: one of each issuer and client.
func (st Store) Providers(ctx context.Context, email string) ([]*tenancy.Provider, error) {
	all, err := st.trusted(ctx, domainOf(email))
	if err != nil {
		return nil, err
	}
	var different []*tenancy.Provider
	for _, p := range all {
		if !slices.ContainsFunc(different, p.IsSame) {
			different = append(different, p)
		}
	}
	return different, nil
}

// trusted returns the providers of all organizations for a domain.
func (st Store) trusted(ctx context.Context, domain string) ([]*tenancy.Provider, error) {
	if domain == "" {
		return nil, nil
	}
	var pks []string
	for item, err := range st.Tenancy.Table.Between(ctx, tenancy.DomainPK(domain), "0", ":") {
		if err != nil {
			return nil, err
		}
		var org, id int64
		if _, err := fmt.Sscan(string(item.Data), &org, &id); err != nil {
			return nil, fmt.Errorf("signin: line of %s: %w", domain, err)
		}
		pks = append(pks, tenancy.ProviderPK(org, id))
	}
	all, err := tenancy.Providers.Existing(ctx, st.Tenancy, pks)
	return slices.DeleteFunc(all, func(p *tenancy.Provider) bool { return p.Disabled || !p.Trusts(domain) }), err
}

// Known keeps the descriptions of providers for an hour each, and failures to get one for ten seconds. It is safe for concurrent use.
type Known struct{ all *lru.Cache[string, described] }

// NewKnown returns an empty Known, for at most maxKnown providers.
func NewKnown() *Known { return &Known{lru.New[string, described](maxKnown)} }

const maxKnown = 1000

// described is the description of a provider, or the failure to get it.
type described struct {
	*oidc.Provider
	failure error
	until   time.Time
}

// of returns the description of an issuer: its addresses and keys.
func (k *Known) of(ctx context.Context, issuer string, now time.Time) (*oidc.Provider, error) {
	found, ok := k.all.Get(issuer)
	if ok && now.Before(found.until) {
		return found.Provider, found.failure
	}
	p, err := discover(ctx, issuer)
	if errors.Is(ctx.Err(), context.Canceled) { // A browser that leaves says nothing about the provider.
		return p, err
	}
	next := described{p, nil, now.Add(discoveryLife)}
	if err != nil { // An old description is better than none.
		next = described{found.Provider, nil, now.Add(failureLife)}
	}
	if next.Provider == nil {
		next.failure = errors.New(plain(err)) // The text has the whole answer.
	}
	k.all.Put(issuer, next, 1)
	return next.Provider, next.failure
}

// discover asks an issuer for its description. It refuses a description of an issuer with https that has an address without.
func discover(ctx context.Context, issuer string) (*oidc.Provider, error) {
	p, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		return nil, err
	}
	var said struct {
		Keys string `json:"jwks_uri"`
	}
	if err := p.Claims(&said); err != nil {
		return nil, err
	}
	for _, address := range []string{p.Endpoint().AuthURL, p.Endpoint().TokenURL, said.Keys} {
		if isSecure(issuer) && !isSecure(address) {
			return nil, errors.New("the provider has an address without https")
		}
	}
	return p, nil
}

// isSecure reports whether an address has https.
func isSecure(address string) bool { return strings.HasPrefix(address, "https://") }

// keyOf returns the key of the item of a cookie. The table has no cookies.
func keyOf(kind, cookie string) table.Key {
	return table.Key{PK: "R#" + kind + "#" + secret.HashText(cookie), SK: "-"}
}
