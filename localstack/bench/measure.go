package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
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
	fmt.Printf("\n### %d sessions, %d contacts\n\n", s.event.Size, s.event.Contacts)
	fmt.Println("| operation | trips | calls | RCU | WCU | 1 client: p50, p99 ms | a second | floor | 16 clients: p50, p99 ms | a second | floor | of the floor |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, op := range s.operations(f) {
		if err := s.row(ctx, op); err != nil {
			return fmt.Errorf("%s: %w", op.name, err)
		}
	}
	if s.event.Size == bulkSize { // Bulk has added records without number.
		return nil
	}
	return s.cold(ctx)
}

func (s *subject) row(ctx context.Context, op operation) error {
	cost, err := s.settled(ctx, op)
	if err != nil {
		return err
	}
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

// settled does an operation until it costs what it did before: the first ones of an
// instance fill its memory of sessions, then step by step that of people.
func (s *subject) settled(ctx context.Context, op operation) (now cost, err error) {
	for n := range 20 {
		if err := op.do(ctx, 0, n); err != nil {
			return now, err
		}
		time.Sleep(20 * time.Millisecond) // The line follows the answer.
		before := now
		if now = s.meter.cost(); n > 1 && now == before {
			break
		}
	}
	return now, nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }

// operations are the rows. Writes go to records of their own, so that what is
// measured at a size stays that size. In the largest organization people are read in
// one batch until a search by updatedAt has loaded all of them; others have them in
// memory from the first search on.
func (s *subject) operations(f *floor) []operation {
	sessions, contacts := s.path("sessions"), s.path("contacts")
	track := s.event.Tracks[0]
	all := []operation{
		{"GET a session with its people", s.get(sessions, s.event.Sessions), f.get(f.bodies, 4)},
		{"PUT a session", s.put(sessions, s.event.Sessions, `{"capacity":%d}`), f.update(f.bodies, 4, f.session)},
		{"search of 25 on one track", s.search(sessions, track, ""), f.search("S#", "C#", "o C#")},
		{"GET a contact", s.get(contacts, s.event.People), f.get(f.people, 1)},
		{"PUT a contact", s.put(contacts, s.event.People, `{"headcount":"%d"}`), f.update(f.people, 1, f.contact)},
		{"search of 25 participants on one track", s.search(s.path("participants"), track, ""), f.search("S#", "C#", "o C#")},
		{"search of 25 speakers, all", s.search(s.path("speakers"), "", ""), nil},
		{"search of 25 contacts, all", s.search(contacts, "", ""), f.search("C#", "o C#")},
		{"search of 25 participants on one track by updatedAt, descending", s.search(s.path("participants"), track, changed), nil},
		{"search of 25 contacts by updatedAt, descending", s.search(contacts, "", changed), nil},
		{"search of 25 participants on one track, people in memory", s.search(s.path("participants"), track, ""), f.search("S#", "C#", "o C#")},
		{"search of 25 on one track, people in memory", s.search(sessions, track, ""), f.search("S#", "C#", "o C#")},
		{"the same by startsAt, descending", s.search(sessions, track, `"startsAt":{"sort":"desc"}`), nil},
		{"search of 25, all", s.search(sessions, "", ""), nil},
	}
	if s.event.Size == bulkSize {
		people := s.event.People
		all = append(all,
			operation{"POST a session with its people", s.create(sessions, func(i int) []byte {
				return draft(s.event.Tracks, i, people[i%len(people)], people[(i+1)%len(people)])
			}), nil},
			operation{"bulk of 100 sessions with their people", s.bulk(sessions, func(_, i int) []byte {
				return draft(s.event.Tracks, i, people[i%len(people)], people[(i+1)%len(people)])
			}), f.bulk(f.bodies, 4, f.session)},
			operation{"bulk of 100 contacts", s.bulk(contacts, func(n, i int) []byte { return person(n*batch + i) }), f.bulk(f.people, 9, f.contact)})
	}
	return all
}

// changed is the order of what was changed last, by which people are searched only
// where all of them are in memory.
const changed = `"updatedAt":{"sort":"desc"}`

// bulkSize is the event at whose size creates and bulk are measured: they do not depend
// on the size, and add records.
const bulkSize = 100

func (s *subject) path(collection string) string {
	return fmt.Sprintf("/v1/event/%d/%s", s.event.ID, collection)
}

func (s *subject) get(path string, ids []string) call {
	return func(ctx context.Context, client, n int) error {
		_, err := s.place.client.send(ctx, "GET", path+"/"+ids[(client*7+n)%len(ids)], nil)
		return err
	}
}

// put updates one record a client; body has a place for a number.
func (s *subject) put(path string, ids []string, body string) call {
	return func(ctx context.Context, client, n int) error {
		_, err := s.place.client.send(ctx, "PUT", path+"/"+ids[client%len(ids)], fmt.Appendf(nil, body, n%1000))
		return err
	}
}

func (s *subject) search(path, track, sort string) call {
	filters := "{}"
	if track != "" {
		filters = fmt.Sprintf(`{"trackIds":[%q]}`, track)
	}
	body := fmt.Appendf(nil, `{"filters":%s,"sort":{%s}}`, filters, sort)
	return func(ctx context.Context, _, _ int) error {
		_, err := s.place.client.send(ctx, "POST", path, body)
		return err
	}
}

// create makes one record after the other.
func (s *subject) create(path string, draft func(i int) []byte) call {
	var made atomic.Int64
	return func(ctx context.Context, _, _ int) error {
		_, err := s.place.client.send(ctx, "POST", path+"/create", draft(int(made.Add(1))))
		return err
	}
}

// bulk makes records in batches, of which each has another number, also than those
// of an earlier run.
func (s *subject) bulk(path string, draft func(n, i int) []byte) call {
	var batches atomic.Int64
	batches.Add(time.Now().UnixMilli())
	return func(ctx context.Context, _, _ int) error {
		number := int(batches.Add(1))
		body, err := json.Marshal(creates(func(i int) []byte { return draft(number, i) }, 0, batch))
		if err != nil {
			return err
		}
		text, err := s.place.client.send(ctx, "POST", path+"/bulk", body)
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

// cold prints what the first search of a new instance takes: of sessions, of
// participants, and of contacts by when they were changed, which loads all of them.
func (s *subject) cold(ctx context.Context) error {
	track := s.event.Tracks[0]
	for _, first := range []struct{ collection, track, sort string }{
		{"sessions", track, ""}, {"participants", track, ""}, {"contacts", "", changed},
	} {
		if err := s.first(ctx, first.collection, first.track, first.sort); err != nil {
			return err
		}
	}
	return nil
}

func (s *subject) first(ctx context.Context, collection, track, sort string) error {
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
	if err := other.search(s.path(collection), track, sort)(ctx, 0, 0); err != nil {
		return err
	}
	took := time.Since(began)
	time.Sleep(20 * time.Millisecond) // The line follows the answer.
	cost := s.meter.cost()
	fmt.Printf("\nThe first search of %s%s by a new instance, of %d sessions and %d contacts: %s ms, %d round trips, %.0f RCU.\n",
		collection, map[string]string{changed: " by updatedAt"}[sort], s.event.Size, s.event.Contacts, ms(took), cost.roundTrips, cost.read)
	return nil
}
