// Package delivery keeps the deliveries of webhooks: each delivery with its attempts for 30 days,
// the rendered bodies, and the due items of later attempts (gaps.md section 10, design.md
// sections 3 and 6).
package delivery

import (
	"context"
	"time"

	"lectern/shared/table"
	"lectern/shared/wire"
)

// Statuses of a delivery.
const (
	Pending   = "pending"
	Delivered = "delivered"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// Delivery is a published change on its way to an endpoint.
type Delivery struct {
	// ID is the webhook-id. It is made from change, kind, sequence and endpoint alone and ordered
	// by the time of the change.
	ID        string    `json:"id"`
	Endpoint  string    `json:"webhook_id"`
	Kind      string    `json:"kind"`
	Event     *int64    `json:"event_id"`
	RecordID  string    `json:"record_id"`
	Sequence  int64     `json:"sequence"`
	Status    string    `json:"status"`
	CreatedAt wire.Time `json:"created_at"`
	// NextAttemptAt is null once the delivery has ended.
	NextAttemptAt *wire.Time `json:"next_attempt_at"`
	Attempts      []Attempt  `json:"attempts"`
}

// Attempt is one attempt of a delivery.
type Attempt struct {
	At        wire.Time `json:"at"`
	Status    *int      `json:"status"`
	LatencyMS int64     `json:"latency_ms"`
	Error     *string   `json:"error"`
	Response  *string   `json:"response"`
}

// Filter selects deliveries of an endpoint; zero values select all.
type Filter struct {
	Status, Kind string
	Since, Until time.Time
}

// Store keeps the deliveries of all organizations of a region.
type Store struct {
	Table *table.Table
	Now   func() time.Time
}

// List returns the deliveries of an endpoint that match, the latest first: at most limit of them
// after skip, and whether more may follow.
func (s Store) List(ctx context.Context, org int64, endpoint string, f Filter, skip, limit int) (some []Delivery, more bool, err error) {
	panic("not built")
}

// Redeliver makes a delivery due now, whatever its status: one attempt with the same webhook-id
// and body. It returns a 404 for an unknown delivery and a 409 for one whose body is gone.
func (s Store) Redeliver(ctx context.Context, org int64, endpoint, id string) (*Delivery, error) {
	panic("not built")
}

// Cancel ends a delivery that is pending. It returns a 404 for an unknown delivery and a 409 for
// one that has ended.
func (s Store) Cancel(ctx context.Context, org int64, endpoint, id string) (*Delivery, error) {
	panic("not built")
}

// Replay has the sweeper make the deliveries of a range of time due that have a status, or all
// without one. Replays are items of their own, so that a crash loses none.
func (s Store) Replay(ctx context.Context, org int64, endpoint string, f Filter) error {
	panic("not built")
}

// Forget removes all that is kept of an endpoint that is deleted; called by maintenance.
func (s Store) Forget(ctx context.Context, org int64, endpoint string) error { panic("not built") }
