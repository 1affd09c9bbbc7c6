package sessions_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/session"
	"lectern/shared/table"
)

// TestPropertiesOfALaterReleaseStay: each change of a session keeps properties that the release does not
// have, as during a deployment or after a rollback. A duplicate has none of them.
func TestPropertiesOfALaterReleaseStay(t *testing.T) {
	d := it.NewClient(t)
	parent := d.NewSessions("A talk")[0]
	sub := d.NewSubsession(parent, "A part").ID()
	at, later := session.Of(d.Org, d.Event), `,"later":[{"id":"<1>","count":12345678901234567890}]}`
	stored := func(id string) table.Item {
		got, err := d.Env(t).Table.GetMany(t.Context(), []table.Key{at.Body(id)})
		require.NoError(t, err)
		return got[at.Body(id)]
	}
	for _, id := range []string{parent, sub} {
		item := stored(id)
		item.Data = []byte(strings.TrimSuffix(string(item.Data), "}") + later)
		require.NoError(t, d.Env(t).Table.Transact(t.Context(), table.Put(item)))
	}
	person := d.NewContact("ada@example.org").ID()
	d.Put(200, parent, object{"title": "Another talk", "participants": []any{object{"contact_id": person, "core_role": "speaker"}}})
	d.Put(200, sub, object{"title": "Another part"})
	copied := d.Command("session-duplicate", object{"session_id": parent}).ID()
	d.Delete(200, sub)
	d.Restore(200, sub)
	for _, id := range []string{parent, sub} {
		require.True(t, strings.HasSuffix(string(stored(id).Data), later), string(stored(id).Data))
		require.True(t, json.Valid(stored(id).Data))
	}
	require.NotContains(t, string(stored(copied).Data), "later")
	it.EngineOf(t, d.Stack).RequireWhole(t)
}
