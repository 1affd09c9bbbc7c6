package sessions_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

func TestBulkMixesOperationsInOrder(t *testing.T) {
	stacktest.Everywhere(t)
	d := it.NewClient(t)
	ids := d.NewSessions("A", "B", "C")
	o := d.Bulk(
		it.Creating(object{"title": "New 1", "capacity": 1}),
		it.Updating(ids[0], object{"title": "A2"}),
		it.Deleting(ids[1]),
		it.Updating(uuid.NewString(), object{"title": "nobody"}),
		it.Creating(object{"title": ""}),
		it.Creating(object{"title": "New 2"}),
		it.Deleting(ids[1]),
		it.Updating(ids[2], object{"capacity": -1}),
	)
	first, second := o.Data(t, 0), o.Data(t, 5)
	require.Equal(t, first, d.Get(200, first.ID()), "the data is what the single operation would answer")
	require.Equal(t, "New 1", first["title"])
	require.Equal(t, "A2", o.Data(t, 1)["title"])
	require.NotNil(t, o.Data(t, 2)["deleted_at"])
	o.Failed(t, 3, "NOT_FOUND", "")
	o.Failed(t, 4, "VALIDATION_ERROR", "title")
	o.Failed(t, 6, "NOT_FOUND", "")
	o.Failed(t, 7, "VALIDATION_ERROR", "capacity")
	require.Nil(t, o.Results[4]["id"], "nothing was created")
	require.Equal(t, ids[1], o.Results[6]["id"])
	require.Equal(t, 4, o.Stats.Succeeded)
	require.EqualValues(t, first["friendly_id_raw"].(float64)+1, second["friendly_id_raw"], "numbers follow the order of the request")
	d.Get(404, ids[1])
	require.Nil(t, d.Get(200, ids[2])["capacity"])
}

func TestBulkOperationsSeeEarlierOnesOnTheSameRecord(t *testing.T) {
	stacktest.Everywhere(t)
	d := it.NewClient(t)
	ids := d.NewSessions("A", "B")
	before := d.Get(200, ids[0])
	o := d.Bulk(
		it.Updating(ids[0], object{"title": "A1"}), it.Updating(ids[1], object{"title": "B1"}),
		it.Updating(ids[0], object{"capacity": 5}), it.Updating(ids[0], object{"description": "x", "updated_at": before["updated_at"]}),
		it.Updating(ids[0], object{"title": "A2"}), it.Deleting(ids[0]), it.Updating(ids[0], object{"title": "A3"}), it.Deleting(ids[0]),
		it.Updating(ids[1], object{"starts_at": "2027-05-11T10:00:00Z", "ends_at": "2027-05-11T11:00:00Z"}),
		it.Updating(ids[1], object{"starts_at": "2027-05-11T12:00:00Z"}),
		it.Updating(ids[1], object{"ends_at": "2027-05-11T13:00:00Z"}),
		it.Updating(ids[1], object{"starts_at": "2027-05-11T12:00:00Z"}),
	)
	stale := o.Failed(t, 3, "STALE_UPDATE", "")
	third := o.Data(t, 2)
	require.Equal(t, third["updated_at"], stale.At("details.updated_at"), "the current one, of the operation before")
	require.Equal(t, "A1", third["title"])
	deleted := o.Data(t, 5)
	require.Equal(t, "A2", deleted["title"])
	require.Equal(t, 5.0, deleted["capacity"])
	require.Nil(t, deleted["description"])
	o.Failed(t, 6, "NOT_FOUND", "")
	o.Failed(t, 7, "NOT_FOUND", "")
	o.Failed(t, 9, "VALIDATION_ERROR", "starts_at")
	last := o.Data(t, 11)
	require.Equal(t, "2027-05-11T12:00:00.000Z", last["starts_at"])
	require.Equal(t, "2027-05-11T13:00:00.000Z", last["ends_at"])
	require.Equal(t, last, d.Get(200, ids[1]))
	times := []string{before.Text("updated_at")}
	for _, i := range []int{0, 2, 4, 5} {
		times = append(times, o.Data(t, i).Text("updated_at"))
	}
	require.IsIncreasing(t, times)
}

