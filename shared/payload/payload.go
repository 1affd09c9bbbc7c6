// Package payload renders the bodies of webhooks: {data, metadata} with the record as the API shows
// it (spec.md section 6, gaps.md section 10). A body is rendered once for a message and a form, and
// has a place for the webhook-id, which differs by endpoint (delivery.Place).
//
// Read payload.go first, then data.go.
package payload

import (
	"context"
	"fmt"
	"strings"

	"lectern/shared/account"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/contact"
	"lectern/shared/delivery"
	"lectern/shared/session/store"
	"lectern/shared/stores"
	"lectern/shared/table"
	"lectern/shared/webhook"
	"lectern/shared/wire"
)

// MaxBytes is the largest body in full form. A longer body is thin.
const MaxBytes = 256 << 10

// version is the version of the shape of bodies. A removal or a new name raises it.
const version = 1

// Renderer renders bodies. It is safe for concurrent use.
type Renderer struct {
	// APIURL is the address of the API, without a slash at the end. Without it, resource_url is a
	// path.
	APIURL string

	table    *table.Table
	sessions *store.Store
	contacts *contact.Store
	accounts *account.Store
}

// New returns a Renderer with the stores of an environment.
func New(env api.Env, apiURL string) *Renderer {
	return &Renderer{
		APIURL: strings.TrimSuffix(apiURL, "/"), table: env.Table,
		sessions: stores.Sessions(env), contacts: stores.Contacts(env), accounts: stores.Accounts(env),
	}
}

// Metadata describes the change of a body.
type Metadata struct {
	// Action is the kind of change.
	Action string `json:"action"`
	// ActorID is the member that made the change; null for the service itself.
	ActorID *int64 `json:"actor_id"`
	// EventID is null for a record of the organization.
	EventID     *int64 `json:"event_id"`
	OrgID       int64  `json:"org_id"`
	ResourceURL string `json:"resource_url"`
	Version     int    `json:"version"`
	// DateTime is the time of the change, Sequence the record's number of published kinds, and
	// Changed the names of the changed fields.
	DateTime wire.Time `json:"datetime"`
	Sequence int64     `json:"sequence"`
	Changed  []string  `json:"changed"`
	// Truncated is set where the full form would have been too long.
	Truncated bool `json:"truncated,omitempty"`
	// ID is the webhook-id. It is the last property, see delivery.Place.
	ID string `json:"id"`
}

// Thin is the data of a body in thin form.
type Thin struct {
	ID      string `json:"id"`
	EventID *int64 `json:"event_id"`
	OrgID   int64  `json:"org_id"`
}

// place is the id of a rendered body.
const place = "00000000-0000-0000-0000-000000000000"

// Render renders the body of a message in a form of package webhook. The data is as new as the
// message or newer. The record must have been written before the call.
func (r *Renderer) Render(ctx context.Context, m bus.Message, form string) ([]byte, error) {
	meta, thin := r.metadata(m), Thin{ID: m.RecordID, EventID: eventOf(m), OrgID: m.Org}
	if form != webhook.PayloadFull {
		return join(thin, meta)
	}
	data, err := r.data(ctx, m)
	if err != nil {
		return nil, err
	}
	if data == nil {
		data = thin
	}
	sourced, err := withSource(data, m.Source)
	if err != nil {
		return nil, err
	}
	body, err := join(sourced, meta)
	if err == nil && len(body) > MaxBytes {
		meta.Truncated = true
		body, err = join(thin, meta)
	}
	return body, err
}

// metadata returns the metadata of a message.
func (r *Renderer) metadata(m bus.Message) Metadata {
	meta := Metadata{
		Action: m.Kind, EventID: eventOf(m), OrgID: m.Org,
		ResourceURL: r.APIURL + path(m), Version: version, DateTime: m.At, Sequence: m.Sequence,
		Changed: append([]string{}, m.Fields...), ID: place,
	}
	if m.Actor.ID != 0 {
		meta.ActorID = &m.Actor.ID
	}
	return meta
}

// eventOf returns the event of a message; nil for a record of the organization.
func eventOf(m bus.Message) *int64 {
	if m.Event == 0 {
		return nil
	}
	return &m.Event
}

// path returns the path of the GET of the record.
func path(m bus.Message) string {
	owner := fmt.Sprintf("/v1/organization/%d", m.Org)
	if m.Event != 0 {
		owner = fmt.Sprintf("/v1/event/%d", m.Event)
	}
	return owner + "/" + subject(m) + "s/" + m.RecordID
}

// subject returns the first word of the kind: session, contact, sponsor or exhibitor.
func subject(m bus.Message) string {
	word, _, _ := strings.Cut(m.Kind, ".")
	return word
}

// join returns the body of data and metadata.
func join(data any, meta Metadata) ([]byte, error) {
	body, err := wire.Encode(struct {
		Data     any      `json:"data"`
		Metadata Metadata `json:"metadata"`
	}{data, meta})
	if err != nil {
		return nil, fmt.Errorf("payload: encode a body: %w", err)
	}
	if _, err := delivery.Addressed(body, place); err != nil {
		return nil, err
	}
	return body, nil
}
