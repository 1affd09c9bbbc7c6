// Package seed creates the demo organization of a region, with an event and a token, and
// prepares the event for the demo conference (package demo).
package seed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"

	"lectern/localstack/content/demo"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/tenancy"
)

// demoLimit is the demo token's limit of requests a window, above any use by hand.
const demoLimit = 1_000_000

// FileName is the name of the file beside a region's data with the region's seed.
const FileName = "seed.json"

// Seed names the organization, event and token of a region.
type Seed struct {
	Organization int64  `json:"organization"`
	Event        int64  `json:"event"`
	TokenID      int64  `json:"token_id"`
	Token        string `json:"token"`
	// Filled reports whether the event has the demo conference.
	Filled bool `json:"filled"`
}

// Operator does an operator command and returns the answer as JSON.
type Operator interface {
	Do(ctx context.Context, command string, input json.RawMessage) (json.RawMessage, error)
}

// Region is a region to seed.
type Region struct {
	// Data is the data folder; the seed is in the folder called Name.
	Data, Name string
	Operator   Operator
}

// events has the demo event of each region.
var events = map[string]input{
	"us": {"name": "Waypoint 2027", "timezone": "America/Chicago", "default_language": "en",
		"starts_at": "2027-05-11T14:00:00Z", "ends_at": "2027-05-13T23:00:00Z"},
	"eu": {"name": "Waypoint Europe 2027", "timezone": "Europe/Lisbon", "default_language": "en",
		"starts_at": "2027-09-21T08:00:00Z", "ends_at": "2027-09-23T17:00:00Z"},
}

// Path returns the file of a region's seed.
func Path(data, region string) string { return filepath.Join(data, region, FileName) }

// Load returns the region's seed. The first call creates an organization, an event with all
// features off, and a token with the default limits and every scope but read:audit_logs.
func (r Region) Load(ctx context.Context) (s Seed, err error) {
	text, err := os.ReadFile(Path(r.Data, r.Name))
	if err == nil {
		return s, json.Unmarshal(text, &s)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return s, fmt.Errorf("read the seed: %w", err)
	}
	if s, err = r.create(ctx); err != nil {
		return s, fmt.Errorf("seed %s: %w", r.Name, err)
	}
	return s, r.save(s)
}

// save writes the region's seed.
func (r Region) save(s Seed) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the seed: %w", err)
	}
	return WriteFile(Path(r.Data, r.Name), text)
}

// create creates the organization, its first member, the event and the token.
func (r Region) create(ctx context.Context) (s Seed, err error) {
	var organization, member, event, token struct {
		ID    int64
		Token string
	}
	if err := r.do(ctx, "organization-create", input{"name": "Demo organization"}, &organization); err != nil {
		return s, err
	}
	s.Organization = organization.ID
	if err := r.do(ctx, "member-create", input{"org_id": s.Organization,
		"name": "Demo admin", "email": "admin@demo.example", "role": tenancy.RoleAdmin}, &member); err != nil {
		return s, err
	}
	in := input{"org_id": s.Organization}
	maps.Copy(in, events[r.Name])
	if err := r.do(ctx, "event-create", in, &event); err != nil {
		return s, err
	}
	s.Event = event.ID
	err = r.do(ctx, "token-create", input{"org_id": s.Organization, "user_id": member.ID,
		"name": "Demo token", "scopes": auth.APIScopes}, &token)
	s.TokenID, s.Token = token.ID, token.Token
	return s, err
}

// Fill creates the demo conference: features, custom role and upload slots of the event, the token's limit,
// and the content through the API at url.
func (r Region) Fill(ctx context.Context, url string, s Seed) (made demo.Made, err error) {
	features := map[string]bool{}
	for _, name := range demo.Features {
		features[name] = true
	}
	if err := r.do(ctx, "event-update", input{"org_id": s.Organization, "event_id": s.Event, "features": features}, nil); err != nil {
		return made, err
	}
	if err := r.createRole(ctx, s); err != nil {
		return made, err
	}
	if err := r.createSlots(ctx, s); err != nil {
		return made, err
	}
	if err := r.do(ctx, "token-update", input{"org_id": s.Organization, "token_id": s.TokenID, "limit": demoLimit}, nil); err != nil {
		return made, err
	}
	if made, err = demo.Fill(ctx, demo.Target{URL: url, Token: s.Token, Event: s.Event}); err != nil {
		return made, err
	}
	s.Filled = true
	return made, r.save(s)
}

// createRole creates the demo's custom role. A conflict means that the event has the role.
func (r Region) createRole(ctx context.Context, s Seed) error {
	role := input{"org_id": s.Organization, "event_id": s.Event}
	maps.Copy(role, demo.Role)
	err := r.do(ctx, "participant-role-create", role, nil)
	if refused := (*apierr.Error)(nil); errors.As(err, &refused) && refused.Status == http.StatusConflict {
		return nil
	}
	return err
}

// createSlots creates the demo's upload slots, unless the event has slots.
func (r Region) createSlots(ctx context.Context, s Seed) error {
	event := input{"org_id": s.Organization, "event_id": s.Event}
	var stored struct{ Results []any }
	if err := r.do(ctx, "content-slot-list", event, &stored); err != nil || len(stored.Results) > 0 {
		return err
	}
	for _, slot := range demo.Slots {
		in := maps.Clone(event)
		maps.Copy(in, slot)
		if err := r.do(ctx, "content-slot-create", in, nil); err != nil {
			return err
		}
	}
	return nil
}

// input is the input of a command.
type input map[string]any

// do does an operator command and decodes the answer into a struct; nil drops the answer.
func (r Region) do(ctx context.Context, command string, in input, into any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	answer, err := r.Operator.Do(ctx, command, text)
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// WriteFile writes a whole file or nothing, readable only by the owner because the content
// has a token.
func WriteFile(path string, text []byte) error {
	partial := path + ".partial"
	if err := os.WriteFile(partial, text, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(partial, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
