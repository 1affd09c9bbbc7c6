// Package demo makes the demo conference: 150 sessions and abstracts over three
// days with all that belongs to them, its 220 people, sponsors and exhibitors. It
// knows the service by its public API alone, and its content is the same on every
// run. It does not make the organization, the event or the token it works with.
package demo

import (
	"context"
	"fmt"
	"time"
)

// Features are the event's features that the demo's content uses. Without
// sessions_2_0 it cannot be made.
var Features = []string{"sessions_2_0", "participant_roles", "speaker_acceptance"}

// Target is the event to fill: the base address of a region, and a token that
// may read and write events, sessions, contacts, sponsors, exhibitors, metadata
// and fields.
type Target struct {
	URL   string
	Token string
	Event int64
}

// Made is how much a Fill has made. Sessions counts abstracts and subsessions too;
// an account that is both counts as sponsor and as exhibitor.
type Made struct{ Sessions, Contacts, Sponsors, Exhibitors int }

func (m Made) String() string {
	return fmt.Sprintf("%d sessions, abstracts and subsessions, %d contacts, %d sponsors and %d exhibitors made",
		m.Sessions, m.Contacts, m.Sponsors, m.Exhibitors)
}

// Fill makes what the event lacks of the demo conference and leaves alone what
// it has: metadata, fields, rules, personas and accounts are known by name, contacts by e-mail,
// sessions by client_session_id. A contact that was deleted is restored. An answer
// of the API that is not a 200 is an error naming the request and the answer.
func Fill(ctx context.Context, target Target) (made Made, err error) {
	c := client{target}
	p, err := c.plan(ctx)
	if err != nil {
		return made, err
	}
	if made.Contacts, err = c.ensureContacts(ctx, p); err != nil {
		return made, err
	}
	accounts, err := c.ensureAccounts(ctx, p)
	made.Sponsors, made.Exhibitors = accounts["sponsors"], accounts["exhibitors"]
	if err != nil {
		return made, err
	}
	made.Sessions, err = c.ensureSessions(ctx, p)
	return made, err
}

// ensureSessions makes the sessions that the event lacks and tells how many.
func (c client) ensureSessions(ctx context.Context, p plan) (made int, err error) {
	have, err := c.sessions(ctx)
	if err != nil {
		return 0, err
	}
	// Subsessions come second: they name their parents by id.
	for _, drafts := range p.cast(p.sessions(), p.subsessions()) {
		missing, err := absent(drafts, have)
		if err != nil {
			return made, err
		}
		bodies := make([]map[string]any, len(missing))
		for i, d := range missing {
			bodies[i] = d.body
		}
		if err := c.create(ctx, "sessions", bodies, func(i int, id string) { have[missing[i].key()] = id }); err != nil {
			return made, err
		}
		made += len(missing)
	}
	return made, nil
}

// plan reads what the conference is and where it goes; on the way it makes the
// settings that the event lacks.
func (c client) plan(ctx context.Context) (p plan, err error) {
	if p.programme, err = read(); err != nil {
		return plan{}, err
	}
	if p.days, err = c.days(ctx); err != nil {
		return plan{}, err
	}
	p.ids, err = c.settings(ctx, p.programme)
	return p, err
}

// absent leaves the drafts that are not there yet and writes their parents' ids
// into them.
func absent(drafts []draft, have map[string]string) (missing []draft, err error) {
	for _, d := range drafts {
		if have[d.key()] != "" {
			continue
		}
		if d.parent != "" {
			if have[d.parent] == "" {
				return nil, fmt.Errorf("demo: %s has no parent %s", d.key(), d.parent)
			}
			d.body["parent_session_id"] = have[d.parent]
		}
		missing = append(missing, d)
	}
	return missing, nil
}

// sessions are the ids of the event's sessions and subsessions by their
// client_session_id.
func (c client) sessions(ctx context.Context) (map[string]string, error) {
	type session struct {
		ID              string  `json:"id"`
		ClientSessionID *string `json:"client_session_id"`
		Subsessions     []struct {
			ID              string  `json:"id"`
			ClientSessionID *string `json:"client_session_id"`
		} `json:"subsessions"`
	}
	ids := map[string]string{}
	note := func(id string, clientID *string) {
		if clientID != nil {
			ids[*clientID] = id
		}
	}
	err := pages(ctx, c, c.path("/sessions"), map[string]any{"expand": []string{"subsession_details"}}, func(s session) bool {
		note(s.ID, s.ClientSessionID)
		for _, sub := range s.Subsessions {
			note(sub.ID, sub.ClientSessionID)
		}
		return true
	})
	return ids, err
}

// days are the midnights, in the event's own time zone, that its first three
// days begin with.
func (c client) days(ctx context.Context) ([]time.Time, error) {
	type event struct {
		ID       int64     `json:"id"`
		Timezone string    `json:"timezone"`
		StartsAt time.Time `json:"starts_at"`
	}
	var found *event
	err := pages(ctx, c, "/v1/events", nil, func(e event) bool {
		if e.ID == c.Event {
			found = &e
		}
		return found == nil
	})
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, fmt.Errorf("demo: the token sees no event %d", c.Event)
	}
	zone, err := time.LoadLocation(found.Timezone)
	if err != nil {
		return nil, fmt.Errorf("demo: time zone of event %d: %w", c.Event, err)
	}
	year, month, day := found.StartsAt.In(zone).Date()
	var days []time.Time
	for i := range 3 {
		days = append(days, time.Date(year, month, day+i, 0, 0, 0, 0, zone))
	}
	return days, nil
}
