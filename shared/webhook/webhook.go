// Package webhook owns the webhook endpoints of an organization: the records, the secrets, and how
// a body is signed and sent (spec.md section 6, gaps.md section 10). Deliveries are in package
// delivery, the workers in events/.
//
// Read webhook.go, kinds.go, draft.go, url.go, headers.go, store.go, owner.go, receivers.go; then
// sender.go for an attempt. Package outside connects to the receivers.
package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Payloads of an endpoint.
const (
	PayloadFull = "full"
	PayloadThin = "thin"
)

// Max is how many endpoints an organization may have.
const Max = 20

// overlap is how long the former secret signs beside the present one.
const overlap = 24 * time.Hour

// Actions of the security events of an endpoint (gaps.md section 9.1).
const (
	ActionDisabled = "webhook.disabled"
	ActionRotated  = "webhook.secret_rotated"
)

// Endpoint is the address of a receiver, with what it wants.
type Endpoint struct {
	resource.Header
	URL         string            `json:"url" doc:"The address of the receiver."`
	Events      []string          `json:"events" doc:"The kinds of change that the endpoint gets."`
	EventIDs    []int64           `json:"event_ids" doc:"The conferences whose changes the endpoint gets; empty for all."`
	Headers     map[string]string `json:"headers" doc:"Headers of each delivery. Values are never shown: each is ***."`
	Description *string           `json:"description" doc:"A note about the endpoint."`
	Enabled     bool              `json:"enabled" doc:"Whether the endpoint gets deliveries."`
	Payload     string            `json:"payload" enum:"full,thin" doc:"full for bodies with the whole record, thin for bodies with ids and the names of the changed fields alone."`
	// SecretRotatedAt is when the secret was replaced; the former secret signs for overlap more.
	SecretRotatedAt *wire.Time `json:"secret_rotated_at" doc:"When the secret was replaced last; the former secret signs too for 24 hours from then."`
	// DisabledAt and DisabledReason say when and why the service disabled the endpoint.
	DisabledAt     *wire.Time `json:"disabled_at" doc:"When the service disabled the endpoint; null if it did not, and after an update that enables the endpoint."`
	DisabledReason *string    `json:"disabled_reason" doc:"Why the service disabled the endpoint."`
	// PausedReason says why an enabled endpoint gets nothing, or not all, at present. It is
	// computed at each read.
	PausedReason *string `json:"paused_reason" doc:"Why the endpoint gets nothing at present, or which part it does not get, because of the token that wrote the endpoint last; null if the endpoint gets everything."`

	// owner is the owner as stored now; nil unless loaded.
	owner *owner
}

// Kind is the name of the kind of the endpoints.
const Kind = "webhook"

// endpoints is the kind of the endpoints.
var endpoints = &resource.Kind[Endpoint, *Endpoint, edit]{
	Name: Kind, Title: "Webhook", Many: "webhooks", Max: Max, Security: securityEvents, Redact: redact,
}

// private is the part of an endpoint that is never shown.
type private struct {
	// Member and Token wrote the endpoint last. The endpoint gets what the token may read.
	Member int64 `json:"member"`
	Token  int64 `json:"token"`
	// Secret and Former are sealed, and so is Headers, a JSON object.
	Secret  []byte `json:"secret"`
	Former  []byte `json:"former,omitempty"`
	Headers []byte `json:"headers,omitempty"`
}

// private returns the hidden part of the endpoint; empty for a deleted endpoint.
func (e *Endpoint) private() (p private, err error) {
	if hidden := e.Hidden(); hidden != nil {
		err = json.Unmarshal(hidden, &p)
	}
	if err != nil {
		return p, fmt.Errorf("webhook: decode the hidden part of %s: %w", e.ID, err)
	}
	return p, nil
}

// hide stores the hidden part.
func (e *Endpoint) hide(p private) error {
	data, err := wire.Encode(p)
	if err != nil {
		return fmt.Errorf("webhook: encode the hidden part of %s: %w", e.ID, err)
	}
	e.Hide(data)
	return nil
}

// skew is more than the clocks of two functions differ, and than a write takes: the time of a change is
// that of its plan, and the transaction may be tried again for seconds.
const skew = time.Minute

// Wants reports whether the endpoint is enabled and takes a message: its kind, its event, and its time,
// which is not more than a minute before the creation of the endpoint. Changes that are published again
// may be older.
func (e *Endpoint) Wants(m bus.Message) bool {
	return e.Enabled && !m.At.Before(e.CreatedAt.Add(-skew)) && slices.Contains(e.Events, m.Kind) &&
		(len(e.EventIDs) == 0 || slices.Contains(e.EventIDs, m.Event))
}

// May reports whether the owner of the endpoint may read a kind of an event, 0 for a record of the
// organization. Receivers has loaded the owner.
func (e *Endpoint) May(kind string, event int64) bool {
	return e.owner != nil && e.owner.may(kind) && e.owner.sees(event)
}

// Takes reports whether the endpoint wants a message and may have it: the owner is active, and the token
// of the owner is neither revoked nor without the kind's scope. Receivers has loaded the owner.
func (e *Endpoint) Takes(m bus.Message) bool { return e.Wants(m) && e.May(m.Kind, m.Event) }

// Paused reports whether the endpoint gets nothing at all at present.
func (e *Endpoint) Paused() bool { return e.owner == nil || e.owner.absent() != "" }

// securityEvents returns the actions of the security events of a change.
func securityEvents(before, after *Endpoint) (actions []string) {
	if before == nil || after.DeletedAt != nil {
		return nil
	}
	if before.Enabled && !after.Enabled {
		actions = append(actions, ActionDisabled)
	}
	if after.SecretRotatedAt != nil && (before.SecretRotatedAt == nil || !before.SecretRotatedAt.Equal(after.SecretRotatedAt.Time)) {
		actions = append(actions, ActionRotated)
	}
	return actions
}

// redact cuts an address in a change record to scheme and host: path and query may have a secret.
func redact(values []change.Value) {
	for i, v := range values {
		if v.Field == "url" {
			values[i].Old, values[i].New = origin(v.Old), origin(v.New)
		}
	}
}

// origin returns the scheme and the host of the JSON of an address.
func origin(value any) any {
	var text string
	if raw, ok := value.(json.RawMessage); !ok || json.Unmarshal(raw, &text) != nil {
		return nil
	}
	address, err := url.Parse(text)
	if err != nil {
		return nil
	}
	return address.Scheme + "://" + address.Host
}

// place returns the place to which a sealed part of an endpoint is bound.
func place(org int64, id, part string) string { return table.Org(org) + "#" + id + "#" + part }

// purpose is the purpose of sealed parts.
const purpose = "webhook"

// secretPrefix begins a secret, as in the scheme Standard Webhooks.
const secretPrefix = "whsec_"

// open returns a sealed part of the endpoint as text; empty for a part that is not there.
func (s Sealer) open(ctx context.Context, org int64, id, part string, sealed []byte) ([]byte, error) {
	if sealed == nil {
		return nil, nil
	}
	plain, err := s.Keys.Open(ctx, purpose, place(org, id, part), sealed)
	if err != nil {
		return nil, fmt.Errorf("webhook: open %s of %s: %w", part, id, err)
	}
	return plain, nil
}
