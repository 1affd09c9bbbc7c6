package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// floor makes the calls of the table that a request makes, on items of the same
// size, and nothing else. Its items lie beside the measured event's, in an event
// that does not exist.
type floor struct {
	table  *table.Table
	signIn []table.Key
	limit  table.Key
	event  string
	bodies []table.Item
	row    []byte
}

// newFloor copies items of the subject: bodies for reads and updates, a row and
// a change record of the usual size for writes.
func (s *subject) newFloor(ctx context.Context) (*floor, error) {
	p := s.place
	f := &floor{
		table: p.env.Table, event: table.Event(p.Org, -s.event.ID), limit: table.Key{PK: "L#floor", SK: "-"},
		row: bytes.Repeat([]byte("x"), 250),
	}
	for _, pk := range []string{tenancy.TokenPK(p.Org, p.TokenID), tenancy.MemberPK(p.Org, p.Member), table.Org(p.Org),
		table.Event(p.Org, s.event.ID)} {
		f.signIn = append(f.signIn, table.Key{PK: pk, SK: "-"})
	}
	var keys []table.Key
	for _, id := range s.event.Sessions[:min(len(s.event.Sessions), 100)] {
		keys = append(keys, table.Key{PK: table.Event(p.Org, s.event.ID) + "#S#" + id, SK: "B"})
	}
	got, err := f.table.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		f.bodies = append(f.bodies, got[key])
	}
	return f, nil
}

func (f *floor) authenticate(ctx context.Context) error {
	_, err := f.table.GetMany(ctx, f.signIn)
	return err
}

func (f *floor) count(ctx context.Context) error {
	_, _, err := f.table.AddWithin(ctx, f.limit, unlimited, time.Now().Add(time.Hour).Unix())
	return err
}

// get is what a GET of a session reads: the caller, then the limiter beside the
// body.
func (f *floor) get(ctx context.Context, client, n int) error {
	if err := f.authenticate(ctx); err != nil {
		return err
	}
	var g errgroup.Group
	g.Go(func() error { return f.count(ctx) })
	g.Go(func() error {
		_, err := f.table.GetMany(ctx, []table.Key{f.bodies[(client+n)%len(f.bodies)].Key})
		return err
	})
	return g.Wait()
}

// writes are the items of one session's write, with a change record of so many
// bytes.
func (f *floor) writes(body table.Item, record int) []table.Write {
	id := uuid.NewString()
	return []table.Write{
		table.Put(body),
		table.Put(table.Item{Key: table.Key{PK: f.event + "#RS", SK: "00#" + body.PK}, Version: 1, Data: f.row}),
		table.Bump(table.Key{PK: f.event + "#V", SK: "S#" + id[:2]}, 1),
		table.Insert(table.Item{Key: table.Key{PK: f.event + "#H#" + id[:1], SK: id}, Version: 1, Data: bytes.Repeat([]byte("x"), record)}),
	}
}

// update is what an update reads and writes.
func (f *floor) update(ctx context.Context, client, _ int) error {
	if err := f.authenticate(ctx); err != nil {
		return err
	}
	if err := f.count(ctx); err != nil {
		return err
	}
	body := f.bodies[client%len(f.bodies)]
	if _, err := f.table.GetMany(ctx, []table.Key{body.Key}); err != nil {
		return err
	}
	body.Key = table.Key{PK: fmt.Sprint(f.event, "#S#", client), SK: "B"}
	return f.table.Transact(ctx, f.writes(body, updateRecord)...)
}

// updateRecord is how long the change record of an update of one field is; that
// of a create holds the whole session.
const updateRecord = 500

// bulk is what a bulk of 100 creates writes: as many transactions as hold 100
// items each.
func (f *floor) bulk(ctx context.Context, _, _ int) error {
	if err := f.authenticate(ctx); err != nil {
		return err
	}
	if err := f.count(ctx); err != nil {
		return err
	}
	if _, err := f.table.Add(ctx, table.Key{PK: f.event + "#N#session", SK: "-"}, batch); err != nil {
		return err
	}
	const each = 25
	var g errgroup.Group
	for range batch / each {
		g.Go(func() error { return f.table.Transact(ctx, f.pack(each)...) })
	}
	return g.Wait()
}

// pack is the items of n sessions, which share no shard here: a pack of the
// service has fewer items, since they do.
func (f *floor) pack(n int) (writes []table.Write) {
	bumped := map[table.Key]bool{}
	for i := range n {
		body := f.bodies[i%len(f.bodies)]
		body.Key = table.Key{PK: f.event + "#S#" + uuid.NewString(), SK: "B"}
		writes = append(writes, slices.DeleteFunc(f.writes(body, len(body.Data)), func(w table.Write) bool {
			seen := bumped[w.Key()]
			bumped[w.Key()] = true
			return seen
		})...)
	}
	return writes
}

// search is what a warm search reads: the caller and the versions.
func (f *floor) search(ctx context.Context, _, _ int) error {
	if err := f.authenticate(ctx); err != nil {
		return err
	}
	_, err := f.table.Versions(ctx, f.signIn[3].PK+"#V", "S#", "S#~")
	return err
}
