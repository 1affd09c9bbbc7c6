package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// floor makes only the calls of the table that a request makes, on items of the same size. The
// items are in an event that does not exist, beside the measured event.
type floor struct {
	table  *table.Table
	signIn []table.Key
	limit  table.Key
	event  string
	// bodies has sessions, people has contacts.
	bodies, people []table.Item
}

// newFloor reads items of the subject, as copies for reads and updates.
func (s *subject) newFloor(ctx context.Context) (*floor, error) {
	p := s.place
	f := &floor{table: p.env.Table, event: table.Event(p.Org, -s.event.ID), limit: table.Key{PK: "L#floor", SK: "-"}}
	for _, pk := range []string{tenancy.TokenPK(p.Org, p.TokenID), tenancy.MemberPK(p.Org, p.Member), table.Org(p.Org),
		table.Event(p.Org, s.event.ID)} {
		f.signIn = append(f.signIn, table.Key{PK: pk, SK: "-"})
	}
	var err error
	if f.bodies, err = f.copies(ctx, table.Event(p.Org, s.event.ID)+"#S#", s.event.Sessions); err == nil {
		f.people, err = f.copies(ctx, table.Org(p.Org)+"#C#", s.event.People)
	}
	return f, err
}

// copies returns the bodies of the first records.
func (f *floor) copies(ctx context.Context, prefix string, ids []string) (items []table.Item, err error) {
	var keys []table.Key
	for _, id := range ids[:min(len(ids), 100)] {
		keys = append(keys, table.Key{PK: prefix + id, SK: "B"})
	}
	got, err := f.table.GetMany(ctx, keys)
	for _, key := range keys {
		items = append(items, got[key])
	}
	return items, err
}

// authenticate reads the items that identify a caller.
func (f *floor) authenticate(ctx context.Context) error {
	_, err := f.table.GetMany(ctx, f.signIn)
	return err
}

// count adds to the counter of the rate limiter.
func (f *floor) count(ctx context.Context) error {
	_, _, err := f.table.AddWithin(ctx, f.limit, 1, unlimited, time.Now().Add(time.Hour).Unix())
	return err
}

// floorGet is the floor of a GET: reads the caller, then the limiter and the body at the same
// time, and the people of a session.
type floorGet struct {
	floor *floor
	items []table.Item
	// more is the number of further items: 1 for an association, 4 for two people with
	// associations.
	more int
}

func (c floorGet) do(ctx context.Context, client, n int) error {
	if err := c.floor.authenticate(ctx); err != nil {
		return err
	}
	var g errgroup.Group
	g.Go(func() error { return c.floor.count(ctx) })
	g.Go(func() error { return c.floor.read(ctx, c.items, client+n, c.more) })
	return g.Wait()
}

// read reads an item with its association in the same batch, or with two people in a second
// batch.
func (f *floor) read(ctx context.Context, items []table.Item, n, more int) error {
	keys := []table.Key{items[n%len(items)].Key}
	if more == 1 {
		keys = append(keys, table.Key{PK: keys[0].PK, SK: "E#0"})
	}
	if _, err := f.table.GetMany(ctx, keys); err != nil || more == 1 {
		return err
	}
	var people []table.Key
	for i := range more / 2 {
		key := f.people[(n+i)%len(f.people)].Key
		people = append(people, key, table.Key{PK: key.PK, SK: "E#0"})
	}
	_, err := f.table.GetMany(ctx, people)
	return err
}

// writes returns the items of a write of a record, with a change record of a number of bytes.
type writes func(body table.Item, record int) []table.Write

// session returns the items of a write of a session.
func (f *floor) session(body table.Item, record int) []table.Write {
	return f.common(body, 250, record)
}

// contact returns the items of a write of a contact. A create also writes the association, its
// row, the address and the version of a shard.
func (f *floor) contact(body table.Item, record int) []table.Write {
	writes := f.common(body, 200, record)
	id := uuid.NewString()
	writes = append(writes, f.put("#C#"+id, "H#"+id, record))
	if record == updateRecord {
		return writes
	}
	return append(writes, f.put("#C#"+id, "E#1", 250), f.put("#RC", id, 40), f.put("#Q#"+id, "-", 50),
		table.Bump(table.Key{PK: f.event + "#V2", SK: "C#" + id[:2]}, 1))
}

