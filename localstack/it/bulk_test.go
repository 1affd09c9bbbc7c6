package it_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
)

// outcome is the answer of a bulk request.
type outcome struct {
	BatchID string `json:"batch_id"`
	Results []entity
	Stats   struct{ Total, Succeeded, Failed int }
}

// bulk does the operations. The outcome's results are in their order, and its
// counts agree with them.
func (d *desk) bulk(operations ...object) outcome {
	d.t.Helper()
	return d.bulkUnder("/sessions/bulk", "", operations...)
}

// bulkUnder is the bulk at a path below the event, with an Idempotency-Key; none
// where key is empty.
func (d *desk) bulkUnder(path, key string, operations ...object) outcome {
	d.t.Helper()
	o := stacktest.Call[outcome](d.Stack, 200, http.MethodPost, d.EventPath(path), object{"operations": operations}, keyHeader, key)
	require.NoError(d.t, uuid.Validate(o.BatchID))
	require.Len(d.t, o.Results, len(operations))
	succeeded := 0
	for i, r := range o.Results {
		require.Equal(d.t, float64(i), r["index"])
		require.Equal(d.t, operations[i]["action"], r["action"])
		if r["status"] == "success" {
			succeeded++
		}
	}
	require.Equal(d.t, len(operations), o.Stats.Total)
	require.Equal(d.t, succeeded, o.Stats.Succeeded)
	require.Equal(d.t, len(operations)-succeeded, o.Stats.Failed)
	return o
}

// data is the record of the operation at index i, which must have succeeded.
func (o outcome) data(t *testing.T, i int) entity {
	t.Helper()
	r := o.Results[i]
	require.Equal(t, "success", r["status"], "%v", r)
	require.NotContains(t, r, "error")
	data, ok := r["data"].(object)
	require.True(t, ok, "%v", r)
	require.Equal(t, r["id"], data["id"])
	return data
}

// failed is the error of the operation at index i, which must have this code
// and field.
func (o outcome) failed(t *testing.T, i int, code, field string) entity {
	t.Helper()
	r := o.Results[i]
	require.Equal(t, "error", r["status"], "%v", r)
	require.NotContains(t, r, "data")
	require.Contains(t, r, "id")
	failure, ok := r["error"].(object)
	require.True(t, ok, "%v", r)
	require.Equal(t, code, failure["code"], "%v", r)
	require.NotEmpty(t, failure["message"])
	got, _ := entity(failure).at("details.field").(string)
	require.Equal(t, field, got, "%v", r)
	return failure
}

func creating(body object) object { return object{"action": "create", "data": body} }
func updating(id string, body object) object {
	return object{"action": "update", "id": id, "data": body}
}
func deleting(id string) object { return object{"action": "delete", "id": id} }

func TestBulkMixesOperationsInOrder(t *testing.T) {
	d := newDesk(t)
	ids := d.titled("A", "B", "C")
	o := d.bulk(
		creating(object{"title": "New 1", "capacity": 1}),
		updating(ids[0], object{"title": "A2"}),
		deleting(ids[1]),
		updating(uuid.NewString(), object{"title": "nobody"}),
		creating(object{"title": ""}),
		creating(object{"title": "New 2"}),
		deleting(ids[1]),
		updating(ids[2], object{"capacity": -1}),
	)
	first, second := o.data(t, 0), o.data(t, 5)
	require.Equal(t, first, d.get(200, first.id()), "the data is what the single operation would answer")
	require.Equal(t, "New 1", first["title"])
	require.Equal(t, "A2", o.data(t, 1)["title"])
	require.NotNil(t, o.data(t, 2)["deleted_at"])
	o.failed(t, 3, "NOT_FOUND", "")
	o.failed(t, 4, "VALIDATION_ERROR", "title")
	o.failed(t, 6, "NOT_FOUND", "")
	o.failed(t, 7, "VALIDATION_ERROR", "capacity")
	require.Nil(t, o.Results[4]["id"], "nothing was created")
	require.Equal(t, ids[1], o.Results[6]["id"])
	require.Equal(t, 4, o.Stats.Succeeded)
	require.NotEqual(t, first["friendly_id"], second["friendly_id"])
	require.Equal(t, "SESS-5", second["friendly_id"], "numbers follow the order of the request")
	d.get(404, ids[1])
	require.Nil(t, d.get(200, ids[2])["capacity"])
}

