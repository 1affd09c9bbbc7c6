package sessions_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/change"
)

// sessionChanges is a client that checks the changes of sessions.
type sessionChanges struct {
	*it.Client
	*it.ChangeWatch
}

func newSessionChanges(t *testing.T, features ...string) *sessionChanges {
	t.Helper()
	return changesOf(it.NewClient(t, features...))
}

func changesOf(d *it.Client) *sessionChanges { return &sessionChanges{d, d.WatchChanges("session")} }

// tells checks that exactly these changes came since the last call: lines of
// action, record, version, published kind and its sequence.
func (n *sessionChanges) tells(want ...string) []change.Record {
	n.T.Helper()
	fresh := n.Since()
	lines := make([]string, len(fresh))
	for i, r := range fresh {
		require.Len(n.T, r.Kinds, 1)
		lines[i] = strings.Join([]string{r.Action, r.RecordID, it.DecimalOf(r.Version), r.Kinds[0].Name, it.DecimalOf(r.Kinds[0].Sequence)}, " ")
		require.NoError(n.T, uuid.Validate(r.ID))
		require.Equal(n.T, n.Org, r.Org)
		require.Equal(n.T, n.Event, r.Event)
		require.NotEmpty(n.T, r.RequestID)
		var fields []string
		for _, v := range r.Values {
			fields = append(fields, v.Field)
		}
		if r.Version == 1 {
			require.Empty(n.T, fields, "the session itself is its first version")
			fields = r.Kinds[0].Fields
		}
		require.Equal(n.T, fields, r.Kinds[0].Fields)
	}
	require.ElementsMatch(n.T, want, lines)
	return fresh
}

// line is a change as tells compares it.
func line(action, id string, version int, kind string) string {
	return strings.Join([]string{action, id, it.DecimalOf(int64(version)), kind, it.DecimalOf(int64(version))}, " ")
}

const (
	created = "session.created"
	updated = "session.updated"
	deleted = "session.deleted"
)

func TestEveryWriteLeavesOneChangePerRecord(t *testing.T) {
	n := newSessionChanges(t, "sessions_2_0")
	id := n.NewSessions("A")[0]
	made := n.tells(line(created, id, 1, created))[0]
	require.Equal(t, change.SourceAPI, made.Source)
	require.Equal(t, change.ActorToken, made.Actor.Type)
	require.Equal(t, n.Member, made.Actor.ID)
	require.NotZero(t, made.Actor.Token)
	require.Equal(t, n.Get(200, id)["updated_at"], made.At.String())

	n.Put(200, id, object{"title": "B"}, "expand=composition")
	n.tells(line(updated, id, 2, updated))
	n.PutFields(200, id, object{})
	n.Since()
	sub := n.NewSubsession(id, "Part").ID()
	n.tells(line(created, sub, 1, created), line(updated, id, 4, updated))
	n.Put(200, sub, object{"title": "Part 2"})
	n.tells(line(updated, sub, 2, updated))
	n.Delete(200, sub)
	n.tells(line(deleted, sub, 3, deleted), line(updated, id, 5, updated))
	n.Restore(200, sub)
	n.tells(line("session.restored", sub, 4, updated), line(updated, id, 6, updated))
	n.Delete(200, sub)
	n.Since()
	n.Delete(200, id)
	n.tells(line(deleted, id, 8, deleted))
	n.Restore(200, id)
	n.tells(line("session.restored", id, 9, updated))

	other := n.NewSessions("Other")[0]
	n.Since()
	n.Command("session-link", it.Link(id, other, "merged_session"))
	linked := n.tells(line(updated, id, 10, updated), line(updated, other, 2, updated))
	require.Equal(t, change.SourceAdmin, linked[0].Source)
	require.Equal(t, change.ActorOperator, linked[0].Actor.Type)
	n.Command("session-unlink", object{"source_id": other})
	n.tells(line(updated, id, 11, updated), line(updated, other, 3, updated))
	n.Command("session-withdraw", object{"session_id": other, "who": "Ann", "why": "ill"})
	require.Empty(t, n.tells(line("session.withdrawn", other, 4, updated))[0].Values, "a change names nobody but by id")
	copied := n.Command("session-duplicate", object{"session_id": other}).ID()
	n.tells(line("session.duplicated", copied, 1, created))
}

func TestRefusedWritesLeaveNoChange(t *testing.T) {
	n := newSessionChanges(t)
	id := n.NewSessions("A")[0]
	n.NewSubsession(id, "Part")
	n.Since()
	n.Put(400, id, object{"title": ""})
	n.Put(409, id, object{"title": "B", "updated_at": "2020-01-01T00:00:00Z"})
	n.Delete(409, id)
	n.Restore(404, id)
	n.Create(403, object{"title": "C", "is_abstract": true})
	n.Create(400, object{"title": "C", "parent_session_id": uuid.NewString()})
	n.PutFields(400, id, object{"nothing": 1})
	n.Bulk(it.Deleting(id), it.Updating(id, object{"capacity": -1}))
	n.tells()
}

func TestChangesOfABulk(t *testing.T) {
	n := newSessionChanges(t)
	ids := n.NewSessions("A", "B")
	n.Since()
	o := n.Bulk(
		it.Updating(ids[0], object{"title": "A2"}), it.Creating(object{"title": "C"}), it.Updating(ids[0], object{"title": "A3"}),
		it.Deleting(ids[1]), it.Updating(ids[1], object{"title": "no"}), it.Creating(object{"title": "Part", "parent_session_id": ids[0]}),
	)
	n.tells(line(updated, ids[0], 2, updated), line(updated, ids[0], 3, updated), line(updated, ids[0], 4, updated),
		line(created, o.Data(t, 1).ID(), 1, created), line(deleted, ids[1], 2, deleted), line(created, o.Data(t, 5).ID(), 1, created))
}

func TestChangesNameWhatChanged(t *testing.T) {
	n := newSessionChanges(t)
	note, size := n.NewField("Note", "text"), n.NewField("Size", "number")
	made := n.Create(200, object{"title": "A", "description": "x", "custom_fields": object{note: "one", size: 1}})
	fresh := n.Since()
	require.Len(t, fresh, 1)
	require.Subset(t, fresh[0].Kinds[0].Fields, []string{"title", "description", "status", "custom_fields." + note, "custom_fields." + size})
	n.Put(200, made.ID(), object{"title": "B", "description": "x", "capacity": 4, "custom_fields": object{note: "two", size: 1}})
	fresh = n.tells(line(updated, made.ID(), 2, updated))
	require.Equal(t, []string{"capacity", "title", "custom_fields." + note}, fresh[0].Kinds[0].Fields, "what is sent and equal has not changed")
	require.Equal(t, []change.Value{
		{Field: "capacity", Old: nil, New: 4.0}, {Field: "title", Old: "A", New: "B"}, {Field: "custom_fields." + note, Old: "one", New: "two"},
	}, fresh[0].Values)
	n.Put(200, made.ID(), object{"description": strings.Repeat("é", 8000)})
	cut, ok := n.tells(line(updated, made.ID(), 3, updated))[0].Values[0].New.(object)
	require.True(t, ok)
	require.Equal(t, 16002.0, cut["bytes"])
	require.Len(t, cut["sha256"], 64)
	require.LessOrEqual(t, len(cut["cut"].(string)), 8<<10)
	n.Put(200, made.ID(), object{"custom_fields": object{note: nil}})
	require.Equal(t, []change.Value{{Field: "custom_fields." + note, Old: "two", New: nil}}, n.tells(line(updated, made.ID(), 4, updated))[0].Values)
}
