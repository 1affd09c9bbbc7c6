package it_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/shared/change"
)

// watch tells the change records of one type of record since it was last asked.
type watch struct {
	of   *desk
	kind string
	seen map[string]bool
}

func (d *desk) watch(kind string) *watch { return &watch{d, kind, map[string]bool{}} }

// since gives the change records that came since the last call, oldest first.
func (w *watch) since() (fresh []change.Record) {
	w.of.t.Helper()
	for _, r := range changesOf(w.of.t, w.of.Stack) {
		if r.Type == w.kind && !w.seen[r.ID] {
			w.seen[r.ID] = true
			fresh = append(fresh, r)
		}
	}
	return fresh
}

// news is a desk that tells the changes of its sessions.
type news struct {
	*desk
	*watch
}

func newNews(t *testing.T, features ...string) *news {
	t.Helper()
	return newsOf(newDesk(t, features...))
}

func newsOf(d *desk) *news { return &news{d, d.watch("session")} }

// tells checks that exactly these changes came since the last call: lines of
// action, record, version, published kind and its sequence.
func (n *news) tells(want ...string) []change.Record {
	n.t.Helper()
	fresh := n.since()
	lines := make([]string, len(fresh))
	for i, r := range fresh {
		require.Len(n.t, r.Kinds, 1)
		lines[i] = strings.Join([]string{r.Action, r.RecordID, number64(r.Version), r.Kinds[0].Name, number64(r.Kinds[0].Sequence)}, " ")
		require.NoError(n.t, uuid.Validate(r.ID))
		require.Equal(n.t, n.Org, r.Org)
		require.Equal(n.t, n.Event, r.Event)
		require.NotEmpty(n.t, r.RequestID)
		var fields []string
		for _, v := range r.Values {
			fields = append(fields, v.Field)
		}
		if r.Version == 1 {
			require.Empty(n.t, fields, "the session itself is its first version")
			fields = r.Kinds[0].Fields
		}
		require.Equal(n.t, fields, r.Kinds[0].Fields)
	}
	require.ElementsMatch(n.t, want, lines)
	return fresh
}

func number64(n int64) string { text, _ := json.Marshal(n); return string(text) }

// line is a change as tells compares it.
func line(action, id string, version int, kind string) string {
	return strings.Join([]string{action, id, number64(int64(version)), kind, number64(int64(version))}, " ")
}

const (
	created = "session.created"
	updated = "session.updated"
	deleted = "session.deleted"
)

func TestEveryWriteLeavesOneChangePerRecord(t *testing.T) {
	n := newNews(t, "sessions_2_0")
	id := n.titled("A")[0]
	made := n.tells(line(created, id, 1, created))[0]
	require.Equal(t, change.SourceAPI, made.Source)
	require.Equal(t, change.ActorToken, made.Actor.Type)
	require.Equal(t, n.Member, made.Actor.ID)
	require.NotZero(t, made.Actor.Token)
	require.Equal(t, n.get(200, id)["updated_at"], made.At.String())

	n.put(200, id, object{"title": "B"}, "expand=composition")
	n.tells(line(updated, id, 2, updated))
	n.fields(200, id, object{})
	n.since()
	sub := n.sub(id, "Part").id()
	n.tells(line(created, sub, 1, created), line(updated, id, 4, updated))
	n.put(200, sub, object{"title": "Part 2"})
	n.tells(line(updated, sub, 2, updated))
	n.remove(200, sub)
	n.tells(line(deleted, sub, 3, deleted), line(updated, id, 5, updated))
	n.restore(200, sub)
	n.tells(line("session.restored", sub, 4, updated), line(updated, id, 6, updated))
	n.remove(200, sub)
	n.since()
	n.remove(200, id)
	n.tells(line(deleted, id, 8, deleted))
	n.restore(200, id)
	n.tells(line("session.restored", id, 9, updated))

	other := n.titled("Other")[0]
	n.since()
	n.done("session-link", link(id, other, "merged_session"))
	linked := n.tells(line(updated, id, 10, updated), line(updated, other, 2, updated))
	require.Equal(t, change.SourceAdmin, linked[0].Source)
	require.Equal(t, change.ActorOperator, linked[0].Actor.Type)
	n.done("session-unlink", object{"source_id": other})
	n.tells(line(updated, id, 11, updated), line(updated, other, 3, updated))
	n.done("session-withdraw", object{"session_id": other, "who": "Ann", "why": "ill"})
	require.Empty(t, n.tells(line("session.withdrawn", other, 4, updated))[0].Values, "a change names nobody but by id")
	copied := n.done("session-duplicate", object{"session_id": other}).id()
	n.tells(line("session.duplicated", copied, 1, created))
}

