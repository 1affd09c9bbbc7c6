// Package idp is an identity provider on this machine (OpenID Connect), for the demo and for tests: its page lists people, and signs in
// without a password whoever is chosen. No function imports the package, so no deployed region has it.
package idp

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"
)

// ClientID and ClientSecret are the name and the secret of every service at the provider.
const (
	ClientID     = "lectern"
	ClientSecret = "only-on-this-machine"
)

// Person is a person whom the provider knows.
type Person struct{ Name, Email, Note string }

// Provider is a running provider.
type Provider struct {
	// URL is the issuer.
	URL    string
	people func(context.Context) ([]Person, error)
	server *http.Server
	key    *ecdsa.PrivateKey
	mu     sync.Mutex
	codes  map[string]signedIn
	// edit changes the claims of tokens, for tests; nil leaves them as they are.
	edit func(map[string]any)
}

// signedIn is a person who has been chosen, with the request of the service.
type signedIn struct {
	Person
	redirect, nonce, challenge string
	at                         time.Time
}

// codeLife is how long a code is valid.
const codeLife = time.Minute

// Start serves a provider at an address such as 127.0.0.1:8090 until Stop. people lists the people to choose from.
func Start(address string, people func(context.Context) ([]Person, error)) (*Provider, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("idp: make a key: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("idp: listen: %w", err)
	}
	p := &Provider{URL: "http://" + listener.Addr().String(), people: people, key: key, codes: map[string]signedIn{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.describe)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: codeLife}
	go func() { _ = p.server.Serve(listener) }() // It returns when the server is stopped.
	return p, nil
}

// Stop stops the provider.
func (p *Provider) Stop() error { return p.server.Close() }

// EditClaims changes the claims of the next tokens. It is for tests.
func (p *Provider) EditClaims(edit func(map[string]any)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.edit = edit
}

// describe answers the description of the provider.
func (p *Provider) describe(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{string(jose.ES256)}, "code_challenge_methods_supported": []string{"S256"},
	})
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	key := jose.JSONWebKey{Key: p.key.Public(), KeyID: "1", Algorithm: string(jose.ES256), Use: "sig"}
	answer(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key}})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // An error says that the client has gone.
}

// chooser is the page with the people.
var chooser = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Who are you?</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:30rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}
a{display:block;padding:.6rem .9rem;margin:.5rem 0;border:1px solid;border-radius:.5rem;text-decoration:none}</style></head>
<body><main><h1>Who are you?</h1>
<p>This identity provider is on this machine alone, for the demo. It asks for no password.</p>
{{range .}}<a href="{{.Link}}">{{.Name}} &lt;{{.Email}}&gt;{{with .Note}} – {{.}}{{end}}</a>
{{else}}<p>There is nobody to choose.</p>
{{end}}</main></body></html>
`))

// authorize shows the people, or sends the chosen person back.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	if asked.Get("client_id") != ClientID || asked.Get("response_type") != "code" || asked.Get("redirect_uri") == "" {
		http.Error(w, "The request is not valid.", http.StatusBadRequest)
		return
	}
	all, err := p.people(r.Context())
	if err != nil {
		http.Error(w, "The people cannot be read.", http.StatusInternalServerError)
		return
	}
	type line struct {
		Person
		Link string
	}
	var lines []line
	for _, one := range all {
		if strings.EqualFold(one.Email, asked.Get("choose")) {
			p.sendBack(w, r, one)
			return
		}
		chosen := r.URL.Query()
		chosen.Set("choose", one.Email)
		lines = append(lines, line{one, "/authorize?" + chosen.Encode()})
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = chooser.Execute(w, lines) // An error says that the client has gone.
}

// sendBack sends the browser of a chosen person back to the service.
func (p *Provider) sendBack(w http.ResponseWriter, r *http.Request, one Person) {
	asked, code := r.URL.Query(), rand.Text()
	p.mu.Lock()
	p.codes[code] = signedIn{one, asked.Get("redirect_uri"), asked.Get("nonce"), asked.Get("code_challenge"), time.Now()}
	p.mu.Unlock()
	back := url.Values{"code": {code}, "state": {asked.Get("state")}, "iss": {p.URL}}
	http.Redirect(w, r, asked.Get("redirect_uri")+"?"+back.Encode(), http.StatusSeeOther) //nolint:gosec // It knows no service better.
}

// take returns the sign-in of a code, once.
func (p *Provider) take(code string) (signedIn, func(map[string]any), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, ok := p.codes[code]
	delete(p.codes, code)
	if !ok || time.Since(one.at) > codeLife {
		return one, nil, errors.New("idp: the code is not valid")
	}
	return one, p.edit, nil
}

// token answers a token about the person of a code.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	client, secret, ok := r.BasicAuth()
	if !ok {
		client, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	one, edit, err := p.take(r.PostFormValue("code"))
	known := client == ClientID && subtle.ConstantTimeCompare([]byte(secret), []byte(ClientSecret)) == 1
	if err != nil || !known || one.redirect != r.PostFormValue("redirect_uri") ||
		oauth2.S256ChallengeFromVerifier(r.PostFormValue("code_verifier")) != one.challenge {
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	now := time.Now()
	claims := map[string]any{
		"iss": p.URL, "aud": ClientID, "sub": one.Email, "iat": now.Unix(), "exp": now.Add(codeLife).Unix(), "nonce": one.nonce,
		"email": one.Email, "email_verified": true, "name": one.Name,
	}
	if edit != nil {
		edit(claims)
	}
	signed, err := p.sign(claims)
	if err != nil {
		http.Error(w, "The token cannot be signed.", http.StatusInternalServerError)
		return
	}
	answer(w, http.StatusOK, map[string]any{"access_token": rand.Text(), "token_type": "Bearer", "expires_in": 60, "id_token": signed})
}

// sign returns claims as a signed token.
func (p *Provider) sign(claims map[string]any) (string, error) {
	options := (&jose.SignerOptions{}).WithHeader("kid", "1")
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: p.key}, options)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(text)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}
