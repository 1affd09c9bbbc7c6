package logs

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"lectern/shared/feed"
	"lectern/shared/requestlog"
	"lectern/shared/table"
)

// requests is the log of the requests to the API, in order of ingestion.
type requests struct {
	Reader
	Query
}

const (
	// early and late bound the time between a request and its ingestion. CloudWatch delivers a
	// log line within 24 hours. early is for clocks that differ.
	early = time.Minute
	late  = 48 * time.Hour
	// firstPacks is the number of packs that the first call reads from a partition: a pack may
	// have more requests than a page.
	firstPacks = 2
)

func (r requests) log() (feed.Log, int) {
	return feed.Log{Table: r.Table, Root: requestlog.Root(r.Org.ID), Hourly: true, First: firstPacks}, 1
}

func (r requests) bounds(horizon time.Time) (from, to string) {
	begin := horizon.Add(-requestlog.Keep)
	if r.Since != nil && r.Since.Add(-early).After(begin) {
		begin = r.Since.Add(-early)
	}
	if r.Until != nil && r.Until.Add(late).Before(horizon) {
		horizon = r.Until.Add(late)
	}
	return feed.Bound(begin), feed.Bound(horizon)
}

func (r requests) expand(ctx context.Context, items []table.Item) ([]expansion, error) {
	all := make([]expansion, len(items))
	for i, item := range items {
		pack, err := requestlog.Decode(item)
		if err != nil {
			all[i] = r.damaged(ctx, Requests, r.Org.ID, item, err)
			continue
		}
		all[i] = expansion{make([]Event, len(pack.Entries)), len(item.Data)}
		for n, e := range pack.Entries {
			all[i].events[n] = r.event(fmt.Sprintf("%s-%04d", pack.ID, n), e)
		}
	}
	return all, nil
}

// event returns the event of a request. addNames adds the actor.
func (r requests) event(id string, e requestlog.Entry) Event {
	event := Event{
		ID: id, Stream: Requests, OccurredAt: e.At, Action: strings.TrimSpace(e.Method + " " + e.Path), Outcome: success,
		Reason: known(e.Reason), OrganizationID: r.Org.ID, EventID: known(e.Event),
		Actor: Actor{Type: byToken}, Token: Token{ID: known(e.Token)}, Source: Source{known(e.IP), known(e.UserAgent)},
		HTTP:   HTTP{known(e.Method), known(e.Path), known(e.Status), &e.Milliseconds},
		Target: Target{Type: known("request"), ID: known(e.RequestID)},
	}
	if e.Status >= http.StatusBadRequest {
		event.Outcome = failure
	}
	return event
}