func TestBulkChainsThroughOneParent(t *testing.T) {
	stacktest.Everywhere(t)
	d := it.NewClient(t)
	ids := d.NewSessions("Parent", "Other")
	kept, gone := d.NewSubsession(ids[0], "kept").ID(), d.NewSubsession(ids[0], "gone").ID()
	under := func(title string) object { return it.Creating(object{"title": title, "parent_session_id": ids[0]}) }
	o := d.Bulk(
		it.Deleting(ids[0]), it.Deleting(kept), under("s3"), it.Deleting(gone), it.Deleting(ids[0]),
		it.Updating(ids[1], object{"title": "Other 2"}), under("s4"),
		it.Creating(object{"title": "x", "parent_session_id": kept}),
		it.Updating(ids[0], object{"title": "Parent 2"}),
	)
	o.Failed(t, 0, "HAS_SUBSESSIONS", "")
	require.NotNil(t, o.Data(t, 1)["deleted_at"])
	require.Equal(t, "SESS-1-3", o.Data(t, 2)["friendly_id"])
	o.Data(t, 3)
	o.Failed(t, 4, "HAS_SUBSESSIONS", "")
	o.Data(t, 5)
	require.Equal(t, "SESS-1-4", o.Data(t, 6)["friendly_id"])
	require.Equal(t, []string{o.Data(t, 2).ID(), o.Data(t, 6).ID()}, it.Texts(o.Data(t, 8).List("subsessions"), "id"))
	require.Equal(t, []string{"SESS-1-3", "SESS-1-4"}, it.Texts(d.Get(200, ids[0]).List("subsessions"), "friendly_id"))
	o.Failed(t, 7, "VALIDATION_ERROR", "parent_session_id")

	o = d.Bulk(it.Deleting(o.Data(t, 2).ID()), it.Deleting(o.Data(t, 6).ID()), it.Deleting(ids[0]), under("too late"))
	o.Data(t, 2)
	o.Failed(t, 3, "PARENT_DELETED", "")
	d.Get(404, ids[0])
	require.Equal(t, []string{ids[1]}, it.Texts(d.Search(object{}).Results, "id"))
}

func TestBulkTakesOneToAHundredOperations(t *testing.T) {
	d := it.NewClient(t)
	operations := make([]object, 101)
	for i := range operations {
		operations[i] = it.Creating(object{"title": fmt.Sprintf("%03d", i)})
	}
	for _, bad := range [][]object{operations, {}} {
		it.RequireInvalid(t, d.Do(400, "POST", "/sessions/bulk", object{"operations": bad}), "operations")
	}
	require.Zero(t, d.Search(object{}).Pagination.TotalResults)
	o := d.Bulk(operations[:100]...)
	require.Equal(t, 100, o.Stats.Succeeded)
	for i := range o.Results {
		made := o.Data(t, i)
		require.Equal(t, fmt.Sprintf("%03d", i), made["title"])
		require.Equal(t, float64(i+1), made["friendly_id_raw"])
	}
	require.Equal(t, 100, d.Search(object{}).Pagination.TotalResults)
	require.Equal(t, o.Data(t, 57), d.Get(200, o.Data(t, 57).ID()))
	deletions := make([]object, 100)
	for i := range deletions {
		deletions[i] = it.Deleting(o.Data(t, i).ID())
	}
	require.Equal(t, 100, d.Bulk(deletions...).Stats.Succeeded)
	require.Zero(t, d.Search(object{}).Pagination.TotalResults)
	require.Equal(t, 100, d.SearchStatuses(object{}).Pagination.TotalResults)
}

func TestBulkCountsAsOneRequest(t *testing.T) {
	d := it.NewClient(t)
	few := d.WithToken(d.TokenWith(t, object{"scopes": []string{"write:sessions"}, "limit": 3}))
	body := object{"operations": []object{it.Creating(object{"title": "a"}), it.Creating(object{"title": "b"}), it.Creating(object{})}}
	for left := 2; left >= 0; left-- {
		answer := few.Call(t, 200, "POST", d.EventPath("/sessions/bulk"), body)
		require.Equal(t, "3", answer.Header.Get("RateLimit-Limit"))
		require.Equal(t, fmt.Sprint(left), answer.Header.Get("RateLimit-Remaining"))
	}
	answer := few.Call(t, 429, "POST", d.EventPath("/sessions/bulk"), body)
	require.NotEmpty(t, answer.Header.Get("Retry-After"))
	few.Create(429, object{"title": "the same bucket"})
	require.Equal(t, 6, d.Search(object{}).Pagination.TotalResults)
}
