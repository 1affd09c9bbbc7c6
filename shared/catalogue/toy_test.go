package catalogue_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unique"

	"github.com/stretchr/testify/require"

	"lectern/shared/catalogue"
	"lectern/shared/table"
)

// talk is the body of the tests' record, talkRow its row: about the size and the
// parts of a session's.
type talk struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Created int64    `json:"created"`
	Starts  int64    `json:"starts"`
	Track   string   `json:"track"`
	Tags    []string `json:"tags"`
	Deleted bool     `json:"deleted"`
	Version int64    `json:"-"`
}

type talkRow struct {
	ID      string   `json:"-"`
	Version int64    `json:"-"`
	Created int64    `json:"c"`
	Updated int64    `json:"u,omitempty"`
	Starts  int64    `json:"s,omitempty"`
	Status  string   `json:"a,omitempty"`
	Title   string   `json:"t"`
	Track   string   `json:"k,omitempty"`
	Level   string   `json:"l,omitempty"`
	Format  string   `json:"f,omitempty"`
	Tags    []string `json:"x,omitempty"`
	Deleted bool     `json:"d,omitempty"`
}

func rowOf(b *talk) talkRow {
	return talkRow{ID: b.ID, Version: b.Version, Created: b.Created, Starts: b.Starts, Title: b.Title, Track: b.Track, Tags: b.Tags, Deleted: b.Deleted}
}

func byCreated(a, b *talkRow) int {
	return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
}

// alone is a filter that looks at no other rows; nil keeps every row.
func alone(keep func(*talkRow) bool) func(*catalogue.View[talkRow], *talkRow) bool {
	return func(_ *catalogue.View[talkRow], r *talkRow) bool { return keep == nil || keep(r) }
}

func byStarts(a, b *talkRow) int { return cmp.Compare(a.Starts, b.Starts) }

func readRow(item table.Item) (talkRow, error) {
	row := talkRow{Version: item.Version}
	_, row.ID, _ = strings.Cut(item.SK, "#")
	err := json.Unmarshal(item.Data, &row)
	for _, shared := range []*string{&row.Track, &row.Level, &row.Format, &row.Status} {
		*shared = unique.Make(*shared).Value()
	}
	for i := range row.Tags {
		row.Tags[i] = unique.Make(row.Tags[i]).Value()
	}
	return row, err
}

func readTalk(item table.Item) (*talk, error) {
	body := &talk{Version: item.Version}
	return body, json.Unmarshal(item.Data, body)
}

const (
	shards   = 64
	maxBytes = 256 << 20
)

var source = catalogue.Source{Rows: "e#R", Versions: "e#V", Family: "S", Shards: shards}

func bodyKey(_ catalogue.Source, id string) table.Key { return table.Key{PK: "e#S#" + id, SK: "B"} }

func newCatalogue(t *table.Table) *catalogue.Catalogue[talkRow, *talk] {
	return catalogue.New(t, catalogue.Options[talkRow, *talk]{
		Row:      readRow,
		ID:       func(r *talkRow) string { return r.ID },
		Version:  func(r *talkRow) int64 { return r.Version },
		Order:    byCreated,
		Body:     readTalk,
		BodyKey:  bodyKey,
		RowOf:    rowOf,
		MaxBytes: maxBytes,
	})
}

// someTalk makes a talk at random, the same for the same source of chance.
func someTalk(chance *rand.Rand) *talk {
	b := &talk{
		ID:      fmt.Sprintf("%08x-%04x-4000-8000-%012x", chance.Uint32(), chance.Uint32()>>16, chance.Uint64()>>16),
		Title:   fmt.Sprintf("Talk %d on reliable systems", chance.IntN(1000)),
		Created: 1_795_000_000_000 + chance.Int64N(1_000_000),
		Starts:  1_795_000_000_000 + chance.Int64N(300)*600_000,
		Track:   fmt.Sprintf("%08x-0000-4000-8000-000000000000", chance.IntN(8)),
		Version: 1,
	}
	for range chance.IntN(4) {
		b.Tags = append(b.Tags, fmt.Sprintf("%08x-1111-4000-8000-000000000000", chance.IntN(20)))
	}
	return b
}

// writes are what stores a talk at its version, over the one before.
func writes(tb testing.TB, b *talk) []table.Write {
	tb.Helper()
	body, err := json.Marshal(b)
	require.NoError(tb, err)
	row, err := json.Marshal(rowOf(b))
	require.NoError(tb, err)
	store := func(key table.Key, data []byte) table.Write {
		item := table.Item{Key: key, Version: b.Version, Data: data}
		if b.Version == 1 {
			return table.Insert(item)
		}
		return table.Replace(item, b.Version-1)
	}
	return []table.Write{
		store(bodyKey(source, b.ID), body),
		store(catalogue.RowKey(source, b.ID), row),
		catalogue.Bump(source, b.ID),
	}
}
