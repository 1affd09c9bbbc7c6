package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lectern/functions/operator"
	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/bulk"
	"lectern/shared/programme"
	"lectern/shared/session"
	"lectern/shared/settings"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

const (
	region = "us"
	// unlimited is the limit of the bench's token.
	unlimited = 1_000_000_000
	// tracks is over how many tracks an event's sessions are spread.
	tracks = 10
	// batch is how many sessions one bulk makes.
	batch = 100
)

// place is the organization that all measured events belong to, as it is kept
// between runs.
type place struct {
	Org, Member, TokenID int64
	Token                string
	Events               map[int]event

	path   string
	env    api.Env
	client *client
}

// event is one measured event.
type event struct {
	ID int64
	// Size is how many sessions it was filled with.
	Size   int
	Tracks []string
	// Sessions are some of its sessions, the first ones made.
	Sessions []string
}

// prepare gives the place kept under data, or makes it.
func prepare(ctx context.Context, data, url string, env api.Env) (*place, error) {
	p := &place{Events: map[int]event{}, path: filepath.Join(data, "bench.json"), env: env}
	text, err := os.ReadFile(p.path)
	if err == nil {
		err = json.Unmarshal(text, p)
		p.client = newClient(url, p.Token)
		return p, err
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	made, err := p.operate(ctx, "organization-create", map[string]any{"name": "Bench"})
	if err != nil {
		return nil, err
	}
	p.Org = made.ID
	if made, err = p.operate(ctx, "member-create", map[string]any{
		"org_id": p.Org, "name": "Bench", "email": "bench@bench.example", "role": tenancy.RoleAdmin}); err != nil {
		return nil, err
	}
	p.Member = made.ID
	scopes := []auth.Scope{auth.ReadEvents, auth.ReadSessions, auth.WriteSessions, auth.WriteMetadata}
	if made, err = p.operate(ctx, "token-create", map[string]any{
		"org_id": p.Org, "user_id": p.Member, "name": "Bench", "scopes": scopes, "limit": unlimited}); err != nil {
		return nil, err
	}
	p.TokenID, p.Token = made.ID, made.Token
	p.client = newClient(url, p.Token)
	return p, p.keep()
}

func (p *place) keep() error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(p.path, text, 0o600)
}

type made struct {
	ID    int64  `json:"id"`
	Token string `json:"token"`
}

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
	return m, json.Unmarshal(text, &m)
}

// event gives the event of a size, making and filling it the first time.
func (p *place) event(ctx context.Context, size int) (event, error) {
	if e, ok := p.Events[size]; ok {
		return e, nil
	}
	began := time.Now()
	m, err := p.operate(ctx, "event-create", map[string]any{"org_id": p.Org, "name": fmt.Sprint("Bench ", size),
		"timezone": "Europe/Berlin", "starts_at": "2027-05-01T08:00:00Z", "ends_at": "2027-05-03T18:00:00Z"})
	if err != nil {
		return event{}, err
	}
	e := event{ID: m.ID, Size: size}
	if err := p.fill(ctx, &e); err != nil {
		return e, err
	}
	p.Events[size] = e
	fmt.Printf("%d sessions made in %s\n", size, time.Since(began).Round(time.Millisecond))
	return e, p.keep()
}

// caller is the bench's member at an event, as a request would have found it.
func (p *place) caller(ctx context.Context, id int64) (*auth.Caller, error) {
	events, err := programme.Many(ctx, tenancy.Store{Table: p.env.Table, Now: p.env.Now, Region: region}, p.Org, []int64{id})
	if err != nil {
		return nil, err
	}
	return &auth.Caller{Org: tenancy.Organization{ID: p.Org}, Member: tenancy.Member{ID: p.Member}, Event: events[0]}, nil
}

func (p *place) fill(ctx context.Context, e *event) error {
	for i := range tracks {
		var track struct{ ID string }
		if err := p.client.json(ctx, &track, "POST", fmt.Sprintf("/v1/event/%d/tracks/create", e.ID),
			map[string]any{"name": fmt.Sprint("Track ", i)}); err != nil {
			return err
		}
		e.Tracks = append(e.Tracks, track.ID)
	}
	caller, err := p.caller(ctx, e.ID)
	if err != nil {
		return err
	}
	store := &session.Store{Table: p.env.Table, Settings: settings.NewCache(p.env.Table), Now: p.env.Now, NewID: p.env.NewID}
	for made := 0; made < e.Size; made += batch {
		answer, err := store.Bulk(auth.With(ctx, caller), caller, creates(e.Tracks, made, min(batch, e.Size-made)), session.Expand{})
		if err != nil {
			return err
		}
		if answer.Stats.Failed > 0 {
			return fmt.Errorf("a session was not made: %+v", answer.Results[0].Error)
		}
		for _, result := range answer.Results {
			if len(e.Sessions) < 1000 {
				e.Sessions = append(e.Sessions, *result.ID)
			}
		}
	}
	return nil
}

// creates are n operations that make sessions, the first numbered from.
func creates(tracks []string, from, n int) bulk.Request {
	req := bulk.Request{Operations: make([]bulk.Operation, n)}
	for i := range req.Operations {
		req.Operations[i] = bulk.Operation{Action: "create", Data: wire.Some[bulk.Data](draft(tracks, from+i))}
	}
	return req
}

// description is what most of a session's bytes are.
var description = strings.Repeat("<p>What was measured, how, and what it means for a programme of this size.</p>\n", 30)

// draft is a session of about the size that real ones have: 3 KB as stored.
func draft(tracks []string, i int) []byte {
	start := time.Date(2027, 5, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(i%500) * 5 * time.Minute)
	text, err := json.Marshal(map[string]any{
		"title": fmt.Sprintf("Session %d: what the measured figures mean", i), "description": description,
		"starts_at": start, "ends_at": start.Add(45 * time.Minute), "track_id": tracks[i%len(tracks)],
		"status": "accepted", "is_public": true, "capacity": 50 + i%200,
	})
	if err != nil {
		panic(err) // A map of plain values can be written.
	}
	return text
}
