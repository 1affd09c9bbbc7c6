// Package demo creates the demo conference: 150 sessions and abstracts over three days with
// settings, 220 people, sponsors and exhibitors, and the transcriptions of two keynotes. It uses only the public API, and creates the
// same content on every run. Organization, event and token must exist (package seed). Read
// demo.go first, then conference.go and schedule.go.
package demo

import (
	"context"
	"fmt"
	"time"
)

// Features lists the features of the event that the content needs. Sessions cannot be created
// without sessions_2_0.
var Features = []string{"sessions_2_0", "participant_roles", "speaker_acceptance", "content_slots"}

// Target is the event to fill: the base address of a region, and a token with the scopes to
// read and write events, sessions, contacts, sponsors, exhibitors, metadata, fields and
// transcriptions.
type Target struct {
	URL   string
	Token string
	Event int64
}

// Made counts the new records of a Fill. Sessions includes abstracts and subsessions; an
// account with both roles counts as sponsor and as exhibitor.
type Made struct{ Sessions, Contacts, Sponsors, Exhibitors, Transcriptions int }

// String describes the counts.
func (m Made) String() string {
	return fmt.Sprintf("%d sessions, abstracts and subsessions, %d contacts, %d sponsors, %d exhibitors and %d transcriptions made",
		m.Sessions, m.Contacts, m.Sponsors, m.Exhibitors, m.Transcriptions)
}

// Fill creates the missing records of the demo conference and leaves existing records alone.
// Metadata, fields, rules, personas and accounts are found by name, contacts by e-mail,
// sessions by client_session_id, transcriptions by text. A deleted contact is restored. For an
// answer other than 200 and 201, the error has the request and the answer.
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
	if made.Sessions, err = c.ensureSessions(ctx, p); err != nil {
		return made, err
	}
	made.Transcriptions, err = c.ensureTranscripts(ctx, p)
	return made, err
}

// ensureSessions creates the missing sessions and returns their number.
func (c client) ensureSessions(ctx context.Context, p plan) (made int, err error) {
	have, err := c.sessions(ctx)
	if err != nil {
		return 0, err
	}
	// Subsessions come second: they name their parents by id.
	for _, drafts := range p.assignPeople(p.sessions(), p.subsessions()) {
		missing, err := missingOf(drafts, have)
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

// plan reads the content and the event, and creates missing settings.
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

// missingOf returns the drafts without a session, and writes the parents' ids into them.
func missingOf(drafts []draft, have map[string]string) (missing []draft, err error) {
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

// sessions returns the ids of the event's sessions and subsessions by client_session_id.
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

// days returns the starts of the event's first three days, at midnight in the event's time
// zone.
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
