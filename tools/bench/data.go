package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"lectern/functions/operator"
	"lectern/localstack/local/stack"
	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/bulk"
	"lectern/shared/contact"
	"lectern/shared/party"
	"lectern/shared/programme"
	"lectern/shared/session/view"
	"lectern/shared/stores"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

const (
	region = "us"
	// unlimited is the limit of the bench's token.
	unlimited = 1_000_000_000
	// tracks is the number of tracks of an event.
	tracks = 10
	// batch is the number of records in a bulk.
	batch = 100
)

// place is the organization of a measured event, kept in a file between runs. Each event has a
// separate organization, because a search reads all contacts of an organization.
type place struct {
	Org, Member, TokenID int64
	Token                string
	Event                event

	path   string
	env    api.Env
	client *client
}

// event is a measured event.
type event struct {
	ID int64
	// Size is the number of sessions, Contacts the number of contacts. Each session has two
	// speakers.
	Size, Contacts int
	Tracks         []string
	// Sessions and People are the ids of the first records.
	Sessions, People []string
}

// contactsOf returns the number of contacts for an event of a size. The event of 10,000 sessions
// has the most, for the measurement of searches of people.
func contactsOf(size int) int {
	if size == memorySize {
		return 10 * size
	}
	return min(size, memorySize)
}

// prepare returns the place in the file at path, or creates a place with the wanted event.
func prepare(ctx context.Context, path string, on *stack.Instance, wanted event) (*place, error) {
	p := &place{path: path, env: on.Env}
	text, err := os.ReadFile(p.path)
	if err == nil {
		err = json.Unmarshal(text, p)
		p.client = newClient(on.URL, p.Token)
		return p, err
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err := p.organize(ctx); err != nil {
		return nil, err
	}
	p.client = newClient(on.URL, p.Token)
	return p, p.fill(ctx, wanted)
}

// organize creates the organization and a token.
func (p *place) organize(ctx context.Context) error {
	made, err := p.operate(ctx, "organization-create", map[string]any{"name": "Bench"})
	if err != nil {
		return err
	}
	p.Org = made.ID
	if made, err = p.operate(ctx, "member-create", map[string]any{
		"org_id": p.Org, "name": "Bench", "email": "bench@bench.example", "role": tenancy.RoleAdmin}); err != nil {
		return err
	}
	p.Member = made.ID
	made, err = p.operate(ctx, "token-create", map[string]any{
		"org_id": p.Org, "user_id": p.Member, "name": "Bench", "scopes": auth.APIScopes, "limit": unlimited})
	p.TokenID, p.Token = made.ID, made.Token
	return err
}

// keep writes the place into its file.
func (p *place) keep() error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(p.path, text, 0o600)
}

// made is the answer of a command that creates a record.
type made struct {
	ID    int64  `json:"id"`
	Token string `json:"token"`
}

// operate does an operator command.
func (p *place) operate(ctx context.Context, command string, input any) (m made, err error) {
	text, err := json.Marshal(input)
	if err != nil {
		return m, err
	}
	answer, err := operator.New(p.env).Do(ctx, command, text)
	if err != nil {
		return m, fmt.Errorf("%s: %w", command, err)
	}
	if text, err = json.Marshal(answer); err != nil {
		return m, err
	}
	err = json.Unmarshal(text, &m)
	return m, err
}

// newEvent creates an event and returns the id.
func (p *place) newEvent(ctx context.Context, name string) (int64, error) {
	made, err := p.operate(ctx, "event-create", map[string]any{"org_id": p.Org, "name": name,
		"timezone": "Europe/Berlin", "starts_at": "2027-05-01T08:00:00Z", "ends_at": "2027-05-03T18:00:00Z"})
	return made.ID, err
}

// fill creates the event with tracks, contacts and sessions.
func (p *place) fill(ctx context.Context, wanted event) error {
	began := time.Now()
	id, err := p.newEvent(ctx, fmt.Sprint("Bench ", wanted.Size))
	if err != nil {
		return err
	}
	p.Event = wanted
	p.Event.ID = id
	for i := range tracks {
		var track struct{ ID string }
		if err := p.client.json(ctx, &track, "POST", fmt.Sprintf("/v1/event/%d/tracks/create", id),
			map[string]any{"name": fmt.Sprint("Track ", i)}); err != nil {
			return err
		}
		p.Event.Tracks = append(p.Event.Tracks, track.ID)
	}
	if err := p.records(ctx); err != nil {
		return err
	}
	fmt.Printf("%d sessions and %d contacts made in %s\n", wanted.Size, p.Event.Contacts, time.Since(began).Round(time.Millisecond))
	return p.keep()
}

