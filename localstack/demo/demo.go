// Package demo makes the demo conference: 150 sessions and abstracts over three
// days with all that belongs to them. It knows the service by its public API
// alone, and its content is the same on every run. It does not make the
// organization, the event or the token it works with.
package demo

import (
	"context"
	"fmt"
	"time"
)

// Features are the event's features that the demo's content needs.
var Features = []string{"sessions_2_0", "participant_roles"}

// bulkSize is how many operations one bulk request takes.
const bulkSize = 100

// Target is the event to fill: the base address of a region, and a token that
// may read and write sessions, metadata and fields.
type Target struct {
	URL   string
	Token string
	Event int64
}

// Fill makes what the event lacks of the demo conference and leaves alone what
// it has: metadata and fields are known by name, sessions by client_session_id.
// It returns how many sessions, abstracts and subsessions it made. The event
// must have the Features; an answer of the API that is not a 200 is an error
// naming the request and the answer.
func Fill(ctx context.Context, target Target) (made int, err error) {
	c := client{target}
	p, err := c.plan(ctx)
	if err != nil {
		return 0, err
	}
	have, err := c.sessions(ctx)
	if err != nil {
		return 0, err
	}
	// Subsessions come second: they name their parents by id.
	for _, drafts := range [][]draft{p.sessions(), p.subsessions()} {
		missing, err := absent(drafts, have)
		if err != nil {
			return made, err
		}
		if err := c.create(ctx, missing, have); err != nil {
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

// create makes the sessions in bulk and adds their ids to have.
func (c client) create(ctx context.Context, drafts []draft, have map[string]string) error {
	for len(drafts) > 0 {
		n := min(bulkSize, len(drafts))
		if err := c.bulk(ctx, drafts[:n], have); err != nil {
			return err
		}
		drafts = drafts[n:]
	}
	return nil
}

func (c client) bulk(ctx context.Context, drafts []draft, have map[string]string) error {
	operations := make([]map[string]any, len(drafts))
	for i, d := range drafts {
		operations[i] = map[string]any{"action": "create", "data": d.body}
	}
	var answer struct {
		Results []struct {
			Index  int
			Status string
			ID     string
			Error  any
		}
	}
	if err := c.post(ctx, "/sessions/bulk", map[string]any{"operations": operations}, &answer); err != nil {
		return err
	}
	for _, r := range answer.Results {
		if r.Status != "success" {
			return fmt.Errorf("demo: creating session %s: %v", drafts[r.Index].key(), r.Error)
		}
		have[drafts[r.Index].key()] = r.ID
	}
	return nil
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
	err := pages(ctx, c, c.path("/sessions?expand=subsession_details&page_size=100"), func(s session) bool {
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
	err := pages(ctx, c, "/v1/events?pageSize=100", func(e event) bool {
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
