package search_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/search"
	"lectern/shared/wire"
)

func TestKeysAreInOrderOfPriorityThenAsWritten(t *testing.T) {
	asc := func(name string) search.Key { return search.Key{Name: name} }
	for body, want := range map[string][]search.Key{
		`{}`:                              nil,
		`{"updatedAt": {"sort": "desc"}}`: {{Name: "updatedAt", Desc: true}},
		`{"b": {"sort": "asc"}, "a": {"sort": "asc"}}`:                                               {asc("b"), asc("a")},
		`{"a": {"sort": "asc", "order": 2}, "b": {"sort": "asc", "order": 1}}`:                       {asc("b"), asc("a")},
		`{"a": {"sort": "asc"}, "b": {"sort": "asc", "order": 7}, "c": {"sort": "asc"}}`:             {asc("b"), asc("a"), asc("c")},
		`{"a": {"sort": "asc", "order": 1}, "b": {"sort": "asc", "order": 1}}`:                       {asc("a"), asc("b")},
		`{"a": {"sort": "asc", "order": -1}, "b": {"sort": "asc", "order": -2}, "c":{"sort":"asc"}}`: {asc("b"), asc("a"), asc("c")},
	} {
		var sort struct {
			Sort search.Sort[search.ByTimes] `json:"sort"`
		}
		require.NoError(t, json.Unmarshal([]byte(`{"sort": `+body+`}`), &sort), body)
		require.Equal(t, want, sort.Sort.Keys, body)
		require.Equal(t, want == nil, sort.Sort.IsZero(), body)
	}
}

func TestRangeLeavesItsBoundsOut(t *testing.T) {
	at := func(ms int64) wire.Opt[wire.Time] { return wire.Some(wire.At(time.UnixMilli(ms))) }
	for _, c := range []struct {
		in   search.Range
		want []int64
	}{
		{search.Range{}, []int64{1, 2, 3, 4}},
		{search.Range{After: at(1)}, []int64{2, 3, 4}},
		{search.Range{Before: at(3)}, []int64{1, 2}},
		{search.Range{After: at(1), Before: at(4)}, []int64{2, 3}},
		{search.Range{After: at(3), Before: at(2)}, nil},
	} {
		var got []int64
		for ms := range int64(4) {
			if c.in.Contains(ms + 1) {
				got = append(got, ms+1)
			}
		}
		require.Equal(t, c.want, got)
	}
}

// row has a key that may be missing; -1 stands for that.
type row struct {
	id   string
	a, b int64
}

func field(name string) func(row) (int64, bool) {
	return func(r row) (int64, bool) {
		if name == "a" {
			return r.a, r.a >= 0
		}
		return r.b, r.b >= 0
	}
}

func byID(x, y row) int {
	if x.id < y.id {
		return -1
	}
	return 1
}

func TestNoKeysAreTheDefaultOrder(t *testing.T) {
	require.Nil(t, search.Order(nil, field, byID))
}

func TestOrderPutsMissingValuesLastInBothDirections(t *testing.T) {
	rows := []row{{"p", 2, 1}, {"q", -1, 3}, {"r", 1, 1}, {"s", 2, 0}, {"u", -1, 4}, {"v", 2, 1}}
	for _, c := range []struct {
		keys []search.Key
		want string
	}{
		{[]search.Key{{Name: "a"}}, "rpsvqu"},
		{[]search.Key{{Name: "a", Desc: true}}, "psvrqu"},
		{[]search.Key{{Name: "a"}, {Name: "b"}}, "rspvqu"},
		{[]search.Key{{Name: "a", Desc: true}, {Name: "b", Desc: true}}, "pvsruq"},
	} {
		got := slices.Clone(rows)
		slices.SortFunc(got, search.Order(c.keys, field, byID))
		ids := make([]string, len(got))
		for i, r := range got {
			ids[i] = r.id
		}
		require.Equal(t, c.want, strings.Join(ids, ""), "%v", c.keys)
	}
}