// caller returns the bench's member as the caller of a request about an event.
func (p *place) caller(ctx context.Context, id int64) (*auth.Caller, error) {
	events, err := programme.Many(ctx, tenancy.Store{Table: p.env.Table, Now: p.env.Now, Region: region}, p.Org, []int64{id})
	if err != nil {
		return nil, err
	}
	return &auth.Caller{Org: tenancy.Organization{ID: p.Org}, Member: tenancy.Member{ID: p.Member}, Event: events[0]}, nil
}

// records creates the event's contacts and sessions without the API.
func (p *place) records(ctx context.Context) error {
	caller, err := p.caller(ctx, p.Event.ID)
	if err != nil {
		return err
	}
	ctx = auth.With(ctx, caller)
	contacts, sessions := stores.Contacts(p.env), stores.Sessions(p.env)
	people, err := inBatches(p.Event.Contacts, persons{}, func(req bulk.Request) (*bulk.Response[contact.Contact, string], error) {
		return party.Bulk(ctx, contacts.Writer(caller, false), req, (*apierr.Error).Error)
	})
	if err != nil {
		return err
	}
	draft := drafts{p.Event.Tracks, people}
	made, err := inBatches(p.Event.Size, draft, func(req bulk.Request) (*bulk.Response[view.Session, bulk.Failure], error) {
		return sessions.Bulk(ctx, caller, req, view.Expand{})
	})
	p.Event.Sessions, p.Event.People = made[:min(len(made), some)], people[:min(len(people), some)]
	return err
}

// some is the number of ids of each kind to keep.
const some = 1000

// inBatches creates n records, a batch at a time, and returns the ids.
func inBatches[T, E any](n int, records records, do func(bulk.Request) (*bulk.Response[T, E], error)) (ids []string, err error) {
	for made := 0; made < n; made += batch {
		answer, err := do(creates(records, made, min(batch, n-made)))
		if err != nil {
			return nil, err
		}
		if answer.Stats.Failed > 0 {
			return nil, fmt.Errorf("a record was not made: %+v", answer.Results[0].Error)
		}
		for _, result := range answer.Results {
			ids = append(ids, *result.ID)
		}
	}
	return ids, nil
}

// creates returns n operations that create records, numbered from a first number.
func creates(records records, from, n int) bulk.Request {
	req := bulk.Request{Operations: make([]bulk.Operation, n)}
	for i := range req.Operations {
		req.Operations[i] = bulk.Operation{Action: "create", Data: wire.Some[bulk.Data](records.draft(from + i))}
	}
	return req
}

// description has most of a session's bytes.
var description = strings.Repeat("<p>What was measured, how, and what it means for a programme of this size.</p>\n", 30)

// records makes the drafts of new records by number.
type records interface{ draft(i int) []byte }

// drafts makes sessions with two speakers each.
type drafts struct{ tracks, people []string }

// draft returns a session with the size of a real session: 3 KB as stored.
func (d drafts) draft(i int) []byte {
	start := time.Date(2027, 5, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(i%500) * 5 * time.Minute)
	var people []map[string]any
	for k := range 2 {
		id := d.people[(i+k)%len(d.people)]
		people = append(people, map[string]any{"contact_id": id, "core_role": "speaker"})
	}
	return encoded(map[string]any{
		"title": fmt.Sprintf("Session %d: what the measured figures mean", i), "description": description,
		"starts_at": start, "ends_at": start.Add(45 * time.Minute), "track_id": d.tracks[i%len(d.tracks)],
		"status": "accepted", "is_public": true, "capacity": 50 + i%200, "participants": people,
	})
}

// persons makes contacts, numbered from first.
type persons struct{ first int }

// draft returns a contact with the size of a real contact: 0.7 KB as stored.
func (p persons) draft(i int) []byte {
	i += p.first
	return encoded(map[string]any{
		"email": fmt.Sprintf("given%d.family@people.bench.example", i), "first_name": fmt.Sprint("Given", i),
		"last_name": fmt.Sprint("Family", i%997),
		"title":     "Measurer", "company": fmt.Sprint("Company ", i%5000),
		"about":        strings.Repeat("Measures what a programme of this size takes. ", 8),
		"address_city": "Berlin", "address_country": 276, "photo_url": fmt.Sprintf("https://photos.bench.example/%d.jpg", i),
	})
}

// encoded returns a body as JSON.
func encoded(body map[string]any) []byte {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // A map of plain values has a JSON form.
	}
	return text
}
