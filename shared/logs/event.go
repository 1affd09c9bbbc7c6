// Package logs reads the three logs of an organization as pages of events of one shape (gaps.md
// section 9.1): the requests to the API, the security events, and the audit trail. It writes
// nothing. Packages requestlog, tenancy and change store the items.
//
// Read event.go, page.go, cursor.go; then audit.go, security.go and requests.go, a log each, and
// names.go.
package logs

import (
	"context"

	"lectern/shared/change"
	"lectern/shared/feed"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Stream names a log.
type Stream string

// The streams.
const (
	Requests Stream = "api_request"
	Security Stream = "security_event"
	Audit    Stream = "audit"
)

// Outcomes of an event.
const (
	success = "success"
	failure = "failure"
)

// Types of actors.
const (
	byToken  = change.ActorToken
	byOAuth  = change.ActorOAuth
	byUser   = change.ActorUser
	bySystem = change.ActorSystem
)

// What an event has whose item cannot be decoded.
const (
	unknown = "unknown"
	broken  = "damaged"
)

// Event is an event of any log. Unknown values are null.
type Event struct {
	ID             string    `json:"id" doc:"The event's id. No other event of the organization has it."`
	Stream         Stream    `json:"stream" enum:"api_request,security_event,audit" doc:"The log."`
	OccurredAt     wire.Time `json:"occurred_at"`
	Action         string    `json:"action" doc:"For example session.updated, token.created or GET /v1/events; unknown if what is stored of the event is damaged."`
	Outcome        string    `json:"outcome" enum:"success,failure" doc:"failure for a request that was answered with a status from 400 on."`
	Reason         *string   `json:"reason" doc:"Why a request was refused, for example revoked, expired or RATE_LIMITED; damaged if what is stored of the event is damaged."`
	OrganizationID int64     `json:"organization_id"`
	EventID        *int64    `json:"event_id" doc:"The conference; null for an event of the organization."`
	Actor          Actor     `json:"actor"`
	Token          Token     `json:"token"`
	Source         Source    `json:"source"`
	HTTP           HTTP      `json:"http"`
	Target         Target    `json:"target"`
}

// Actor caused an event: a member through a token, or an operator of the service.
type Actor struct {
	Type  string  `json:"type" enum:"user,api_token,oauth,system" doc:"system for an operator of the service."`
	ID    *int64  `json:"id" doc:"The member's id: for api_token the owner of the token, for oauth the member who has connected the application."`
	Name  *string `json:"name" doc:"The member's present name."`
	Email *string `json:"email" doc:"The member's present address."`
}

// Token is the token of a request.
type Token struct {
	ID   *int64  `json:"id"`
	Name *string `json:"name" doc:"The token's present name."`
}

// Source is the sender of a request. Both values are null in other streams than api_request.
type Source struct {
	IP        *string `json:"ip"`
	UserAgent *string `json:"user_agent"`
}

// HTTP is a request and the answer. All values are null in other streams than api_request.
type HTTP struct {
	Method     *string `json:"method"`
	Path       *string `json:"path" doc:"The path without the query; null for an unknown path."`
	Status     *int    `json:"status"`
	DurationMS *int64  `json:"duration_ms"`
}

// Target is the changed record and value; of a request, the type is request and the id the
// X-Request-Id.
type Target struct {
	Type  *string `json:"type"`
	ID    *string `json:"id"`
	Name  *string `json:"name" doc:"The name of the record, where it is known. At present always null."`
	Field *string `json:"field" doc:"The changed value; null for a creation, a deletion and other changes without values."`
	// NewValue is JSON.
	NewValue any `json:"new_value" doc:"The new value, of any type. Of a long value, the beginning of its JSON as text."`
}

// known returns a pointer to a value; nil for the zero value.
func known[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// by returns the actor and the token of a change.
func by(a change.Actor) (Actor, Token) {
	switch a.Type {
	case byToken, byOAuth, byUser:
		return Actor{Type: a.Type, ID: known(a.ID)}, Token{ID: known(a.Token)}
	}
	return Actor{Type: bySystem}, Token{}
}

// damaged returns the event that takes the place of an item which cannot be decoded, so that a reader learns of
// it and reads on. It writes the key and the cause into the log.
func (r Reader) damaged(ctx context.Context, s Stream, org int64, item table.Item, cause error) expansion {
	r.note(ctx, item.Key, cause)
	at, _ := feed.Time(item.SK) // Each sort key of a log has a time.
	event := Event{
		ID: item.SK + "-0000", Stream: s, OccurredAt: wire.At(at), Action: unknown, Outcome: success, Reason: known(broken), OrganizationID: org,
		Actor: Actor{Type: bySystem},
	}
	return expansion{events: []Event{event}, bytes: len(item.Data)}
}

// note writes the key of an item that cannot be decoded into the log, with the cause.
func (r Reader) note(ctx context.Context, at table.Key, cause error) {
	r.Log.ErrorContext(ctx, "an event of a log cannot be decoded", "pk", at.PK, "sk", at.SK, "error", cause)
}
