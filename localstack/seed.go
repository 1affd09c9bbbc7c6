package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"

	"lectern/localstack/demo"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/tenancy"
)

// demoLimit is the demo token's own limit of requests a window: more than
// anyone tries out by hand.
const demoLimit = 1_000_000

// seed is what a region is given once, so that there is something to call.
type seed struct {
	Organization int64  `json:"organization"`
	Event        int64  `json:"event"`
	TokenID      int64  `json:"token_id"`
	Token        string `json:"token"`
	// Filled is whether the event was filled with the demo conference.
	Filled bool `json:"filled"`
}

// places are where and when a region's demo conference is held.
var places = map[string]map[string]any{
	"us": {"name": "Waypoint 2027", "timezone": "America/Chicago", "default_language": "en",
		"starts_at": "2027-05-11T14:00:00Z", "ends_at": "2027-05-13T23:00:00Z"},
	"eu": {"name": "Waypoint Europe 2027", "timezone": "Europe/Lisbon", "default_language": "en",
		"starts_at": "2027-09-21T08:00:00Z", "ends_at": "2027-09-23T17:00:00Z"},
}

// seedName is the file beside a region's data that keeps its seed.
const seedName = "seed.json"

func seedPath(data, name string) string { return filepath.Join(data, name, seedName) }

// seeded gives the region's seed, making it the first time: an organization, an
// event with no feature switched on, and a token with every scope but
// read:audit_logs and the default limits.
func seeded(ctx context.Context, data string, o office) (seed, error) {
	var s seed
	text, err := os.ReadFile(seedPath(data, o.region))
	if err == nil {
		err = json.Unmarshal(text, &s)
		return s, err
	}
	if !errors.Is(err, os.ErrNotExist) {
		return s, fmt.Errorf("read the seed: %w", err)
	}
	if s, err = plant(ctx, o); err != nil {
		return s, fmt.Errorf("seed %s: %w", o.region, err)
	}
	return s, s.save(data, o.region)
}

func (s seed) save(data, name string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the seed: %w", err)
	}
	return replace(seedPath(data, name), text)
}

// plant makes a region's seed.
func plant(ctx context.Context, o office) (s seed, err error) {
	organization, err := o.create(ctx, "organization-create", map[string]any{"name": "Demo organization"})
	if err != nil {
		return s, err
	}
	s.Organization = organization.ID
	member, err := o.create(ctx, "member-create", map[string]any{"org_id": s.Organization,
		"name": "Demo admin", "email": "admin@demo.example", "role": tenancy.RoleAdmin})
	if err != nil {
		return s, err
	}
	place := map[string]any{"org_id": s.Organization}
	for key, value := range places[o.region] {
		place[key] = value
	}
	event, err := o.create(ctx, "event-create", place)
	if err != nil {
		return s, err
	}
	s.Event = event.ID
	token, err := o.create(ctx, "token-create", map[string]any{"org_id": s.Organization, "user_id": member.ID,
		"name": "Demo token", "scopes": auth.APIScopes})
	s.TokenID, s.Token = token.ID, token.Token
	return s, err
}

// fill makes the demo conference in a region: the event's features and custom
// role, the token's limit, and the content through the API.
func fill(ctx context.Context, data, url string, o office, s seed) (made demo.Made, err error) {
	features := map[string]bool{}
	for _, name := range demo.Features {
		features[name] = true
	}
	if _, err := o.create(ctx, "event-update", map[string]any{"org_id": s.Organization, "event_id": s.Event, "features": features}); err != nil {
		return made, err
	}
	if err := giveRole(ctx, o, s); err != nil {
		return made, err
	}
	if _, err := o.create(ctx, "token-update", map[string]any{"org_id": s.Organization, "token_id": s.TokenID, "limit": demoLimit}); err != nil {
		return made, err
	}
	if made, err = demo.Fill(ctx, demo.Target{URL: url, Token: s.Token, Event: s.Event}); err != nil {
		return made, err
	}
	s.Filled = true
	return made, s.save(data, o.region)
}

// giveRole makes the demo's custom role unless the event has it.
func giveRole(ctx context.Context, o office, s seed) error {
	role := map[string]any{"org_id": s.Organization, "event_id": s.Event}
	maps.Copy(role, demo.Role)
	_, err := o.instruct(ctx, "participant-role-create", role)
	if refused := (*apierr.Error)(nil); errors.As(err, &refused) && refused.Status == http.StatusConflict {
		return nil
	}
	return err
}

// replace writes a file whole or not at all. Only its owner may read it: it
// holds a token.
func replace(path string, text []byte) error {
	partial := path + ".partial"
	if err := os.WriteFile(partial, text, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(partial, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
