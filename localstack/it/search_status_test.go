package it_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
	d := newDesk(t, "sessions_2_0")
	custom := d.entry("statuses", "Maybe", object{"status": "accept_queue"})
	one := d.create(200, object{"title": "One", "custom_status_id": custom.id()})
	abstract := d.create(200, object{"title": "Abstract", "is_abstract": true, "status": "declined"})
	sub := d.sub(one.id(), "Part")
	accepted := d.sub(one.id(), "Part 2", object{"status": "accepted"})
	gone := d.remove(200, d.titled("Gone")[0])
	one = d.get(200, one.id())

	rows := d.statuses(object{})
	require.Equal(t, 5, rows.Pagination.TotalResults)
	require.Equal(t, []string{one.id(), abstract.id(), sub.id(), accepted.id(), gone.id()}, texts(rows.Results, "id"))
	shown := object{"id": custom.id(), "name": "Maybe"}
	standalone := one["composition_status"]
	require.Equal(t, entity{
		"id": one.id(), "friendly_id": "SESS-1", "friendly_id_raw": 1.0, "status": "accept_queue", "custom_status_id": custom.id(),
		"custom_status": shown, "is_abstract": false, "composition_status": standalone, "deleted_at": nil,
		"created_at": one["created_at"], "updated_at": one["updated_at"],
		"subsessions": []any{
			object{"id": sub.id(), "friendly_id": "SESS-1-1", "status": nil, "custom_status": nil,
				"created_at": sub["created_at"], "updated_at": sub["updated_at"]},
			object{"id": accepted.id(), "friendly_id": "SESS-1-2", "status": "accepted", "custom_status": nil,
				"created_at": accepted["created_at"], "updated_at": accepted["updated_at"]},
		},
	}, rows.Results[0])
	require.Equal(t, []any{"accept_queue", "declined", nil, "accepted", "pending"}, column(rows.Results, "status"))
	require.Equal(t, []any{false, true, false, false, false}, column(rows.Results, "is_abstract"))
	require.Equal(t, []any{nil, nil, nil, nil, gone["deleted_at"]}, column(rows.Results, "deleted_at"))
	for _, row := range rows.Results {
		require.ElementsMatch(t, rowKeys, row.keys())
		require.Equal(t, row.id() == one.id(), len(row.list("subsessions")) > 0)
	}
	for _, part := range rows.Results[0].list("subsessions") {
		require.ElementsMatch(t, subRowKeys, part.keys())
	}
}

func TestStatusSearchFilters(t *testing.T) {
	d := newDesk(t, "sessions_2_0")
	track := d.entry("tracks", "T").id()
	ids := d.titled("A", "B", "C", "D")
	sub := d.sub(ids[0], "Part", object{"status": "accepted", "track_id": track})
	d.put(200, ids[1], object{"status": "accepted", "track_id": track})
	found := func(filters object) []string { return texts(d.statuses(object{"filters": filters}).Results, "id") }
	require.Equal(t, []string{ids[1], sub.id()}, found(object{"status": "accepted"}))
	require.Equal(t, []string{ids[1], sub.id()}, found(object{"trackIds": []string{track}}))
	require.Empty(t, found(object{"isAbstract": true}))

	first := d.remove(200, ids[2])
	time.Sleep(2 * time.Millisecond)
	second := d.remove(200, ids[3])
	at := func(r entity) string { return r.text("deleted_at") }
	require.Equal(t, ids[2:], found(object{"deletedAt": object{"after": "2020-01-01T00:00:00Z"}}))
	require.Equal(t, ids[3:], found(object{"deletedAt": object{"after": at(first)}}), "exclusive")
	require.Equal(t, ids[2:3], found(object{"deletedAt": object{"before": at(second)}}), "exclusive")
	require.Empty(t, found(object{"deletedAt": object{"after": at(first), "before": at(second)}}))
	require.Equal(t, ids[2:], found(object{"status": "pending", "deletedAt": object{"before": "2999-01-01T00:00:00Z"}}))
	require.Equal(t, ids[3:], found(object{"createdAt": object{"after": first["created_at"]}, "status": "pending"}))
	d.restore(200, ids[2])
	require.Equal(t, ids[3:], found(object{"deletedAt": object{"after": "2020-01-01T00:00:00Z"}}))
}

func TestStatusSearchSortsByDeletion(t *testing.T) {
	d := newDesk(t)
	ids := d.titled("A", "B", "C", "D", "E")
	for _, i := range []int{3, 0, 2} {
		d.remove(200, ids[i])
		time.Sleep(2 * time.Millisecond)
	}
	living := []string{ids[1], ids[4]}
	slices.Sort(living)
	sorted := func(sort string) []string { return texts(d.statuses(`{"sort":`+sort+`}`).Results, "id") }
	require.Equal(t, append([]string{ids[3], ids[0], ids[2]}, living...), sorted(`{"deletedAt":{"sort":"asc"}}`))
	require.Equal(t, append([]string{ids[2], ids[0], ids[3]}, living...), sorted(`{"deletedAt":{"sort":"desc"}}`), "not deleted, last")
	require.Equal(t, []string{ids[2], ids[0], ids[3], ids[4], ids[1]},
		sorted(`{"createdAt":{"sort":"desc"},"deletedAt":{"sort":"desc","order":1}}`))
	require.Equal(t, []string{ids[4], ids[3], ids[2], ids[1], ids[0]}, sorted(`{"createdAt":{"sort":"desc"}}`))
	require.Equal(t, ids, sorted(`{}`))
	part := d.statuses(object{}, "page=2", "pageSize=2")
	require.Equal(t, ids[2:4], texts(part.Results, "id"))
	require.Equal(t, 3, part.Pagination.TotalPages)
}

func TestStatusSearchLeavesOutDeletedSubsessionsOfARow(t *testing.T) {
	d := newDesk(t)
	parent := d.titled("A")[0]
	first, second := d.sub(parent, "1"), d.sub(parent, "2")
	d.remove(200, first.id())
	rows := d.statuses(object{}).Results
	require.Equal(t, []string{parent, first.id(), second.id()}, texts(rows, "id"))
	require.Equal(t, []string{second.id()}, texts(rows[0].list("subsessions"), "id"))
	require.NotNil(t, rows[1]["deleted_at"])
}
