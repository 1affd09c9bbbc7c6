package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/resource"
	"lectern/shared/secret"
	"lectern/shared/wire"
)

// Draft has the properties of an endpoint that a client may write.
type Draft struct {
	URL         wire.Opt[string]            `json:"url,omitzero" create:"required" minLength:"1" maxLength:"2000" nullable:"false" example:"https://hooks.example.org/lectern" doc:"The address of the receiver: https, a public host by name, port 443 or 8443."`
	Events      wire.Opt[[]KindName]        `json:"events,omitzero" create:"required" minItems:"1" maxItems:"100" uniqueItems:"true" nullable:"false" doc:"The kinds of change to get, see GET /v1/webhook-event-types. The token needs a read scope of each kind."`
	EventIDs    wire.Opt[[]int64]           `json:"event_ids,omitzero" maxItems:"100" uniqueItems:"true" nullable:"false" doc:"The conferences whose changes to get; empty for all that the token sees."`
	Headers     wire.Opt[map[string]string] `json:"headers,omitzero" nullable:"false" example:"{\"X-Receiver-Key\": \"a long key\"}" doc:"Headers of each delivery, at most 20, replaced as a whole. A value of *** keeps the stored value, unless url changes to another host."`
	Description wire.Opt[string]            `json:"description,omitzero" maxLength:"2000" doc:"A note about the endpoint."`
	Enabled     wire.Opt[bool]              `json:"enabled,omitzero" nullable:"false" doc:"Whether the endpoint gets deliveries; true without it."`
	Payload     wire.Opt[string]            `json:"payload,omitzero" enum:"full,thin" nullable:"false" doc:"full for bodies with the whole record, the default; thin for bodies with ids and the names of the changed fields alone."`
}

// check returns the 400 of a property that breaks a rule by itself. It normalizes the address.
func (d *Draft) check(local bool) (err error) {
	if d.URL.Sent {
		if d.URL.Value, err = checkURL(d.URL.Value, local); err != nil {
			return err
		}
	}
	return checkHeaders(d.Headers.Value)
}

// Sealer seals and opens the secret parts of endpoints.
type Sealer struct{ Keys *secret.Keys }

// seal encrypts a part of an endpoint; nil stays nil.
func (s Sealer) seal(ctx context.Context, org int64, id, part string, plain []byte) ([]byte, error) {
	if plain == nil {
		return nil, nil
	}
	sealed, err := s.Keys.Seal(ctx, purpose, place(org, id, part), plain)
	if err != nil {
		return nil, fmt.Errorf("webhook: seal %s of %s: %w", part, id, err)
	}
	return sealed, nil
}

// Parts of an endpoint that are sealed.
const (
	partSecret  = "secret"
	partHeaders = "headers"
)

// edit is a change of an endpoint: writing, rotating, removing or disabling.
type edit interface {
	Apply(e resource.Edit[*Endpoint]) error
}

// writing writes a draft into an endpoint. The caller becomes the owner.
type writing struct {
	Sealer
	ctx    context.Context
	draft  Draft
	local  bool
	caller *auth.Caller
	// secret is the secret of a new endpoint, sealed what was stored of the secret.
	secret string
	sealed []byte
}

// Check returns the 400 of a draft that breaks a rule by itself.
func (w *writing) Check() error { return w.draft.check(w.local) }

// Apply writes the draft.
func (w *writing) Apply(e resource.Edit[*Endpoint]) error {
	r, d := e.Record, w.draft
	if e.New {
		r.Enabled, r.Payload, r.EventIDs, r.Headers = true, PayloadFull, []int64{}, map[string]string{}
	}
	former := r.URL
	d.URL.Into(&r.URL)
	if d.Events.Sent {
		r.Events = make([]string, len(d.Events.Value))
		for i, kind := range d.Events.Value {
			r.Events[i] = string(kind)
		}
	}
	d.EventIDs.Into(&r.EventIDs)
	d.Description.IntoPointer(&r.Description)
	d.Payload.Into(&r.Payload)
	d.Enabled.Into(&r.Enabled)
	if r.Enabled {
		r.DisabledAt, r.DisabledReason = nil, nil
	}
	if err := w.permit(r); err != nil {
		return err
	}
	if err := w.moved(former, r); err != nil {
		return err
	}
	return w.hideParts(e)
}

