package people_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// TestADeletedContactLeavesThisEventAlone: the organization's record and its other
// events stay as they are.
func TestADeletedContactLeavesThisEventAlone(t *testing.T) {
	p := NewContacts(t)
	there := p.InNewEvent()
	badge, seat := p.NewField("Badge", "text", it.GlobalScope), p.NewField("Seat", "text")
	made := p.Create(200, object{"email": "ada@x.org", "title": "Countess", "custom_fields": object{badge: "A", seat: "1"}})
	id := made.ID()
	there.WithAddresses("ada@x.org")
	made = p.Get(200, id)
	elsewhere, whole := there.Get(200, id), p.GetFromOrganization(200, id)

	deleted := p.Delete(200, id)
	require.Greater(t, deleted["updated_at"], made["updated_at"])
	require.Equal(t, deleted["updated_at"], deleted["deleted_at"])
	require.Equal(t, entity(it.Merged(object(made), object{"deleted_at": deleted["deleted_at"], "updated_at": deleted["updated_at"]})), deleted)
	require.Equal(t, noContact, p.Get(404, id))
	require.Equal(t, noContact, p.Put(404, id, object{"title": "x"}))
	require.Equal(t, noContact, p.Delete(404, id))
	require.Empty(t, p.Search(object{}).Results)
	require.Zero(t, p.Search(object{}).Pagination.TotalResults)
	unchanged := func() {
		t.Helper()
		require.Equal(t, elsewhere, there.Get(200, id))
		require.Equal(t, []entity{elsewhere}, there.Search(object{}).Results)
		later := p.GetFromOrganization(200, id)
		require.Equal(t, []entity{later}, p.SearchOrganization(object{}).Results)
		require.Greater(t, later["updated_at"], whole["updated_at"], "the organization's level tells that something was written")
		later["updated_at"] = whole["updated_at"]
		require.Equal(t, whole, later)
	}
	unchanged()
	require.Equal(t, noContact, there.Restore(404, id))

	restored := p.Restore(200, id)
	require.Greater(t, restored["updated_at"], deleted["updated_at"])
	require.Equal(t, entity(it.Merged(object(made), object{"updated_at": restored["updated_at"]})), restored)
	require.Equal(t, restored, p.Get(200, id))
	require.Equal(t, []entity{restored}, p.Search(object{}).Results)
	unchanged()
	require.Equal(t, noContact, p.Restore(404, id))

	p.Delete(200, id)
	changed := there.Put(200, id, object{"title": "Analyst"})
	require.Equal(t, "Analyst", changed["title"])
	require.Equal(t, []any{"Analyst", "1"}, []any{p.Restore(200, id)["title"], p.Get(200, id).FieldValue(seat)}, "the record went on meanwhile")
	p.Delete(200, id)
	there.Delete(200, id)
	require.Equal(t, "Analyst", p.GetFromOrganization(200, id)["title"], "the organization keeps who is on no event")
	require.Len(t, p.SearchOrganization(object{}).Results, 1)
}
