package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lectern/localstack/local/stack"
)

// crowd is the number of clients of a parallel load.
const crowd = 16

// subject is an event under measurement.
type subject struct {
	place    *place
	event    event
	stack    *stack.Stack
	instance *stack.Instance
	meter    *meter
	span     time.Duration
}

// operation is a row of the table: a request and its floor, nil without a floor.
type operation struct {
	name    string
	request call
	floor   call
}

// measure prints the event's table.
func (s *subject) measure(ctx context.Context) error {
	f, err := s.newFloor(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("\n### %d sessions, %d contacts\n\n", s.event.Size, s.event.Contacts)
	fmt.Println("| operation | trips | calls | RCU | WCU | 1 client: p50, p99 ms | a second | floor | 16 clients: p50, p99 ms | a " +
		"second | floor | of the floor |")
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

// row prints the row of an operation.
func (s *subject) row(ctx context.Context, op operation) error {
	cost, err := s.settled(ctx, op)
	if err != nil {
		return err
	}
	fmt.Printf("| %s | %d | %d | %.1f | %.0f ", op.name, cost.roundTrips, cost.calls, cost.read, cost.written)
	for _, clients := range []int{1, crowd} {
		got, err := load(ctx, clients, s.span, op.request)
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

// settled repeats an operation until the cost stays the same: the first requests of an instance
// load sessions, and step by step people, into memory.
func (s *subject) settled(ctx context.Context, op operation) (now cost, err error) {
	for n := range 20 {
		if err := op.request.do(ctx, 0, n); err != nil {
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

// ms returns a time in milliseconds.
func ms(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }

// operations returns the rows of the table. Writes change separate records, so that the size
// stays the same. In the largest organization, people are read in a batch until a search by
// updatedAt has loaded all rows; in others, the first search loads all people.
func (s *subject) operations(f *floor) []operation {
	onTrack, byChange := query{track: s.event.Tracks[0]}, query{sort: changed}
	changedOnTrack := query{s.event.Tracks[0], changed}
	rows := floorSearch{f, []string{"S#", "C#", "o C#"}}
	all := []operation{
		{"GET a session with its people", s.get("sessions", s.event.Sessions), floorGet{f, f.bodies, 4}},
		{"PUT a session", s.put("sessions", s.event.Sessions, `{"capacity":%d}`), floorUpdate{f, f.bodies, 4, f.session}},
		{"search of 25 on one track", s.search("sessions", onTrack), rows},
		{"GET a contact", s.get("contacts", s.event.People), floorGet{f, f.people, 1}},
		{"PUT a contact", s.put("contacts", s.event.People, `{"headcount":"%d"}`), floorUpdate{f, f.people, 1, f.contact}},
		{"search of 25 participants on one track", s.search("participants", onTrack), rows},
		{"search of 25 speakers, all", s.search("speakers", query{}), nil},
		{"search of 25 contacts, all", s.search("contacts", query{}), floorSearch{f, []string{"C#", "o C#"}}},
		{"search of 25 participants on one track by updatedAt, descending", s.search("participants", changedOnTrack), nil},
		{"search of 25 contacts by updatedAt, descending", s.search("contacts", byChange), nil},
		{"search of 25 participants on one track, people in memory", s.search("participants", onTrack), rows},
		{"search of 25 on one track, people in memory", s.search("sessions", onTrack), rows},
		{"the same by startsAt, descending", s.search("sessions", query{onTrack.track, `"startsAt":{"sort":"desc"}`}), nil},
		{"search of 25, all", s.search("sessions", query{}), nil},
	}
	if s.event.Size == bulkSize {
		sessions := drafts{s.event.Tracks, s.event.People}
		all = append(all,
			operation{"POST a session with its people", s.create("sessions", sessions), nil},
			operation{"bulk of 100 sessions with their people", s.bulk("sessions", sessions), floorBulk{f, f.bodies, 4, f.session}},
			operation{"bulk of 100 contacts", s.bulk("contacts", persons{}), floorBulk{f, f.people, 9, f.contact}})
	}
	return all
}

// changed sorts by the time of the last change. A search of people in that order needs all people
// in memory.
const changed = `"updatedAt":{"sort":"desc"}`

// bulkSize is the size of the event for creates and bulks. The size makes no difference to
// creates and bulks, but every create makes the event larger.
const bulkSize = 100

// cold prints the time and cost of the first search of a new instance: of sessions, of
// participants, and of contacts by the time of change, a search that loads all contacts.
func (s *subject) cold(ctx context.Context) error {
	onTrack := query{track: s.event.Tracks[0]}
	return errors.Join(s.first(ctx, "sessions", onTrack), s.first(ctx, "participants", onTrack),
		s.first(ctx, "contacts", query{sort: changed}))
}

// first prints the figures of the first search of a collection by a new instance.
func (s *subject) first(ctx context.Context, collection string, by query) error {
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
	if err := other.search(collection, by).do(ctx, 0, 0); err != nil {
		return err
	}
	took := time.Since(began)
	time.Sleep(20 * time.Millisecond) // The line follows the answer.
	cost := s.meter.cost()
	fmt.Printf("\nThe first search of %s%s by a new instance, of %d sessions and %d contacts: %s ms, %d round trips, %.0f RCU.\n",
		collection, map[string]string{changed: " by updatedAt"}[by.sort], s.event.Size, s.event.Contacts, ms(took), cost.roundTrips, cost.read)
	return nil
}
