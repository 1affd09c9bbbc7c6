package logs

import (
	"context"
	"encoding/json"
	"time"

	"lectern/shared/feed"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// security is the log of security events, in order of time and id.
type security struct {
	Reader
	Query
}

func (s security) log() (feed.Log, int) {
	return feed.Log{Table: s.Table, Root: tenancy.SecurityRoot(s.Org.ID), First: s.Limit + 1}, s.Limit + 1
}

// bounds begins a day before the organization: the clocks of two functions may differ.
func (s security) bounds(horizon time.Time) (from, to string) {
	from, to = s.keys(horizon)
	return max(from, feed.Bound(s.Org.CreatedAt.AddDate(0, 0, -1))), to
}

func (s security) expand(ctx context.Context, items []table.Item) ([]expansion, error) {
	all := make([]expansion, len(items))
	for i, item := range items {
		var e tenancy.SecurityEvent
		if err := json.Unmarshal(item.Data, &e); err != nil {
			all[i] = s.damaged(ctx, Security, s.Org.ID, item, err)
			continue
		}
		event := Event{
			ID: e.ID + "-" + e.Action, Stream: Security, OccurredAt: e.At, Action: e.Action, Outcome: success, OrganizationID: s.Org.ID,
			Target: Target{Type: known(e.Type), ID: known(e.RecordID)},
		}
		if e.Reason != "" {
			event.Outcome, event.Reason = failure, &e.Reason
		}
		event.Actor, event.Token = by(e.Actor)
		all[i] = expansion{[]Event{event}, len(item.Data)}
	}
	return all, nil
}
