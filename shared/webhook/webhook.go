// Package webhook owns the webhook endpoints of an organization: the records, the secrets, and how
// a body is signed and sent (spec.md section 6, gaps.md section 10). Deliveries are in package
// delivery, the workers in events/.
package webhook

import (
	"context"
	"time"

	"lectern/shared/bus"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

// Payloads of an endpoint.
const (
	PayloadFull = "full"
	PayloadThin = "thin"
)

// Endpoint is the address of a receiver, with what it wants.
type Endpoint struct {
	resource.Header
	URL         string            `json:"url"`
	Events      []string          `json:"events"`
	EventIDs    []int64           `json:"event_ids"`
	Headers     map[string]string `json:"headers"`
	Description *string           `json:"description"`
	Enabled     bool              `json:"enabled"`
	Payload     string            `json:"payload"`
	// DisabledAt and DisabledReason say when and why the service disabled the endpoint.
	DisabledAt     *wire.Time `json:"disabled_at"`
	DisabledReason *string    `json:"disabled_reason"`
	// PausedReason says why an enabled endpoint gets nothing at present.
	PausedReason *string `json:"paused_reason"`
}

// Wants reports whether the endpoint is enabled and takes a message: its kind and its event.
func (e *Endpoint) Wants(m bus.Message) bool { panic("not built") }

// Receivers reads who gets the messages of an organization.
type Receivers struct{} // holds Table, Now, Keys, ...

// Of returns the endpoints of an organization that want a message and may have it: the owner is
// active, and the token of the owner is neither revoked nor without the kind's scope.
func (r *Receivers) Of(ctx context.Context, m bus.Message) ([]*Endpoint, error) { panic("not built") }

// Get returns an endpoint that is enabled and not paused; nil without one.
func (r *Receivers) Get(ctx context.Context, org int64, id string) (*Endpoint, error) {
	panic("not built")
}

// Disable disables an endpoint for a reason, as the service itself, and notes the security event.
// An endpoint that is disabled already stays as it is.
func (r *Receivers) Disable(ctx context.Context, org int64, id, reason string) error {
	panic("not built")
}

// Request is what is sent to an endpoint.
type Request struct {
	Org      int64
	Endpoint *Endpoint
	// ID is the webhook-id, the same at each attempt. Kind and Attempt are told in headers of ours.
	ID      string
	Kind    string
	Attempt int
	Body    []byte
}

// Answer is the outcome of an attempt.
type Answer struct {
	// Status is the status of the answer; 0 without one.
	Status  int
	Latency time.Duration
	// Body is the beginning of the answer, at most 2 KB of valid text.
	Body string
	// Error says in plain words why there is no answer; empty with one.
	Error string
	// RetryAfter is what the receiver asks for with 429 or 503; 0 without.
	RetryAfter time.Duration
	// Signed is the signed text without the body.
	Signed string
}

// Sender signs and sends. It is safe for concurrent use.
type Sender struct{}

// Send makes one attempt. It returns an error only for a fault of ours, such as keys that cannot
// be read; whatever the receiver does is an Answer.
func (s *Sender) Send(ctx context.Context, r Request) (Answer, error) { panic("not built") }
