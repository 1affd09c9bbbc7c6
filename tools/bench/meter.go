package main

import (
	"context"
	"log/slog"
	"sync"
)

// meter keeps the cost in the last log line of a request.
type meter struct {
	mu   sync.Mutex
	last cost
}

// cost is the use of the table by a request.
type cost struct {
	roundTrips, calls int64
	read, written     float64
}

// logger returns a logger that writes to the meter.
func (m *meter) logger() *slog.Logger { return slog.New(m) }

// Enabled returns true, because every line counts.
func (*meter) Enabled(context.Context, slog.Level) bool { return true }

// Handle keeps the cost in the line.
func (m *meter) Handle(_ context.Context, r slog.Record) error {
	var c cost
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "round_trips":
			c.roundTrips = a.Value.Int64()
		case "calls":
			c.calls = a.Value.Int64()
		case "rcu":
			c.read = a.Value.Float64()
		case "wcu":
			c.written = a.Value.Float64()
		}
		return true
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = c
	return nil
}

// WithAttrs returns the meter: the line of a request has all attributes.
func (m *meter) WithAttrs([]slog.Attr) slog.Handler { return m }

// WithGroup returns the meter; the pipeline uses no groups.
func (m *meter) WithGroup(string) slog.Handler { return m }

// cost returns the cost in the last line.
func (m *meter) cost() cost {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}