// moved returns the 400 of stored header values that would be sent to another host: who cannot read
// the values must not have them sent to an address of their own.
func (w *writing) moved(former string, r *Endpoint) error {
	if former == "" || len(r.Headers) == 0 || sameOrigin(former, r.URL) {
		return nil
	}
	if !w.draft.Headers.Sent {
		return apierr.Invalid("headers", "headers must be sent with their values when url changes to another host.")
	}
	for _, name := range sortedKeys(w.draft.Headers.Value) {
		if w.draft.Headers.Value[name] == masked {
			return apierr.Invalid("headers."+name, "headers.%s must be sent with its value when url changes to another host.", name)
		}
	}
	return nil
}

// sameOrigin reports whether two addresses have the same scheme, host and port.
func sameOrigin(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && x.Scheme == y.Scheme && x.Host == y.Host
}

// permit returns the 403 of a kind that the caller may not read: the caller becomes the owner.
func (w *writing) permit(r *Endpoint) error {
	for i, kind := range r.Events {
		err := w.caller.May(ScopesOf(kind))
		if refused := (*apierr.Error)(nil); errors.As(err, &refused) {
			refused.Message = fmt.Sprintf("%s Without the scope, the endpoint may not get %s.", refused.Message, kind)
			return refused.Field(fmt.Sprintf("events[%d]", i))
		}
	}
	return nil
}

// hideParts stores the owner, the headers and the secret of a new endpoint.
func (w *writing) hideParts(e resource.Edit[*Endpoint]) error {
	r := e.Record
	p, err := r.private()
	if err != nil {
		return err
	}
	p.Member, p.Token = w.caller.Member.ID, w.caller.Token.ID
	if e.New {
		if w.sealed, err = w.seal(w.ctx, e.Org, r.ID, partSecret, []byte(w.secret)); err != nil {
			return err
		}
		p.Secret = w.sealed
	}
	if w.draft.Headers.Sent {
		if p.Headers, err = w.headers(e.Org, r.ID, p.Headers); err != nil {
			return err
		}
		r.Headers = shown(w.draft.Headers.Value)
	}
	return r.hide(p)
}

// headers returns the sealed values of the draft's headers. former are the sealed values before.
func (w *writing) headers(org int64, id string, former []byte) ([]byte, error) {
	stored, err := w.open(w.ctx, org, id, partHeaders, former)
	if err != nil {
		return nil, err
	}
	before, err := decodeHeaders(stored)
	if err != nil {
		return nil, err
	}
	values, err := kept(w.draft.Headers.Value, before)
	if err != nil {
		return nil, err
	}
	plain, err := encodeHeaders(values)
	if err != nil {
		return nil, fmt.Errorf("webhook: encode headers: %w", err)
	}
	return w.seal(w.ctx, org, id, partHeaders, plain)
}

// rotating replaces the secret of an endpoint.
type rotating struct {
	Sealer
	ctx    context.Context
	at     wire.Time
	secret string
}

// Apply stores the new secret, and the present secret as the former one.
func (o *rotating) Apply(e resource.Edit[*Endpoint]) error {
	p, err := e.Record.private()
	if err != nil {
		return err
	}
	p.Former = p.Secret
	if p.Secret, err = o.seal(o.ctx, e.Org, e.Record.ID, partSecret, []byte(o.secret)); err != nil {
		return err
	}
	e.Record.SecretRotatedAt = &o.at
	return e.Record.hide(p)
}

// removing forgets the secret parts of an endpoint that is being deleted.
type removing struct{}

// Apply drops the hidden part.
func (removing) Apply(e resource.Edit[*Endpoint]) error {
	e.Record.Hide(nil)
	return nil
}

// disabling disables an endpoint for a reason.
type disabling struct {
	at wire.Time
	// url is the address to which the failed attempts were made.
	url, reason string
}

// errStays ends the change of an endpoint that is disabled already, or has another address now.
var errStays = errors.New("webhook: the endpoint stays as it is")

// Apply disables the endpoint.
func (d disabling) Apply(e resource.Edit[*Endpoint]) error {
	if !e.Record.Enabled || e.Record.URL != d.url {
		return errStays
	}
	e.Record.Enabled, e.Record.DisabledAt, e.Record.DisabledReason = false, &d.at, &d.reason
	return nil
}

// newSecret returns a secret of 32 random bytes.
func newSecret() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // It never fails.
	return secretPrefix + base64.StdEncoding.EncodeToString(random)
}

// keyOf returns the key of a secret.
func keyOf(text []byte) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(text), secretPrefix))
	if err != nil {
		return nil, errors.New("webhook: a stored secret is not base64")
	}
	return key, nil
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