// put returns a put of an item with a number of bytes, below the floor's event.
func (f *floor) put(pk, sk string, bytes int) table.Write {
	return table.Put(table.Item{Key: table.Key{PK: f.event + pk, SK: sk}, Version: 1, Data: f.text(bytes)})
}

// text returns n bytes.
func (f *floor) text(n int) []byte { return bytes.Repeat([]byte("x"), n) }

// common returns body, row, version and change record of a write.
func (f *floor) common(body table.Item, row, record int) []table.Write {
	id := uuid.NewString()
	return []table.Write{
		table.Put(body),
		table.Put(table.Item{Key: table.Key{PK: f.event + "#R", SK: "00#" + body.PK}, Version: 1, Data: f.text(row)}),
		table.Bump(table.Key{PK: f.event + "#V", SK: "S#" + id[:2]}, 1),
		table.Insert(table.Item{Key: table.Key{PK: f.event + "#H#" + id[:1], SK: id}, Version: 1, Data: f.text(record)}),
	}
}

// floorUpdate is the floor of an update.
type floorUpdate struct {
	floor  *floor
	items  []table.Item
	more   int // as in floorGet
	writes writes
}

func (c floorUpdate) do(ctx context.Context, client, _ int) error {
	f := c.floor
	if err := f.authenticate(ctx); err != nil {
		return err
	}
	if err := f.count(ctx); err != nil {
		return err
	}
	if err := f.read(ctx, c.items, client, c.more); err != nil {
		return err
	}
	body := c.items[client%len(c.items)]
	body.Key = table.Key{PK: fmt.Sprint(f.event, "#X#", client), SK: "B"}
	return f.table.Transact(ctx, c.writes(body, updateRecord)...)
}

// updateRecord is the size in bytes of the change record of an update of a single field,
// createRecord the size for a create. The change record of a create has no values.
const (
	updateRecord = 500
	createRecord = 600
)

// floorBulk is the floor of a bulk of 100 creates, in transactions of at most 100 items.
type floorBulk struct {
	floor *floor
	items []table.Item
	// each is the number of items of a record.
	each   int
	writes writes
}

func (c floorBulk) do(ctx context.Context, _, _ int) error {
	f := c.floor
	if err := f.authenticate(ctx); err != nil {
		return err
	}
	if err := f.count(ctx); err != nil {
		return err
	}
	if _, err := f.table.Add(ctx, table.Key{PK: f.event + "#N", SK: "-"}, batch); err != nil {
		return err
	}
	pack := table.MaxWrites / c.each
	var g errgroup.Group
	for made := 0; made < batch; made += pack {
		g.Go(func() error { return f.table.Transact(ctx, c.pack(min(pack, batch-made))...) })
	}
	return g.Wait()
}

// pack returns the items of n records, each item once.
func (c floorBulk) pack(n int) (all []table.Write) {
	written := map[table.Key]bool{}
	for i := range n {
		body := c.items[i%len(c.items)]
		body.Key = table.Key{PK: c.floor.event + "#X#" + uuid.NewString(), SK: "B"}
		for _, w := range c.writes(body, createRecord) {
			if !written[w.Key()] {
				written[w.Key()] = true
				all = append(all, w)
			}
		}
	}
	return all
}

// floorSearch is the floor of a warm search: reads the caller, and the versions of families. The
// families of the organization have the prefix "o ".
type floorSearch struct {
	floor    *floor
	families []string
}

func (c floorSearch) do(ctx context.Context, _, _ int) error {
	if err := c.floor.authenticate(ctx); err != nil {
		return err
	}
	var g errgroup.Group
	for _, family := range c.families {
		g.Go(func() error { return c.floor.versions(ctx, family) })
	}
	return g.Wait()
}

// versions reads the versions of a family.
func (f *floor) versions(ctx context.Context, family string) error {
	pk := f.signIn[3].PK
	if own, ok := strings.CutPrefix(family, "o "); ok {
		pk, family = f.signIn[2].PK, own
	}
	_, err := f.table.Versions(ctx, pk+"#V", family, family+"~")
	return err
}
