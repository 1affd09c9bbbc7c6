package signin

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"lectern/shared/apierr"
	"lectern/shared/record"
	"lectern/shared/secret"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// attempt is a sign-in that a browser has begun. The browser has the cookie, the provider gets the state.
type attempt struct {
	Org      int64     `json:"org"`
	Provider int64     `json:"provider"`
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	ReturnTo string    `json:"return_to"`
	EndsAt   wire.Time `json:"ends_at"`
}

const attempts = "attempt"

// Begun is a sign-in that has begun: the address of the provider for the browser, and a cookie for attemptLife.
type Begun struct{ Address, Cookie string }

// purpose is that of the sealed secrets of providers (secret.Keys).
const purpose = "identity-provider"

// Begin starts the sign-in of a browser at a provider. The person is sent to the path returnTo afterwards. email is a hint for the
// provider.
func (st Store) Begin(ctx context.Context, p *tenancy.Provider, email, returnTo string) (*Begun, error) {
	if !IsLocal(returnTo) {
		return nil, fmt.Errorf("signin: %q is no path of the region", returnTo)
	}
	config, _, err := st.config(ctx, p)
	if err != nil {
		return nil, &Refusal{ProviderFailed, p.OrgID, err}
	}
	cookie, a := secret.NewText(), attempt{
		Org: p.OrgID, Provider: p.ID, State: secret.NewText(), Nonce: secret.NewText(), Verifier: oauth2.GenerateVerifier(), ReturnTo: returnTo,
		EndsAt: wire.At(st.Tenancy.Now().Add(attemptLife)),
	}
	item, err := record.Encode(keyOf(attempts, cookie), 1, a)
	if err != nil {
		return nil, err
	}
	item.Expires = a.EndsAt.Unix()
	if err := st.Tenancy.Table.Transact(ctx, table.Insert(item)); err != nil {
		return nil, err
	}
	hint := oauth2.SetAuthURLParam("login_hint", email)
	return &Begun{config.AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier), hint), cookie}, nil
}

// IsLocal reports whether a text is a path of the region, and no address of another host.
func IsLocal(path string) bool {
	u, err := url.Parse(path)
	return err == nil && strings.HasPrefix(path, "/") && u.Host == "" && u.Scheme == "" && !strings.HasPrefix(path, "//") &&
		!strings.Contains(path, "\\")
}

// config returns the configuration of the service at a provider, and the provider's description.
func (st Store) config(ctx context.Context, p *tenancy.Provider) (*oauth2.Config, *oidc.Provider, error) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, st.Client), maxTime)
	defer cancel()
	described, err := st.Known.of(ctx, p.Issuer, st.Tenancy.Now())
	if err != nil {
		return nil, nil, err
	}
	opened, err := st.Keys.Open(ctx, purpose, tenancy.ProviderPK(p.OrgID, p.ID), p.Secret)
	if err != nil {
		return nil, nil, err
	}
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: string(opened), Endpoint: described.Endpoint(), RedirectURL: st.Address + callback + Place(p),
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}, described, nil
}

// Seal returns the secret of the service at a provider, as the provider's record has it.
func (st Store) Seal(ctx context.Context, org, provider int64, plain string) ([]byte, error) {
	return st.Keys.Seal(ctx, purpose, tenancy.ProviderPK(org, provider), []byte(plain))
}

// Back is a browser that comes back from a provider: its cookies of the attempt and of the session before, empty for none, the end of the
// path (Place), and the parameters.
type Back struct {
	Cookie, Session, Place string
	Sent                   url.Values
}

// Finish ends the sign-in of a browser that comes back from a provider, starts a session, and ends the one before. An attempt can be
// finished once. The error is a *Refusal for a person who is not signed in.
func (st Store) Finish(ctx context.Context, back Back) (*Started, error) {
	sent := back.Sent
	a, err := st.take(ctx, back.Cookie)
	if err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare([]byte(a.State), []byte(sent.Get("state"))) != 1 {
		return nil, &Refusal{UnknownAttempt, a.Org, errors.New("another state")}
	}
	p, err := tenancy.Providers.Get(ctx, st.Tenancy, tenancy.ProviderPK(a.Org, a.Provider))
	if err != nil && !apierr.IsNotFound(err) {
		return nil, err
	}
	switch issuer := sent.Get("iss"); {
	case err != nil || p.Disabled:
		return nil, &Refusal{ProviderFailed, a.Org, errors.New("the organization has the provider no more")}
	case back.Place != Place(p), issuer != "" && issuer != p.Issuer:
		return nil, &Refusal{ProviderFailed, a.Org, errors.New("the answer is of another provider")}
	case sent.Get("error") != "":
		return nil, &Refusal{ProviderRefused, a.Org, errors.New("the provider answered an error")}
	}
	person, err := st.person(ctx, p, a, sent.Get("code"))
	if err != nil {
		return nil, err
	}
	if err := st.End(ctx, back.Session); err != nil {
		return nil, err
	}
	started, err := st.start(ctx, p, person, a.ReturnTo)
	return started, st.noted(ctx, p, err)
}

