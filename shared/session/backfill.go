package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"lectern/shared/person"
	"lectern/shared/programme"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/write"
)

// Cursor is how far the items of an organization's people are written: of the sessions of
// all events before Event, and of its own up to After. The zero Cursor is the beginning.
type Cursor struct {
	Event int64  `json:"event"`
	After string `json:"after"`
}

// Backfill writes the items beside contacts that the sessions of an organization lack,
// which was made before there were such items, page by page of an event's rows. It returns
// the cursor of the next call. After the last one it notes that the organization has all
// items; done is then true. Sessions may be written meanwhile.
func Backfill(ctx context.Context, s tenancy.Store, org int64, from Cursor) (next Cursor, done bool, err error) {
	events, err := programme.Events.IDs(ctx, s, org)
	if err != nil {
		return from, false, err
	}
	at := 0
	if from.Event != 0 {
		if at = slices.Index(events, from.Event); at < 0 {
			return from, false, fmt.Errorf("session: organization %d has no event %d to go on with", org, from.Event)
		}
	}
	if at < len(events) {
		last, err := backfill(ctx, s.Table, place{org, events[at]}, from.After)
		if err != nil || last != "" {
			return Cursor{events[at], last}, false, err
		}
		at++
	}
	if at < len(events) {
		return Cursor{Event: events[at]}, false, nil
	}
	_, err = tenancy.Organizations.Update(ctx, s, table.Org(org), func(o *tenancy.Organization) error {
		o.PersonItems = true
		return nil
	})
	return Cursor{}, err == nil, err
}

// backfilledAtOnce is how many sessions are written at a time.
const backfilledAtOnce = 8

// backfill writes the items that the sessions of one page of an event's rows lack, and
// returns the sort key of its last row; empty after the last page.
func backfill(ctx context.Context, t *table.Table, p place, from string) (last string, err error) {
	rows, _, last, err := t.Page(ctx, p.source().Rows, cmp.Or(from, "0"), "~")
	if err != nil {
		return "", err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(backfilledAtOnce)
	for _, row := range rows {
		_, id, _ := strings.Cut(row.SK, "#")
		g.Go(table.Safely(func() error { return p.itemize(ctx, t, id) }))
	}
	return last, g.Wait()
}

// itemize writes the items that a session lacks, as its body is when they are written. It
// passes over a row without a body, which has none; verify names such a row.
func (p place) itemize(ctx context.Context, t *table.Table, id string) error {
	key := p.body(id)
	op := write.Op{
		Reads: []table.Key{key},
		More: func(got write.Items) (keys []table.Key) {
			b, err := stored(got, key)
			if err != nil {
				return nil
			}
			for contact := range b.Roles() {
				keys = append(keys, p.itemsOf(b).Key(contact))
			}
			return keys
		},
		Plan: func(_ context.Context, got write.Items) (*write.Plan, error) {
			if _, there := got[key]; !there {
				return &write.Plan{Answer: false}, nil
			}
			b, err := stored(got, key)
			if err != nil {
				return nil, err
			}
			missing, err := p.itemsOf(b).Missing(b.Roles(), got)
			if err != nil || len(missing) == 0 {
				return &write.Plan{Answer: false}, err
			}
			chunk := missing[:min(len(missing), table.MaxWrites-1)]
			return &write.Plan{Writes: append(chunk, table.Version(key, b.Version)), Answer: len(chunk) < len(missing)}, nil
		},
	}
	for more := any(true); more == true; {
		var err error
		if more, err = write.Run(ctx, t, op); err != nil {
			return err
		}
	}
	return nil
}

// itemsOf returns the session that the items of its people are written of.
func (p place) itemsOf(b *Body) person.Session {
	return person.Session{Org: p.org, Event: p.event, ID: b.ID, Version: b.Version, Created: b.CreatedAt.UnixMilli()}
}
