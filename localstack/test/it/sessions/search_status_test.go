package sessions_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// rowKeys are the properties of a row of the status search, subRowKeys those of
// a subsession in it (gaps.md section 2.2, spec.md section 2.4).
var (
	rowKeys = []string{
		"id", "friendly_id", "friendly_id_raw", "status", "custom_status_id", "custom_status", "is_abstract",
		"composition_status", "deleted_at", "created_at", "updated_at", "subsessions",
	}
	subRowKeys = []string{"id", "friendly_id", "status", "custom_status", "created_at", "updated_at"}
)

func TestStatusSearchShowsEveryRow(t *testing.T) {
	d := it.NewClient(t, "sessions_2_0")
	custom := d.NewEntry("statuses", "Maybe", object{"status": "accept_queue"})
	one := d.Create(200, object{"title": "One", "custom_status_id": custom.ID()})
	abstract := d.Create(200, object{"title": "Abstract", "is_abstract": true, "status": "declined"})
	sub := d.NewSubsession(one.ID(), "Part")
	accepted := d.NewSubsession(one.ID(), "Part 2", object{"status": "accepted"})
	gone := d.Delete(200, d.NewSessions("Gone")[0])
	one = d.Get(200, one.ID())

	rows := d.SearchStatuses(object{})
	require.Equal(t, 5, rows.Pagination.TotalResults)
	require.Equal(t, []string{one.ID(), abstract.ID(), sub.ID(), accepted.ID(), gone.ID()}, it.Texts(rows.Results, "id"))
	shown := object{"id": custom.ID(), "name": "Maybe"}
	standalone := one["composition_status"]
	require.Equal(t, entity{
		"id": one.ID(), "friendly_id": "SESS-1", "friendly_id_raw": 1.0, "status": "accept_queue", "custom_status_id": custom.ID(),
		"custom_status": shown, "is_abstract": false, "composition_status": standalone, "deleted_at": nil,
		"created_at": one["created_at"], "updated_at": one["updated_at"],
		"subsessions": []any{
			object{"id": sub.ID(), "friendly_id": "SESS-1-1", "status": nil, "custom_status": nil,
				"created_at": sub["created_at"], "updated_at": sub["updated_at"]},
			object{"id": accepted.ID(), "friendly_id": "SESS-1-2", "status": "accepted", "custom_status": nil,
				"created_at": accepted["created_at"], "updated_at": accepted["updated_at"]},
		},
	}, rows.Results[0])
	require.Equal(t, []any{"accept_queue", "declined", nil, "accepted", "pending"}, it.Column(rows.Results, "status"))
	require.Equal(t, []any{false, true, false, false, false}, it.Column(rows.Results, "is_abstract"))
	require.Equal(t, []any{nil, nil, nil, nil, gone["deleted_at"]}, it.Column(rows.Results, "deleted_at"))
	for _, row := range rows.Results {
		require.ElementsMatch(t, rowKeys, row.Keys())
		require.Equal(t, row.ID() == one.ID(), len(row.List("subsessions")) > 0)
	}
	for _, part := range rows.Results[0].List("subsessions") {
		require.ElementsMatch(t, subRowKeys, part.Keys())
	}
}

func TestStatusSearchFilters(t *testing.T) {
	d := it.NewClient(t, "sessions_2_0")
	track := d.NewEntry("tracks", "T").ID()
	ids := d.NewSessions("A", "B", "C", "D")
	sub := d.NewSubsession(ids[0], "Part", object{"status": "accepted", "track_id": track})
	d.Put(200, ids[1], object{"status": "accepted", "track_id": track})
	found := func(filters object) []string {
		return it.Texts(d.SearchStatuses(object{"filters": filters}).Results, "id")
	}
	require.Equal(t, []string{ids[1], sub.ID()}, found(object{"status": "accepted"}))
	require.Equal(t, []string{ids[1], sub.ID()}, found(object{"trackIds": []string{track}}))
	require.Empty(t, found(object{"isAbstract": true}))

	first := d.Delete(200, ids[2])
	time.Sleep(2 * time.Millisecond)
	second := d.Delete(200, ids[3])
	at := func(r entity) string { return r.Text("deleted_at") }
	require.Equal(t, ids[2:], found(object{"deletedAt": object{"after": "2020-01-01T00:00:00Z"}}))
	require.Equal(t, ids[3:], found(object{"deletedAt": object{"after": at(first)}}), "exclusive")
	require.Equal(t, ids[2:3], found(object{"deletedAt": object{"before": at(second)}}), "exclusive")
	require.Empty(t, found(object{"deletedAt": object{"after": at(first), "before": at(second)}}))
	require.Equal(t, ids[2:], found(object{"status": "pending", "deletedAt": object{"before": "2999-01-01T00:00:00Z"}}))
	require.Equal(t, ids[3:], found(object{"createdAt": object{"after": first["created_at"]}, "status": "pending"}))
	d.Restore(200, ids[2])
	require.Equal(t, ids[3:], found(object{"deletedAt": object{"after": "2020-01-01T00:00:00Z"}}))
}

func TestStatusSearchSortsByDeletion(t *testing.T) {
	d := it.NewClient(t)
	ids := d.NewSessions("A", "B", "C", "D", "E")
	for _, i := range []int{3, 0, 2} {
		d.Delete(200, ids[i])
		time.Sleep(2 * time.Millisecond)
	}
	living := []string{ids[1], ids[4]}
	slices.Sort(living)
	sorted := func(sort string) []string { return it.Texts(d.SearchStatuses(`{"sort":`+sort+`}`).Results, "id") }
	require.Equal(t, append([]string{ids[3], ids[0], ids[2]}, living...), sorted(`{"deletedAt":{"sort":"asc"}}`))
	require.Equal(t, append([]string{ids[2], ids[0], ids[3]}, living...), sorted(`{"deletedAt":{"sort":"desc"}}`), "not deleted, last")
	require.Equal(t, []string{ids[2], ids[0], ids[3], ids[4], ids[1]},
		sorted(`{"createdAt":{"sort":"desc"},"deletedAt":{"sort":"desc","order":1}}`))
	require.Equal(t, []string{ids[4], ids[3], ids[2], ids[1], ids[0]}, sorted(`{"createdAt":{"sort":"desc"}}`))
	require.Equal(t, ids, sorted(`{}`))
	part := d.SearchStatuses(object{}, "page=2", "pageSize=2")
	require.Equal(t, ids[2:4], it.Texts(part.Results, "id"))
	require.Equal(t, 3, part.Pagination.TotalPages)
}

func TestStatusSearchLeavesOutDeletedSubsessionsOfARow(t *testing.T) {
	d := it.NewClient(t)
	parent := d.NewSessions("A")[0]
	first, second := d.NewSubsession(parent, "1"), d.NewSubsession(parent, "2")
	d.Delete(200, first.ID())
	rows := d.SearchStatuses(object{}).Results
	require.Equal(t, []string{parent, first.ID(), second.ID()}, it.Texts(rows, "id"))
	require.Equal(t, []string{second.ID()}, it.Texts(rows[0].List("subsessions"), "id"))
	require.NotNil(t, rows[1]["deleted_at"])
}