// noted notes in the security log of the organization that a person with a trusted address is no member, and returns the error. Other
// refusals are not noted: strangers could fill the log.
func (st Store) noted(ctx context.Context, p *tenancy.Provider, err error) error {
	var refused *Refusal
	if !errors.As(err, &refused) || refused.Reason != NoMember {
		return err
	}
	if failed := st.Tenancy.Table.Transact(ctx, st.Tenancy.FailureWrite(ctx, p, string(refused.Reason))); failed != nil {
		return failed
	}
	return err
}

// take returns the attempt of a cookie, and removes it.
func (st Store) take(ctx context.Context, cookie string) (*attempt, error) {
	item, err := st.Tenancy.Table.Get(ctx, keyOf(attempts, cookie))
	if errors.Is(err, table.ErrNotFound) {
		return nil, &Refusal{UnknownAttempt, 0, err}
	}
	if err != nil {
		return nil, err
	}
	a, err := record.Decode[attempt](item)
	if err != nil {
		return nil, err
	}
	if !st.Tenancy.Now().Before(a.EndsAt.Time) {
		return nil, &Refusal{UnknownAttempt, a.Org, errors.New("too late")}
	}
	err = st.Tenancy.Table.Transact(ctx, table.Remove(item.Key, item.Version).Or(errTaken))
	if errors.Is(err, errTaken) {
		return nil, &Refusal{UnknownAttempt, a.Org, err}
	}
	return a, err
}

// errTaken is the error of an attempt that another request has finished.
var errTaken = errors.New("signin: the attempt is finished")

// claims are the claims of a provider about a person.
type claims struct {
	Email string `json:"email"`
	Name  string `json:"name"`
	// Verified is a boolean, or a text with one at some providers. Entra has DomainVerified instead.
	Verified       any `json:"email_verified"`
	DomainVerified any `json:"xms_edov"`
	// Hosted is the domain whose administrators own an account at Google. Without one, the account is of anybody who had the address once.
	Hosted string `json:"hd"`
}

// google is the issuer of Google's accounts.
const google = "https://accounts.google.com"

// trusts reports whether an organization trusts its provider for a person: for the domain of the address, and for the domain that hosts an
// account at Google.
func trusts(p *tenancy.Provider, email, hosted string) bool {
	return p.Trusts(domainOf(email)) && (p.Issuer != google || p.Trusts(hosted))
}

// isTrue reports whether a claim is true.
func isTrue(claim any) bool {
	return claim == true || claim == "true" || claim == "1" || claim == float64(1)
}

// person returns the claims of the provider about the person, for the code of the browser.
func (st Store) person(ctx context.Context, p *tenancy.Provider, a *attempt, code string) (who claims, err error) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, st.Client), maxTime)
	defer cancel()
	config, described, err := st.config(ctx, p)
	if err != nil {
		return who, &Refusal{ProviderFailed, p.OrgID, err}
	}
	got, err := config.Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return who, &Refusal{ProviderFailed, p.OrgID, err}
	}
	raw, _ := got.Extra("id_token").(string)
	token, err := described.Verifier(&oidc.Config{ClientID: p.ClientID, Now: st.Tenancy.Now}).Verify(ctx, raw)
	if err == nil && subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(a.Nonce)) != 1 {
		err = errors.New("another nonce")
	}
	if err == nil {
		err = token.Claims(&who)
	}
	switch {
	case err != nil:
		return who, &Refusal{ProviderFailed, p.OrgID, err}
	case !isTrue(who.Verified) && !isTrue(who.DomainVerified):
		return who, &Refusal{Unverified, p.OrgID, errors.New("the address is not verified")}
	case !trusts(p, who.Email, who.Hosted):
		return who, &Refusal{ForeignDomain, p.OrgID, errors.New("the address has another domain")}
	}
	return who, nil
}

// maxTime limits the calls of a provider for one sign-in.
const maxTime = 10 * time.Second
