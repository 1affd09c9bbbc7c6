package main

import (
	"context"
	"log/slog"
	"sync"
)

// lines keeps the last log line of a request, which says what the request cost.
type lines struct {
	mu   sync.Mutex
	last cost
}

// cost is what one request took of the table.
type cost struct {
	roundTrips, calls int64
	read, written     float64
}

func (l *lines) logger() *slog.Logger { return slog.New(l) }

// Enabled is true: every line counts.
func (*lines) Enabled(context.Context, slog.Level) bool { return true }

// Handle keeps the cost that the line tells.
func (l *lines) Handle(_ context.Context, r slog.Record) error {
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
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = c
	return nil
}

// WithAttrs and WithGroup keep nothing: a request's line carries all its facts.
func (l *lines) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup is not used by the pipeline.
func (l *lines) WithGroup(string) slog.Handler { return l }

func (l *lines) cost() cost {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}
