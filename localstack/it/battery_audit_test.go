package it_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/change"
	"lectern/shared/field"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// audit holds what is stored of an event to the rules that every transaction
// keeps, and lists what breaks them: one half of a write without the other.
type audit struct {
	all        dump
	org, event string
	bodies     map[string]*session.Body
	// changes are the versions that change records tell of, by kind and id.
	changes map[string][]change.Record
	// kept are the contacts and accounts of the organization, by kind.
	kept     map[string]*kept
	problems []string
}

// audited reads an event out of a dump and checks it, with the contacts and accounts
// of its organization.
func audited(t *testing.T, all dump, org, event int64) *audit {
	t.Helper()
	a := &audit{all: all, org: table.Org(org), event: table.Event(org, event),
		bodies: map[string]*session.Body{}, changes: map[string][]change.Record{}, kept: map[string]*kept{}}
	a.read(t)
	a.sessions(t)
	a.parties(t)
	a.guests()
	a.history()
	a.strays()
	a.settings(a.event)
	a.settings(a.org)
	a.families()
	a.names(t)
	require.Empty(t, a.problems)
	return a
}

func (a *audit) wrong(format string, args ...any) {
	a.problems = append(a.problems, fmt.Sprintf(format, args...))
}

func (a *audit) read(t *testing.T) {
	t.Helper()
	for key, item := range a.all {
		if id, ok := strings.CutPrefix(key.PK, a.event+"#S#"); ok && key.SK == "B" {
			body := &session.Body{}
			require.NoError(t, json.Unmarshal([]byte(item.data), body))
			body.Version = item.version
			a.bodies[id] = body
			if body.ID != id {
				a.wrong("the body of %s says it is %s", id, body.ID)
			}
		}
		if strings.HasPrefix(key.PK, a.org+"#H#") {
			var record change.Record
			require.NoError(t, json.Unmarshal([]byte(item.data), &record))
			of := record.Type + " " + record.RecordID
			a.changes[of] = append(a.changes[of], record)
		}
	}
}

// stored is the version of a body, and what its row must hold.
type stored struct {
	version int64
	row     map[string]any
}

func (a *audit) sessions(t *testing.T) {
	t.Helper()
	want := map[string]stored{}
	for id, body := range a.bodies {
		want[id] = stored{body.Version, facets(body)}
	}
	a.shards(t, a.event, "S", want)
}

// shards: each body of a family has a row, each row a body, both say the same; and
// the version of a shard is the sum of its rows' versions times weights.
func (a *audit) shards(t *testing.T, prefix, letter string, want map[string]stored) {
	t.Helper()
	sums := map[string]int64{}
	rows := 0
	for key, item := range a.all {
		if key.PK != prefix+"#R"+letter {
			continue
		}
		rows++
		shard, id, _ := strings.Cut(key.SK, "#")
		sums[letter+"#"+shard] += item.version * table.Weight(id)
		body, there := want[id]
		if !there || item.version != body.version {
			a.wrong("row %s of %s has version %d, its body %d", id, key.PK, item.version, body.version)
			continue
		}
		text, err := json.Marshal(body.row)
		require.NoError(t, err)
		require.JSONEq(t, string(text), item.data, "row %s of %s", id, key.PK)
	}
	if rows != len(want) {
		a.wrong("%d rows of %d bodies in %s#R%s", rows, len(want), prefix, letter)
	}
	for key, item := range a.all {
		if key.PK == prefix+"#V" && strings.HasPrefix(key.SK, letter+"#") {
			if sums[key.SK] != item.version {
				a.wrong("shard %s of %s has version %d, its rows add up to %d", key.SK, prefix, item.version, sums[key.SK])
			}
			delete(sums, key.SK)
		}
	}
	if len(sums) > 0 {
		a.wrong("shards without version: %v", sums)
	}
}

// facets is what the row of a body must hold.
func facets(b *session.Body) map[string]any {
	row := map[string]any{"c": b.CreatedAt.UnixMilli(), "u": b.UpdatedAt.UnixMilli(), "t": b.Title,
		"n": strings.TrimPrefix(b.FriendlyID(), "SESS-")}
	put := func(name string, value any, there bool) {
		if there {
			row[name] = value
		}
	}
	at := func(name string, moment *wire.Time) {
		if moment != nil {
			row[name] = moment.UnixMilli()
		}
	}
	at("d", b.DeletedAt)
	at("s", b.StartsAt)
	for name, id := range map[string]*string{"a": b.Status, "k": b.TrackID, "l": b.LevelID, "f": b.FormatID, "g": b.LanguageID} {
		put(name, id, id != nil)
	}
	put("p", b.Parent, b.Parent != "")
	put("x", b.TagIDs, len(b.TagIDs) > 0)
	put("b", true, b.IsAbstract)
	put("o", true, b.Target != nil)
	var cast []map[string]any
	for _, p := range b.Participants {
		at := slices.IndexFunc(cast, func(c map[string]any) bool { return c["r"] == p.RoleID })
		if at < 0 {
			at, cast = len(cast), append(cast, map[string]any{"r": p.RoleID, "c": []string{}})
		}
		cast[at]["c"] = append(cast[at]["c"].([]string), p.ContactID)
	}
	put("w", cast, len(cast) > 0)
	return row
}

