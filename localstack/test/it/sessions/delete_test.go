package sessions_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func TestDeleteAndRestore(t *testing.T) {
	d := it.NewClient(t)
	s := newShelf(d)
	made := d.Create(200, s.everything())
	id := made.ID()
	deleted := d.Delete(200, id)
	want := maps.Clone(made)
	want["deleted_at"], want["updated_at"] = deleted["deleted_at"], deleted["updated_at"]
	require.Equal(t, want, deleted, "the record with deleted_at")
	require.Greater(t, deleted["updated_at"], made["updated_at"])
	require.Equal(t, deleted["updated_at"], deleted["deleted_at"])
	d.Get(404, id)
	require.Empty(t, d.Search(object{}).Results)
	require.Empty(t, d.Search(object{"expand": []string{"linked_sources"}}).Results)
	require.Empty(t, d.List().Results)
	require.Zero(t, d.List("search=keynote").Pagination.TotalResults)
	require.Equal(t, deleted["deleted_at"], d.SearchStatuses(object{}).Results[0]["deleted_at"])
	d.Delete(404, id)
	d.Put(404, id, object{"title": "x"})

	restored := d.Restore(200, id)
	want = maps.Clone(made)
	want["updated_at"] = restored["updated_at"]
	require.Equal(t, want, restored)
	require.NotContains(t, restored, "deleted_at")
	require.Equal(t, restored, d.Get(200, id))
	require.Equal(t, []entity{restored}, d.Search(object{}).Results)
	require.Nil(t, d.SearchStatuses(object{}).Results[0]["deleted_at"])
	d.Restore(404, id)
}

func TestRestoreTakesAnEmptyBodyOrNone(t *testing.T) {
	d := it.NewClient(t)
	id := d.NewSessions("A")[0]
	for _, body := range []any{nil, "", "{}"} {
		d.Delete(200, id)
		require.Equal(t, "A", entity(d.CallSession(200, "POST", id+"/restore", body).JSON(t))["title"])
	}
}

func TestWritesExpandTheirAnswers(t *testing.T) {
	d := it.NewClient(t)
	const both = "?expand=composition,subsession_details"
	id := d.Do(200, "POST", "/sessions/create"+both, object{"title": "A"}).ID()
	sub := d.NewSubsession(id, "Part").ID()
	d.Delete(200, sub)
	shown := []entity{
		d.Do(200, "DELETE", "/sessions/"+id+both, nil), d.Do(200, "POST", "/sessions/"+id+"/restore"+both, nil),
		d.Do(200, "PUT", "/sessions/"+id+both, object{"capacity": 1}),
		d.Do(200, "PUT", "/sessions/"+id+"/fields"+both, object{"values": object{}}),
		d.Do(200, "POST", "/sessions/bulk"+both, object{"operations": []object{it.Updating(id, object{"capacity": 2})}}).
			List("results")[0]["data"].(object),
	}
	for _, r := range shown {
		require.Contains(t, r, "composition")
	}
	restored := d.Do(200, "POST", "/sessions/"+sub+"/restore"+both, nil)
	require.Contains(t, restored, "composition")
	require.Contains(t, d.Do(200, "PUT", "/sessions/"+id+both, object{}).List("subsessions")[0], "custom_fields")
}

func TestPeopleAndAccountsStayEmpty(t *testing.T) {
	d := it.NewClient(t)
	made := d.Create(200, object{"title": "A", "participants": []object{}, "sponsor_ids": []string{}, "exhibitor_ids": []string{}})
	for _, r := range []entity{made, d.Get(200, made.ID()), d.Search(object{}).Results[0], d.List().Results[0]} {
		for _, name := range []string{"participants", "speakers", "chairpersons", "moderators", "sponsors", "exhibitors", "content"} {
			require.Equal(t, []any{}, r[name], name)
		}
	}
}