func TestRefusedWritesLeaveNoChange(t *testing.T) {
	n := newNews(t)
	id := n.titled("A")[0]
	n.sub(id, "Part")
	n.since()
	n.put(400, id, object{"title": ""})
	n.put(409, id, object{"title": "B", "updated_at": "2020-01-01T00:00:00Z"})
	n.remove(409, id)
	n.restore(404, id)
	n.create(403, object{"title": "C", "is_abstract": true})
	n.create(400, object{"title": "C", "parent_session_id": uuid.NewString()})
	n.fields(400, id, object{"nothing": 1})
	n.bulk(deleting(id), updating(id, object{"capacity": -1}))
	n.tells()
}

func TestChangesOfABulk(t *testing.T) {
	n := newNews(t)
	ids := n.titled("A", "B")
	n.since()
	o := n.bulk(
		updating(ids[0], object{"title": "A2"}), creating(object{"title": "C"}), updating(ids[0], object{"title": "A3"}),
		deleting(ids[1]), updating(ids[1], object{"title": "no"}), creating(object{"title": "Part", "parent_session_id": ids[0]}),
	)
	n.tells(line(updated, ids[0], 2, updated), line(updated, ids[0], 3, updated), line(updated, ids[0], 4, updated),
		line(created, o.data(t, 1).id(), 1, created), line(deleted, ids[1], 2, deleted), line(created, o.data(t, 5).id(), 1, created))
}

func TestChangesNameWhatChanged(t *testing.T) {
	n := newNews(t)
	note, size := n.field("Note", "text"), n.field("Size", "number")
	made := n.create(200, object{"title": "A", "description": "x", "custom_fields": object{note: "one", size: 1}})
	fresh := n.since()
	require.Len(t, fresh, 1)
	require.Subset(t, fresh[0].Kinds[0].Fields, []string{"title", "description", "status", "custom_fields." + note, "custom_fields." + size})
	n.put(200, made.id(), object{"title": "B", "description": "x", "capacity": 4, "custom_fields": object{note: "two", size: 1}})
	fresh = n.tells(line(updated, made.id(), 2, updated))
	require.Equal(t, []string{"capacity", "title", "custom_fields." + note}, fresh[0].Kinds[0].Fields, "what is sent and equal has not changed")
	require.Equal(t, []change.Value{
		{Field: "capacity", Old: nil, New: 4.0}, {Field: "title", Old: "A", New: "B"}, {Field: "custom_fields." + note, Old: "one", New: "two"},
	}, fresh[0].Values)
	n.put(200, made.id(), object{"description": strings.Repeat("é", 8000)})
	cut, ok := n.tells(line(updated, made.id(), 3, updated))[0].Values[0].New.(object)
	require.True(t, ok)
	require.Equal(t, 16002.0, cut["bytes"])
	require.Len(t, cut["sha256"], 64)
	require.LessOrEqual(t, len(cut["cut"].(string)), 8<<10)
	n.put(200, made.id(), object{"custom_fields": object{note: nil}})
	require.Equal(t, []change.Value{{Field: "custom_fields." + note, Old: "two", New: nil}}, n.tells(line(updated, made.id(), 4, updated))[0].Values)
}
