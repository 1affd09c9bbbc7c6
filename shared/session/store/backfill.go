package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"lectern/shared/programme"
	"lectern/shared/session"
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
		last, err := backfill(ctx, s.Table, session.Of(org, events[at]), from.After)
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
func backfill(ctx context.Context, t *table.Table, p session.Place, from string) (last string, err error) {
	rows, _, last, err := t.Page(ctx, p.Rows().Rows, cmp.Or(from, "0"), "~")
	if err != nil {
		return "", err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(backfilledAtOnce)
	for _, row := range rows {
		_, id, _ := strings.Cut(row.SK, "#")
		g.Go(table.Safely(func() error { return addItems(ctx, t, p, id) }))
	}
	return last, g.Wait()
}

// addItems writes the items of contacts that a session lacks, chunk by chunk.
func addItems(ctx context.Context, t *table.Table, place session.Place, id string) error {
	for {
		more, err := write.Run[bool](ctx, t, &addItemsOnce{place, id})
		if err != nil || !more {
			return err
		}
	}
}

// addItemsOnce writes the missing items of a session, as many as fit into a transaction. The
// answer reports whether more are missing. A row without a body has no items; verify reports
// the row.
type addItemsOnce struct {
	place session.Place
	id    string
}

func (o *addItemsOnce) Reads() []table.Key { return []table.Key{o.place.Body(o.id)} }

func (o *addItemsOnce) More(got write.Items) (keys []table.Key) {
	b, err := o.place.Stored(got, o.id)
	if err != nil {
		return nil
	}
	for contact := range b.Roles() {
		keys = append(keys, o.place.PersonSession(b).Key(contact))
	}
	return keys
}

func (o *addItemsOnce) Touches(write.Items) []string { return []string{o.id} }

func (o *addItemsOnce) Plan(_ context.Context, got write.Items) (*write.Plan, error) {
	key := o.place.Body(o.id)
	if _, found := got[key]; !found {
		return &write.Plan{Answer: false}, nil
	}
	b, err := o.place.Stored(got, o.id)
	if err != nil {
		return nil, err
	}
	missing, err := o.place.PersonSession(b).Missing(b.Roles(), got)
	if err != nil || len(missing) == 0 {
		return &write.Plan{Answer: false}, err
	}
	chunk := missing[:min(len(missing), table.MaxWrites-1)]
	return &write.Plan{Writes: append(chunk, table.Version(key, b.Version)), Answer: len(chunk) < len(missing)}, nil
}
