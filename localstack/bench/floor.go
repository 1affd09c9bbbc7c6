package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
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
	// bodies are sessions, people contacts.
	bodies, people []table.Item
}

// newFloor copies items of the subject, for reads and updates.
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

// copies are the bodies of the first records.
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

func (f *floor) authenticate(ctx context.Context) error {
	_, err := f.table.GetMany(ctx, f.signIn)
	return err
}

func (f *floor) count(ctx context.Context) error {
	_, _, err := f.table.AddWithin(ctx, f.limit, 1, unlimited, time.Now().Add(time.Hour).Unix())
	return err
}

// get is what a GET reads: the caller, then the limiter beside the body, and where
// there are more items than the record and an association, the people after it.
func (f *floor) get(items []table.Item, more int) call {
	return func(ctx context.Context, client, n int) error {
		if err := f.authenticate(ctx); err != nil {
			return err
		}
		var g errgroup.Group
		g.Go(func() error { return f.count(ctx) })
		g.Go(func() error { return f.read(ctx, items, client+n, more) })
		return g.Wait()
	}
}

// read reads one item and others that belong to it: an association in the same batch,
// two people with theirs in a second one.
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

// session and contact are the items of one write of each, with a change record of so
// many bytes; a contact that is made has an association, its row, an address and more.
func (f *floor) session(body table.Item, record int) []table.Write {
	return f.writes(body, 250, record)
}

func (f *floor) contact(body table.Item, record int) []table.Write {
	writes := f.writes(body, 200, record)
	id := uuid.NewString()
	small := func(pk, sk string, bytes int) table.Write {
		return table.Put(table.Item{Key: table.Key{PK: f.event + pk, SK: sk}, Version: 1, Data: f.text(bytes)})
	}
	writes = append(writes, small("#C#"+id, "H#"+id, record))
	if record == updateRecord {
		return writes
	}
	return append(writes, small("#C#"+id, "E#1", 250), small("#RC", id, 40), small("#Q#"+id, "-", 50),
		table.Bump(table.Key{PK: f.event + "#V2", SK: "C#" + id[:2]}, 1))
}

func (f *floor) text(n int) []byte { return bytes.Repeat([]byte("x"), n) }

// writes are body, row, version and change record of one write.
func (f *floor) writes(body table.Item, row, record int) []table.Write {
	id := uuid.NewString()
	return []table.Write{
		table.Put(body),
		table.Put(table.Item{Key: table.Key{PK: f.event + "#R", SK: "00#" + body.PK}, Version: 1, Data: f.text(row)}),
		table.Bump(table.Key{PK: f.event + "#V", SK: "S#" + id[:2]}, 1),
		table.Insert(table.Item{Key: table.Key{PK: f.event + "#H#" + id[:1], SK: id}, Version: 1, Data: f.text(record)}),
	}
}

// update is what an update reads and writes.
func (f *floor) update(items []table.Item, more int, writes func(table.Item, int) []table.Write) call {
	return func(ctx context.Context, client, _ int) error {
		if err := f.authenticate(ctx); err != nil {
			return err
		}
		if err := f.count(ctx); err != nil {
			return err
		}
		if err := f.read(ctx, items, client, more); err != nil {
			return err
		}
		body := items[client%len(items)]
		body.Key = table.Key{PK: fmt.Sprint(f.event, "#X#", client), SK: "B"}
		return f.table.Transact(ctx, writes(body, updateRecord)...)
	}
}

// updateRecord is how long the change record of an update of one field is, createRecord
// that of a create, which has no values.
const (
	updateRecord = 500
	createRecord = 600
)

// bulk is what a bulk of 100 creates writes: as many transactions as hold 100 items,
// of which each record has so many.
func (f *floor) bulk(items []table.Item, each int, writes func(table.Item, int) []table.Write) call {
	return func(ctx context.Context, _, _ int) error {
		if err := f.authenticate(ctx); err != nil {
			return err
		}
		if err := f.count(ctx); err != nil {
			return err
		}
		if _, err := f.table.Add(ctx, table.Key{PK: f.event + "#N", SK: "-"}, batch); err != nil {
			return err
		}
		pack := table.MaxWrites / each
		var g errgroup.Group
		for made := 0; made < batch; made += pack {
			g.Go(func() error { return f.table.Transact(ctx, f.pack(items, min(pack, batch-made), writes)...) })
		}
		return g.Wait()
	}
}

// pack is the items of n records, each item once.
func (f *floor) pack(items []table.Item, n int, writes func(table.Item, int) []table.Write) (all []table.Write) {
	written := map[table.Key]bool{}
	for i := range n {
		body := items[i%len(items)]
		body.Key = table.Key{PK: f.event + "#X#" + uuid.NewString(), SK: "B"}
		all = append(all, slices.DeleteFunc(writes(body, createRecord), func(w table.Write) bool {
			seen := written[w.Key()]
			written[w.Key()] = true
			return seen
		})...)
	}
	return all
}

// search is what a warm search reads: the caller, and the versions of the families,
// those of the organization named with an o.
func (f *floor) search(families ...string) call {
	return func(ctx context.Context, _, _ int) error {
		if err := f.authenticate(ctx); err != nil {
			return err
		}
		var g errgroup.Group
		for _, family := range families {
			pk := f.signIn[3].PK
			if own, ok := strings.CutPrefix(family, "o "); ok {
				pk, family = f.signIn[2].PK, own
			}
			g.Go(func() error {
				_, err := f.table.Versions(ctx, pk+"#V", family, family+"~")
				return err
			})
		}
		return g.Wait()
	}
}
