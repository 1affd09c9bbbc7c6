package it_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDeleteAndRestore(t *testing.T) {
	d := newDesk(t)
	s := d.shelf()
	made := d.create(200, s.everything())
	id := made.id()
	deleted := d.remove(200, id)
	want := maps.Clone(made)
	want["deleted_at"], want["updated_at"] = deleted["deleted_at"], deleted["updated_at"]
	require.Equal(t, want, deleted, "the record with deleted_at")
	require.Greater(t, deleted["updated_at"], made["updated_at"])
	require.Equal(t, deleted["updated_at"], deleted["deleted_at"])
	d.get(404, id)
	require.Empty(t, d.search(object{}).Results)
	require.Empty(t, d.search(object{"expand": []string{"linked_sources"}}).Results)
	require.Empty(t, d.list().Results)
	require.Zero(t, d.list("search=keynote").Pagination.TotalResults)
	require.Equal(t, deleted["deleted_at"], d.statuses(object{}).Results[0]["deleted_at"])
	d.remove(404, id)
	d.put(404, id, object{"title": "x"})

	restored := d.restore(200, id)
	want = maps.Clone(made)
	want["updated_at"] = restored["updated_at"]
	require.Equal(t, want, restored)
	require.NotContains(t, restored, "deleted_at")
	require.Equal(t, restored, d.get(200, id))
	require.Equal(t, []entity{restored}, d.search(object{}).Results)
	require.Nil(t, d.statuses(object{}).Results[0]["deleted_at"])
	d.restore(404, id)
}

func TestRestoreTakesAnEmptyBodyOrNone(t *testing.T) {
	d := newDesk(t)
	id := d.titled("A")[0]
	for _, body := range []any{nil, "", "{}"} {
		d.remove(200, id)
		require.Equal(t, "A", entity(d.write(200, "POST", id+"/restore", body).JSON(t))["title"])
	}
}

func TestWritesExpandTheirAnswers(t *testing.T) {
	d := newDesk(t)
	const both = "?expand=composition,subsession_details"
	id := d.send(200, "POST", "/sessions/create"+both, object{"title": "A"}).id()
	sub := d.sub(id, "Part").id()
	d.remove(200, sub)
	shown := []entity{
		d.send(200, "DELETE", "/sessions/"+id+both, nil), d.send(200, "POST", "/sessions/"+id+"/restore"+both, nil),
		d.send(200, "PUT", "/sessions/"+id+both, object{"capacity": 1}),
		d.send(200, "PUT", "/sessions/"+id+"/fields"+both, object{"values": object{}}),
		d.send(200, "POST", "/sessions/bulk"+both, object{"operations": []object{updating(id, object{"capacity": 2})}}).
			list("results")[0]["data"].(object),
	}
	for _, r := range shown {
		require.Contains(t, r, "composition")
	}
	restored := d.send(200, "POST", "/sessions/"+sub+"/restore"+both, nil)
	require.Contains(t, restored, "composition")
	require.Contains(t, d.send(200, "PUT", "/sessions/"+id+both, object{}).list("subsessions")[0], "custom_fields")
}

func TestPeopleAndAccountsStayEmpty(t *testing.T) {
	d := newDesk(t)
	made := d.create(200, object{"title": "A", "participants": []object{}, "sponsor_ids": []string{}, "exhibitor_ids": []string{}})
	for _, r := range []entity{made, d.get(200, made.id()), d.search(object{}).Results[0], d.list().Results[0]} {
		for _, name := range []string{"participants", "speakers", "chairpersons", "moderators", "sponsors", "exhibitors", "content"} {
			require.Equal(t, []any{}, r[name], name)
		}
	}
}
