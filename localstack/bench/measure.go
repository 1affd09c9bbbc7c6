package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"lectern/localstack/stack"
	"lectern/shared/bulk"
)

// crowd is how many clients the figures for parallel load have.
const crowd = 16

// subject is one event under measurement.
type subject struct {
	place    *place
	event    event
	stack    *stack.Stack
	instance *stack.Instance
	meter    *lines
	span     time.Duration
}

// operation is one row of the table: what is done, and its floor, nil where
// there is none.
type operation struct {
	name  string
	do    call
	floor call
}

// measure prints the event's table.
func (s *subject) measure(ctx context.Context) error {
	f, err := s.newFloor(ctx)
	if err != nil {
		return err
	}
	if err := s.cold(ctx); err != nil {
		return err
	}
	fmt.Printf("\n### %d sessions\n\n", s.event.Size)
	fmt.Println("| operation | trips | calls | RCU | WCU | 1 client: p50, p99 ms | a second | floor | 16 clients: p50, p99 ms | a second | floor | of the floor |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, op := range s.operations(f) {
		if err := s.row(ctx, op); err != nil {
			return fmt.Errorf("%s: %w", op.name, err)
		}
	}
	return nil
}

func (s *subject) row(ctx context.Context, op operation) error {
	if err := op.do(ctx, 0, 0); err != nil {
		return err
	}
	if err := op.do(ctx, 0, 1); err != nil { // The first may have filled a memory.
		return err
	}
	time.Sleep(20 * time.Millisecond) // The line follows the answer.
	cost := s.meter.cost()
	fmt.Printf("| %s | %d | %d | %.1f | %.0f ", op.name, cost.roundTrips, cost.calls, cost.read, cost.written)
	for _, clients := range []int{1, crowd} {
		got, err := load(ctx, clients, s.span, op.do)
		if err != nil {
			return err
		}
		fmt.Printf("| %s, %s | %.0f ", ms(got.p50), ms(got.p99), got.rate)
		if op.floor == nil {
			fmt.Print("| ")
			continue
		}
		least, err := load(ctx, clients, s.span, op.floor)
		if err != nil {
			return err
		}
		fmt.Printf("| %.0f ", least.rate)
		if clients == crowd {
			fmt.Printf("| %.0f %% ", 100*got.rate/least.rate)
		}
	}
	if op.floor == nil {
		fmt.Print("| ")
	}
	fmt.Println("|")
	return nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }

// operations are the rows. Writes go to an event of their own, so that what is
// measured at a size stays that size.
func (s *subject) operations(f *floor) []operation {
	c, base := s.place.client, fmt.Sprintf("/v1/event/%d/sessions", s.event.ID)
	get := func(ctx context.Context, client, n int) error {
		id := s.event.Sessions[(client*7+n)%len(s.event.Sessions)]
		_, err := c.send(ctx, "GET", base+"/"+id, nil)
		return err
	}
	update := func(ctx context.Context, client, n int) error {
		id := s.event.Sessions[client%len(s.event.Sessions)]
		_, err := c.send(ctx, "PUT", base+"/"+id, fmt.Appendf(nil, `{"capacity":%d}`, n%1000))
		return err
	}
	track := s.event.Tracks[0]
	all := []operation{
		{"GET a session", get, f.get},
		{"PUT a session", update, f.update},
		{"search of 25 on one track", s.search(track, ""), f.search},
		{"the same by startsAt, descending", s.search(track, `"startsAt":{"sort":"desc"}`), nil},
		{"the same by updatedAt", s.search(track, `"updatedAt":{"sort":"asc"}`), nil},
		{"search of 25, all", s.search("", ""), nil},
	}
	if s.event.Size == bulkSize {
		all = append(all, operation{"bulk of 100 creates", s.bulk(), f.bulk})
	}
	return all
}

// bulkSize is the event at whose size bulk is measured: it does not depend on
// the size, and adds sessions.
const bulkSize = 100

func (s *subject) search(track, sort string) call {
	filters := "{}"
	if track != "" {
		filters = fmt.Sprintf(`{"trackIds":[%q]}`, track)
	}
	body := fmt.Appendf(nil, `{"filters":%s,"sort":{%s}}`, filters, sort)
	path := fmt.Sprintf("/v1/event/%d/sessions", s.event.ID)
	return func(ctx context.Context, _, _ int) error {
		_, err := s.place.client.send(ctx, "POST", path, body)
		return err
	}
}

func (s *subject) bulk() call {
	path := fmt.Sprintf("/v1/event/%d/sessions/bulk", s.event.ID)
	body, err := json.Marshal(creates(s.event.Tracks, 0, batch))
	return func(ctx context.Context, _, _ int) error {
		if err != nil {
			return err
		}
		text, err := s.place.client.send(ctx, "POST", path, body)
		if err != nil {
			return err
		}
		var answer struct{ Stats bulk.Stats }
		if err := json.Unmarshal(text, &answer); err != nil {
			return err
		}
		if answer.Stats.Failed > 0 {
			return fmt.Errorf("%d operations of a bulk failed", answer.Stats.Failed)
		}
		return nil
	}
}

// cold prints what the first search of a new instance takes.
func (s *subject) cold(ctx context.Context) error {
	fresh, err := s.stack.Serve("127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { _ = fresh.Stop(ctx) }() // The process ends anyway.
	other := *s
	place := *s.place
	place.client = newClient(fresh.URL, s.place.Token)
	other.place = &place
	began := time.Now()
	if err := other.search(s.event.Tracks[0], "")(ctx, 0, 0); err != nil {
		return err
	}
	took := time.Since(began)
	time.Sleep(20 * time.Millisecond) // The line follows the answer.
	cost := s.meter.cost()
	fmt.Printf("\nThe first search of %d sessions by a new instance: %s ms, %d round trips, %.0f RCU.\n",
		s.event.Size, ms(took), cost.roundTrips, cost.read)
	return nil
}