func TestBulkOperationsSeeEarlierOnesOnTheSameRecord(t *testing.T) {
	d := newDesk(t)
	ids := d.titled("A", "B")
	before := d.get(200, ids[0])
	o := d.bulk(
		updating(ids[0], object{"title": "A1"}), updating(ids[1], object{"title": "B1"}),
		updating(ids[0], object{"capacity": 5}), updating(ids[0], object{"description": "x", "updated_at": before["updated_at"]}),
		updating(ids[0], object{"title": "A2"}), deleting(ids[0]), updating(ids[0], object{"title": "A3"}), deleting(ids[0]),
		updating(ids[1], object{"starts_at": "2027-05-11T10:00:00Z", "ends_at": "2027-05-11T11:00:00Z"}),
		updating(ids[1], object{"starts_at": "2027-05-11T12:00:00Z"}),
		updating(ids[1], object{"ends_at": "2027-05-11T13:00:00Z"}),
		updating(ids[1], object{"starts_at": "2027-05-11T12:00:00Z"}),
	)
	stale := o.failed(t, 3, "STALE_UPDATE", "")
	third := o.data(t, 2)
	require.Equal(t, third["updated_at"], stale.at("details.updated_at"), "the current one, of the operation before")
	require.Equal(t, "A1", third["title"])
	deleted := o.data(t, 5)
	require.Equal(t, "A2", deleted["title"])
	require.Equal(t, 5.0, deleted["capacity"])
	require.Nil(t, deleted["description"])
	o.failed(t, 6, "NOT_FOUND", "")
	o.failed(t, 7, "NOT_FOUND", "")
	o.failed(t, 9, "VALIDATION_ERROR", "starts_at")
	last := o.data(t, 11)
	require.Equal(t, "2027-05-11T12:00:00.000Z", last["starts_at"])
	require.Equal(t, "2027-05-11T13:00:00.000Z", last["ends_at"])
	require.Equal(t, last, d.get(200, ids[1]))
	times := []string{before.text("updated_at")}
	for _, i := range []int{0, 2, 4, 5} {
		times = append(times, o.data(t, i).text("updated_at"))
	}
	require.IsIncreasing(t, times)
}

func TestBulkChainsThroughOneParent(t *testing.T) {
	d := newDesk(t)
	ids := d.titled("Parent", "Other")
	kept, gone := d.sub(ids[0], "kept").id(), d.sub(ids[0], "gone").id()
	under := func(title string) object { return creating(object{"title": title, "parent_session_id": ids[0]}) }
	o := d.bulk(
		deleting(ids[0]), deleting(kept), under("s3"), deleting(gone), deleting(ids[0]),
		updating(ids[1], object{"title": "Other 2"}), under("s4"),
		creating(object{"title": "x", "parent_session_id": kept}),
		updating(ids[0], object{"title": "Parent 2"}),
	)
	o.failed(t, 0, "HAS_SUBSESSIONS", "")
	require.NotNil(t, o.data(t, 1)["deleted_at"])
	require.Equal(t, "SESS-1-3", o.data(t, 2)["friendly_id"])
	o.data(t, 3)
	o.failed(t, 4, "HAS_SUBSESSIONS", "")
	o.data(t, 5)
	require.Equal(t, "SESS-1-4", o.data(t, 6)["friendly_id"])
	require.Equal(t, []string{o.data(t, 2).id(), o.data(t, 6).id()}, texts(o.data(t, 8).list("subsessions"), "id"))
	require.Equal(t, []string{"SESS-1-3", "SESS-1-4"}, texts(d.get(200, ids[0]).list("subsessions"), "friendly_id"))
	o.failed(t, 7, "VALIDATION_ERROR", "parent_session_id")

	o = d.bulk(deleting(o.data(t, 2).id()), deleting(o.data(t, 6).id()), deleting(ids[0]), under("too late"))
	o.data(t, 2)
	o.failed(t, 3, "PARENT_DELETED", "")
	d.get(404, ids[0])
	require.Equal(t, []string{ids[1]}, texts(d.search(object{}).Results, "id"))
}

func TestBulkTakesOneToAHundredOperations(t *testing.T) {
	d := newDesk(t)
	operations := make([]object, 101)
	for i := range operations {
		operations[i] = creating(object{"title": fmt.Sprintf("%03d", i)})
	}
	for _, bad := range [][]object{operations, {}} {
		isInvalid(t, d.send(400, "POST", "/sessions/bulk", object{"operations": bad}), "operations")
	}
	require.Zero(t, d.search(object{}).Pagination.TotalResults)
	o := d.bulk(operations[:100]...)
	require.Equal(t, 100, o.Stats.Succeeded)
	for i := range o.Results {
		made := o.data(t, i)
		require.Equal(t, fmt.Sprintf("%03d", i), made["title"])
		require.Equal(t, float64(i+1), made["friendly_id_raw"])
	}
	require.Equal(t, 100, d.search(object{}).Pagination.TotalResults)
	require.Equal(t, o.data(t, 57), d.get(200, o.data(t, 57).id()))
	deletions := make([]object, 100)
	for i := range deletions {
		deletions[i] = deleting(o.data(t, i).id())
	}
	require.Equal(t, 100, d.bulk(deletions...).Stats.Succeeded)
	require.Zero(t, d.search(object{}).Pagination.TotalResults)
	require.Equal(t, 100, d.statuses(object{}).Pagination.TotalResults)
}

func TestBulkCountsAsOneRequest(t *testing.T) {
	d := newDesk(t)
	few := d.as(d.TokenWith(t, object{"scopes": []string{"write:sessions"}, "limit": 3}))
	body := object{"operations": []object{creating(object{"title": "a"}), creating(object{"title": "b"}), creating(object{})}}
	for left := 2; left >= 0; left-- {
		answer := few.Call(t, 200, "POST", d.EventPath("/sessions/bulk"), body)
		require.Equal(t, "3", answer.Header.Get("RateLimit-Limit"))
		require.Equal(t, fmt.Sprint(left), answer.Header.Get("RateLimit-Remaining"))
	}
	answer := few.Call(t, 429, "POST", d.EventPath("/sessions/bulk"), body)
	require.NotEmpty(t, answer.Header.Get("Retry-After"))
	few.create(429, object{"title": "the same bucket"})
	require.Equal(t, 6, d.search(object{}).Pagination.TotalResults)
}
