// Package delivery keeps the deliveries of webhooks: each delivery with its attempts for 30 days,
// the rendered bodies, and the due items of later attempts (gaps.md section 10, design.md
// sections 3 and 6, decision 33). The workers in events/ make the attempts.
//
// Read delivery.go and keys.go first, then schedule.go and breaker.go, which are plain functions;
// add.go, attempt.go and state.go for the matcher and the deliverer, due.go for the sweeper, list.go
// and actions.go for the API.
package delivery

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"lectern/shared/bus"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Keep is how long deliveries and bodies are kept after the change, also those that are added late.
const Keep = 30 * 24 * time.Hour

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
	ID       string `json:"id"`
	Endpoint string `json:"webhook_id"`
	Kind     string `json:"kind"`
	Event    *int64 `json:"event_id"`
	RecordID string `json:"record_id"`
	Sequence int64  `json:"sequence"`
	Status   string `json:"status"`
	// CreatedAt is the time of the change.
	CreatedAt wire.Time `json:"created_at"`
	// NextAttemptAt is null once the delivery has ended.
	NextAttemptAt *wire.Time `json:"next_attempt_at"`
	// Attempts are the last attempts, at most maxAttempts.
	Attempts []Attempt `json:"attempts"`
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

// matches reports whether the filter selects a delivery.
func (f Filter) matches(d *Delivery) bool {
	return (f.Status == "" || f.Status == d.Status) && (f.Kind == "" || f.Kind == d.Kind) &&
		(f.Since.IsZero() || !d.CreatedAt.Before(f.Since)) && (f.Until.IsZero() || d.CreatedAt.Before(f.Until))
}

// Sight limits which deliveries a caller of the API may see and send again. A nil Sight is no limit.
type Sight struct {
	// Kinds are the kinds that the caller may read.
	Kinds []string `json:"kinds"`
	// Limited reports whether the caller sees changes of Events alone.
	Limited bool    `json:"limited,omitempty"`
	Events  []int64 `json:"events,omitempty"`
}

// sees reports whether the caller may see a delivery.
func (s *Sight) sees(d *Delivery) bool {
	return s == nil || slices.Contains(s.Kinds, d.Kind) && (!s.Limited || d.Event != nil && slices.Contains(s.Events, *d.Event))
}

// Store keeps the deliveries of all organizations of a region.
type Store struct {
	Table *table.Table
	Now   func() time.Time
	// Sight limits List, Redeliver, Cancel and Replay.
	Sight *Sight
	// NewID returns the id of a replay; nil for random ids.
	NewID func() string
}

// Mode says why an attempt is made.
type Mode string

// Scheduled attempts follow the schedule. A client asks for the others, one by one or for a range
// of time.
const (
	Scheduled  Mode = ""
	Redelivery Mode = "redelivery"
	Replayed   Mode = "replay"
)

// Task is an attempt to be made: a message of the queue of deliveries.
type Task struct {
	Org      int64  `json:"org"`
	Endpoint string `json:"endpoint"`
	ID       string `json:"id"`
	// Attempt is the number of the attempt, from 1. Scheduled attempts have numbers of their own.
	Attempt int  `json:"attempt"`
	Mode    Mode `json:"mode,omitempty"`
	// Asked is the time at which a client asked for the attempt, in nanoseconds since 1970. It is 0 for a
	// scheduled attempt and in a task of an earlier release, whose number decides.
	Asked int64 `json:"asked,omitempty"`
	// Held counts how often the attempt of a replay was sent to the queue again, because the breaker
	// of the endpoint was open.
	Held int `json:"held,omitempty"`
	// Wait is the time until the attempt, at most bus.MaxDelay. Send leaves the wait to the queue.
	Wait time.Duration `json:"-"`
}

// name makes the due items of the attempts of a delivery distinct.
func (t Task) name() string {
	return string(t.Mode) + strconv.FormatInt(cmp.Or(t.Asked, int64(t.Attempt)), 10)
}

// Same reports whether two tasks are the same attempt, however long it waits.
func (t Task) Same(other Task) bool {
	t.Wait = other.Wait
	return t == other
}

// Post returns the message of the task. Its group is the endpoint, so that the queue serves other
// endpoints first while one is slow.
func (t Task) Post(delay time.Duration) (bus.Post, error) {
	body, err := wire.Encode(t)
	if err != nil {
		return bus.Post{}, fmt.Errorf("delivery: encode a task: %w", err)
	}
	return bus.Post{Body: body, Group: t.Endpoint, Delay: delay}, nil
}

// Send sends tasks to the queue of the deliverer.
func Send(ctx context.Context, deliveries bus.Queue, tasks []Task) error {
	if len(tasks) == 0 {
		return nil
	}
	posts := make([]bus.Post, len(tasks))
	for i, t := range tasks {
		var err error
		if posts[i], err = t.Post(t.Wait); err != nil {
			return err
		}
	}
	if err := deliveries.Send(ctx, posts...); err != nil {
		return fmt.Errorf("delivery: send to the deliverer: %w", err)
	}
	return nil
}

// Work is a delivery as the deliverer handles it.
type Work struct {
	Delivery
	Hidden Hidden `json:"_"`

	version, expires int64
}

// EventOf returns the event of the change; 0 for a record of the organization.
func (w *Work) EventOf() int64 {
	if w.Event == nil {
		return 0
	}
	return *w.Event
}

// Hidden is the part of a stored delivery that is not shown.
type Hidden struct {
	Org int64 `json:"org"`
	// Type, Change and Form complete the key of the body.
	Type   string `json:"type"`
	Change string `json:"change"`
	Form   string `json:"form"`
	// Made counts the scheduled attempts, Extra the others.
	Made  int `json:"made"`
	Extra int `json:"extra"`
	// Began is the time up to which attempts answer the calls of clients, in nanoseconds since 1970: the
	// beginning of an attempt that was sent, and the time of the call for one that was not.
	Began int64 `json:"began,omitempty"`
	// Withheld counts the scheduled attempts that Add has withheld.
	Withheld int `json:"withheld,omitempty"`
	// Queued reports whether the next attempt waits in the queue and not in a due item.
	Queued bool `json:"queued,omitempty"`
	// Postponed reports whether the delivery has waited for a paused endpoint.
	Postponed bool `json:"postponed,omitempty"`
}

// decodeWork reads a delivery from its item.
func decodeWork(item table.Item) (*Work, error) {
	w := &Work{version: item.Version, expires: item.Expires}
	if err := json.Unmarshal(item.Data, w); err != nil {
		return nil, fmt.Errorf("delivery: decode %s: %w", item.SK, err)
	}
	return w, nil
}

// item returns the item of a version of the delivery.
func (w *Work) item(version int64) (table.Item, error) {
	data, err := wire.Encode(w)
	if err != nil {
		return table.Item{}, fmt.Errorf("delivery: encode %s: %w", w.ID, err)
	}
	return table.Item{Key: key(w.Hidden.Org, w.Endpoint, w.ID), Version: version, Data: data, Expires: w.expires}, nil
}

// task returns the task of the next scheduled attempt.
func (w *Work) task() Task {
	return Task{Org: w.Hidden.Org, Endpoint: w.Endpoint, ID: w.ID, Attempt: w.Hidden.Made + 1}
}
