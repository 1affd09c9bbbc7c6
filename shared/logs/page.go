package logs

import (
	"context"
	"log/slog"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/feed"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// lag is the age from which an event is shown. A write ends within this time, so no later write
// comes before a shown event.
const lag = 60 * time.Second

// maxBytes limits the stored bytes that a page is made from, and so the size of the answer: below
// size.Plain, and below size.Payload with all quotes escaped.
const maxBytes = 2 << 20

// Reader reads the logs of organizations.
type Reader struct {
	// Table is lenient, so that a damaged item holds up no page.
	Table *table.Table
	Now   func() time.Time
	Log   *slog.Logger
	// Personal returns the partition of a person or company by the type of record. The values
	// of their changes are there (change.PersonalKey).
	Personal map[string]func(org int64, id string) string
}

// Query selects a page.
type Query struct {
	Org    tenancy.Organization
	Cursor string
	Limit  int
	// Since and Until bound the time of events; nil is no bound. Since is included.
	Since, Until *time.Time
	// HideValues leaves out the new values of the audit trail.
	HideValues bool
}

// Page is a part of a log. Results is never nil.
type Page struct {
	Results    []Event `json:"results"`
	NextCursor string  `json:"next_cursor" doc:"Continues after this page; send it with the same since and until. It is there on the last page too, for events to come."`
	HasMore    bool    `json:"has_more" doc:"Whether more can be read now. A page with more may have fewer events than limit, or none."`
}

// source is a log of one organization.
type source interface {
	// log returns the place of the items, and the number of items to expand at a time.
	log() (l feed.Log, atOnce int)
	// bounds returns the range of sort keys of a query. horizon is the latest readable time.
	bounds(horizon time.Time) (from, to string)
	// expand returns the events of each item, and reads what they need.
	expand(ctx context.Context, items []table.Item) ([]expansion, error)
}

// expansion has the events of an item.
type expansion struct {
	events []Event
	// bytes is the length of the text that the events were made from.
	bytes int
}

// source returns the log of a query.
func (r Reader) source(s Stream, q Query) source {
	switch s {
	case Audit:
		return audit{r, q}
	case Security:
		return security{r, q}
	}
	return requests{r, q}
}

// Read returns a page of a log. The error is a 400 for a bad cursor.
func (r Reader) Read(ctx context.Context, s Stream, q Query) (*Page, error) {
	if q.Since != nil && q.Until != nil && q.Since.After(*q.Until) {
		return nil, apierr.Invalid("since", "since must not be after until.")
	}
	p := &pager{query: q, results: []Event{}}
	if q.Cursor != "" {
		var err error
		if p.at, err = parse(q.Cursor, s, q.Org.ID); err != nil {
			return nil, err
		}
	}
	if s == Audit && !q.Org.HourItems {
		return nil, apierr.Unavailable() // Maintenance has not listed the hours of an older organization.
	}
	src := r.source(s, q)
	if err := p.read(ctx, src, r.Now().Add(-lag)); err != nil {
		return nil, err
	}
	if err := r.addNames(ctx, q.Org.ID, p.results); err != nil {
		return nil, err
	}
	return &Page{p.results, p.at.cursor(s, q.Org.ID), p.more}, nil
}

// pager collects the events of a page.
type pager struct {
	query   Query
	results []Event
	at      position
	bytes   int
	// more reports whether the page ends before the end of the log.
	more bool
}

// read reads from the position until the page is full or the log ends. At the end of the log the
// position is the horizon, so that no later page reads the same hours again.
func (p *pager) read(ctx context.Context, src source, horizon time.Time) error {
	from, to := src.bounds(horizon)
	if from > p.at.key {
		p.at = position{from, 0}
	}
	log, atOnce := src.log()
	items := log.Read(p.at.key, to)
	for !p.more {
		// One event more than wanted says whether there are more.
		group, err := items.Take(ctx, min(atOnce, p.query.Limit-len(p.results)+1))
		if err != nil {
			return err
		}
		if len(group) == 0 {
			break
		}
		expansions, err := src.expand(ctx, group)
		if err != nil {
			return err
		}
		p.add(group, expansions)
	}
	if end := items.End(); !p.more && end > p.at.key {
		p.at, p.more = position{end, 0}, end != to
	}
	return nil
}

// add adds the events of items until the page is full.
func (p *pager) add(items []table.Item, expansions []expansion) {
	for i, item := range items {
		if item.SK != p.at.key {
			p.at = position{item.SK, 0}
		}
		if p.more = p.bytes > maxBytes; p.more {
			return
		}
		p.bytes += expansions[i].bytes
		events := expansions[i].events
		for n := p.at.done; n < len(events); n++ {
			if !p.query.covers(events[n].OccurredAt.Time) {
				continue
			}
			if p.more = len(p.results) == p.query.Limit; p.more {
				return
			}
			p.results = append(p.results, events[n])
			p.at.done = n + 1
		}
		p.at.done = max(p.at.done, len(events))
	}
}

// covers reports whether a time is within the bounds of the query.
func (q Query) covers(at time.Time) bool {
	return (q.Since == nil || !at.Before(*q.Since)) && (q.Until == nil || at.Before(*q.Until))
}

// keys returns the sort keys of the times of the query up to the horizon, for a log in order of
// occurrence.
func (q Query) keys(horizon time.Time) (from, to string) {
	var since time.Time
	if q.Since != nil {
		since = *q.Since
	}
	if q.Until != nil && q.Until.Before(horizon) {
		horizon = *q.Until
	}
	return feed.Bound(since), feed.Bound(horizon)
}
