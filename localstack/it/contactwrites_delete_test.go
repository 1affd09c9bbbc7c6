package it_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestADeletedContactLeavesThisEventAlone: the organization's record and its other
// events stay as they are.
func TestADeletedContactLeavesThisEventAlone(t *testing.T) {
	p := newPeople(t)
	there := p.elsewhere()
	badge, seat := p.field("Badge", "text", organizationWide), p.field("Seat", "text")
	made := p.create(200, object{"email": "ada@x.org", "title": "Countess", "custom_fields": object{badge: "A", seat: "1"}})
	id := made.id()
	there.addressed("ada@x.org")
	made = p.get(200, id)
	elsewhere, whole := there.get(200, id), p.whole(200, id)

	deleted := p.remove(200, id)
	require.Greater(t, deleted["updated_at"], made["updated_at"])
	require.Equal(t, deleted["updated_at"], deleted["deleted_at"])
	require.Equal(t, entity(merged(object(made), object{"deleted_at": deleted["deleted_at"], "updated_at": deleted["updated_at"]})), deleted)
	require.Equal(t, noContact, p.get(404, id))
	require.Equal(t, noContact, p.put(404, id, object{"title": "x"}))
	require.Equal(t, noContact, p.remove(404, id))
	require.Empty(t, p.search(object{}).Results)
	require.Zero(t, p.search(object{}).Pagination.TotalResults)
	unchanged := func() {
		t.Helper()
		require.Equal(t, elsewhere, there.get(200, id))
		require.Equal(t, []entity{elsewhere}, there.search(object{}).Results)
		later := p.whole(200, id)
		require.Equal(t, []entity{later}, p.searchAll(object{}).Results)
		require.Greater(t, later["updated_at"], whole["updated_at"], "the organization's level tells that something was written")
		later["updated_at"] = whole["updated_at"]
		require.Equal(t, whole, later)
	}
	unchanged()
	require.Equal(t, noContact, there.restore(404, id))

	restored := p.restore(200, id)
	require.Greater(t, restored["updated_at"], deleted["updated_at"])
	require.Equal(t, entity(merged(object(made), object{"updated_at": restored["updated_at"]})), restored)
	require.Equal(t, restored, p.get(200, id))
	require.Equal(t, []entity{restored}, p.search(object{}).Results)
	unchanged()
	require.Equal(t, noContact, p.restore(404, id))

	p.remove(200, id)
	changed := there.put(200, id, object{"title": "Analyst"})
	require.Equal(t, "Analyst", changed["title"])
	require.Equal(t, []any{"Analyst", "1"}, []any{p.restore(200, id)["title"], p.get(200, id).value(seat)}, "the record went on meanwhile")
	p.remove(200, id)
	there.remove(200, id)
	require.Equal(t, "Analyst", p.whole(200, id)["title"], "the organization keeps who is on no event")
	require.Len(t, p.searchAll(object{}).Results, 1)
}