// history: each version of a record has its change record, none has two, and the
// kinds that were published of a session are numbered without a gap.
func (a *audit) history() {
	for id, body := range a.bodies {
		last := a.versions("session "+id, body.Version)
		if last != nil && !last.At.Equal(body.UpdatedAt.Time) {
			a.wrong("session %s was changed at %s, its last change record is of %s", id, body.UpdatedAt, last.At)
		}
		a.sequence("session "+id, body.Sequence)
	}
}

// versions checks that the change records of a record are of the versions 1 to
// version, and gives the last one.
func (a *audit) versions(of string, version int64) *change.Record {
	records := a.changes[of]
	slices.SortFunc(records, func(x, y change.Record) int { return int(x.Version - y.Version) })
	for i, record := range records {
		if record.Version != int64(i+1) {
			a.wrong("%s: change record %d is of version %d", of, i+1, record.Version)
		}
	}
	if int64(len(records)) != version {
		a.wrong("%s has version %d and %d change records", of, version, len(records))
	}
	if len(records) == 0 {
		return nil
	}
	return &records[len(records)-1]
}

// settings: the settings version of an event or organization is the sum of its
// settings' versions times weights.
func (a *audit) settings(owner string) {
	sum := int64(0)
	for key, item := range a.all {
		if key.PK == owner+"#M" {
			kind, id, _ := strings.Cut(key.SK, "#")
			sum += item.version * table.Weight(id)
			a.versions(kind+" "+id, item.version)
		}
	}
	if got := a.all[table.Key{PK: owner, SK: "-"}].settings; got != sum {
		a.wrong("%s has settings version %d, its settings add up to %d", owner, got, sum)
	}
}

// families: a parent lists its subsessions that are there and no other, numbers
// are given once, and both sides of a composition know of each other.
func (a *audit) families() {
	numbers := map[string]string{}
	live := map[string][]string{}
	for id, b := range a.bodies {
		if other := numbers[b.FriendlyID()]; other != "" {
			a.wrong("%s and %s are both %s", id, other, b.FriendlyID())
		}
		numbers[b.FriendlyID()] = id
		if b.Parent != "" && b.DeletedAt == nil {
			live[b.Parent] = append(live[b.Parent], id)
		}
		for _, link := range b.Sources {
			if source := a.bodies[link.SessionID]; source == nil || source.Target == nil || source.Target.CompositionID != link.CompositionID {
				a.wrong("%s has the source %s, which does not know of it", id, link.SessionID)
			}
		}
		if b.Target != nil {
			target := a.bodies[b.Target.SessionID]
			if target == nil || !slices.ContainsFunc(target.Sources, func(l session.Link) bool { return l.SessionID == id }) {
				a.wrong("%s has the target %s, which does not know of it", id, b.Target.SessionID)
			}
		}
	}
	last := a.all[table.Key{PK: a.event + "#N#session", SK: "-"}].count
	for id, b := range a.bodies {
		if b.Parent == "" && b.Number > last || b.Parent != "" && b.Number > a.bodies[b.Parent].LastNumber {
			a.wrong("%s has the number %d, which was not given yet", id, b.Number)
		}
		if !sameSet(b.Subsessions, live[id]) {
			a.wrong("%s lists the subsessions %v and has %v", id, b.Subsessions, live[id])
		}
	}
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// names: the internal name of each field is held, and no other is.
func (a *audit) names(t *testing.T) {
	t.Helper()
	held, fields := map[string]bool{}, map[string]bool{}
	for key, item := range a.all {
		if name, ok := strings.CutPrefix(key.PK, a.event+"#Q#field#"); ok {
			held[name] = true
		}
		if key.PK == a.event+"#M" && strings.HasPrefix(key.SK, field.Kind+"#") {
			var d field.Definition
			require.NoError(t, json.Unmarshal([]byte(item.data), &d))
			if *d.Head().DeletedAt == nil {
				fields[string(d.Module)+"#"+d.InternalName] = true
			}
		}
	}
	require.Equal(t, fields, held, "internal names that are held")
}
