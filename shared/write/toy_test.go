package write_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/apierr"
	"lectern/shared/table"
	"lectern/shared/write"
)

// person is the tests' record: with a unique value, and a parent that lists its
// children.
type person struct {
	ID       string
	Email    string
	Value    int
	Parent   string
	Children []string
	Deleted  bool
	// Padding makes a record big.
	Padding string
}

func (p person) RecordID() string { return p.ID }

func (p person) Revision() int64 { return int64(p.Value) }

// place is where a test keeps its persons:
//
//	PK                  SK       what
//	<place>#R#<id>      B        a person
//	<place>#Q#<email>   -        who has the e-mail address
//	<place>#V           <shard>  the versions of shards
type place string

const (
	maxChildren = 3
	shards      = 8
)

func (p place) record(id string) table.Key   { return table.Key{PK: string(p) + "#R#" + id, SK: "B"} }
func (p place) unique(mail string) table.Key { return table.Key{PK: string(p) + "#Q#" + mail, SK: "-"} }

func (p place) bump(id string) table.Write {
	return table.Bump(table.Key{PK: string(p) + "#V", SK: strconv.Itoa(int(id[len(id)-1]) % shards)}, 1)
}

func decode(item table.Item) (p person) {
	if err := json.Unmarshal(item.Data, &p); err != nil {
		panic(err)
	}
	return p
}

// store is a person's item over the one that was read, zero for a new one.
func (p place) store(was table.Item, now person) []table.Write {
	data, err := json.Marshal(now)
	if err != nil {
		panic(err)
	}
	item := table.Item{Key: p.record(now.ID), Version: was.Version + 1, Data: data}
	w := table.Replace(item, was.Version)
	if was.Version == 0 {
		w = table.Insert(item)
	}
	return []table.Write{w, p.bump(now.ID)}
}

func (p place) claim(mail, id string) table.Write {
	return table.Insert(table.Item{Key: p.unique(mail), Version: 1, Data: []byte(fmt.Sprintf("%q", id))}).Or(errTaken)
}

var (
	errTaken  = apierr.Conflict("TAKEN", "The address is taken.")
	errExists = apierr.Conflict("EXISTS", "The person exists.")
	errFull   = apierr.Invalid("parent", "The parent is full.")
	errGone   = apierr.NotFound("Person")
)

// command is one random change.
type command struct {
	Kind, ID, Email, Parent string
}

// funcs is an operation whose methods tests replace one by one. Then and Touched may be nil.
type funcs struct {
	Keys    []table.Key
	Then    func(got write.Items) []table.Key
	Touched func(got write.Items) []string
	Do      func(ctx context.Context, got write.Items) (*write.Plan, error)
}

func (f funcs) Reads() []table.Key { return f.Keys }

func (f funcs) More(got write.Items) []table.Key {
	if f.Then == nil {
		return nil
	}
	return f.Then(got)
}

func (f funcs) Touches(got write.Items) []string {
	if f.Touched == nil {
		return nil
	}
	return f.Touched(got)
}

func (f funcs) Plan(ctx context.Context, got write.Items) (*write.Plan, error) { return f.Do(ctx, got) }

// op is the command as an operation.
func (c command) op(p place) funcs {
	op := funcs{
		Keys:    []table.Key{p.record(c.ID), p.unique(c.Email), p.record(c.Parent)},
		Touched: func(got write.Items) []string { return c.touches(p, got) },
	}
	op.Do = func(_ context.Context, got write.Items) (*write.Plan, error) {
		was, exists := got[p.record(c.ID)]
		if c.Kind == "create" {
			return c.create(p, got, exists)
		}
		if !exists || decode(was).Deleted {
			return nil, errGone
		}
		return c.change(p, got, was)
	}
	return op
}

func (c command) touches(p place, got write.Items) []string {
	touches := []string{c.ID}
	if c.Kind == "create" || c.Kind == "rename" {
		touches = append(touches, "@"+c.Email)
	}
	if c.Parent != "" {
		touches = append(touches, c.Parent)
	}
	if was, ok := got[p.record(c.ID)]; ok {
		touches = append(touches, "@"+decode(was).Email)
	}
	return touches
}

func (c command) create(p place, got write.Items, exists bool) (*write.Plan, error) {
	if exists {
		return nil, errExists
	}
	if _, taken := got[p.unique(c.Email)]; taken {
		return nil, errTaken
	}
	now := person{ID: c.ID, Email: c.Email, Parent: c.Parent}
	writes := append(p.store(table.Item{}, now), p.claim(c.Email, c.ID))
	if c.Parent != "" {
		item, ok := got[p.record(c.Parent)]
		if !ok {
			return nil, errGone
		}
		parent := decode(item)
		if len(parent.Children) == maxChildren {
			return nil, errFull
		}
		parent.Children = append(parent.Children, c.ID)
		writes = append(writes, p.store(item, parent)...)
	}
	return &write.Plan{Writes: writes, Answer: now}, nil
}

func (c command) change(p place, got write.Items, item table.Item) (*write.Plan, error) {
	now := decode(item)
	var writes []table.Write
	switch c.Kind {
	case "add":
		now.Value++
	case "rename":
		if now.Email == c.Email {
			return &write.Plan{Answer: now}, nil
		}
		if _, taken := got[p.unique(c.Email)]; taken {
			return nil, errTaken
		}
		writes = append(writes, table.Remove(p.unique(now.Email), 1), p.claim(c.Email, c.ID))
		now.Email = c.Email
	case "delete":
		writes = append(writes, table.Remove(p.unique(now.Email), 1))
		now.Deleted = true
	}
	return &write.Plan{Writes: append(writes, p.store(item, now)...), Answer: now}, nil
}

// dump is everything of a place, with its name taken out, by key.
func dump(t *testing.T, to *table.Table, p place, keys []table.Key) (all []string) {
	t.Helper()
	items, err := to.GetMany(t.Context(), keys)
	require.NoError(t, err)
	for key, item := range items {
		all = append(all, fmt.Sprintf("%s %s %d %s", key.PK[len(p):], key.SK, item.Version, item.Data))
	}
	slices.SortFunc(all, cmp.Compare)
	return all
}
