package it

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
)

// BulkAnswer holds the answer of a bulk.
type BulkAnswer struct {
	BatchID string `json:"batch_id"`
	Results []Entity
	Stats   struct{ Total, Succeeded, Failed int }
}

// KeyHeader names the header of an Idempotency-Key.
const KeyHeader = "Idempotency-Key"

// Shortened returns the answer that a repetition of the bulk gives: every record as the
// last operation has left it.
func (o BulkAnswer) Shortened() BulkAnswer {
	last := map[any]any{}
	for _, r := range o.Results {
		if r["status"] == "success" {
			last[r["id"]] = r["data"]
		}
	}
	o.Results = slices.Clone(o.Results)
	for i, r := range o.Results {
		if r["status"] == "success" {
			o.Results[i] = Merged(r, Object{"data": last[r["id"]]})
		}
	}
	return o
}

// Bulk sends POST /sessions/bulk and checks the answer as BulkUnder does.
func (d *Client) Bulk(operations ...Object) BulkAnswer {
	d.T.Helper()
	return d.BulkUnder("/sessions/bulk", "", operations...)
}

// BulkUnder sends a bulk to a path below the event, under an Idempotency-Key unless key is
// empty. Results must be in the order of the operations, and the counts must agree with
// the results.
func (d *Client) BulkUnder(path, key string, operations ...Object) BulkAnswer {
	d.T.Helper()
	o := stacktest.Call[BulkAnswer](d.Stack, 200, http.MethodPost, d.EventPath(path),
		stacktest.WithHeaders(Object{"operations": operations}, KeyHeader, key))
	require.NoError(d.T, uuid.Validate(o.BatchID))
	require.Len(d.T, o.Results, len(operations))
	succeeded := 0
	for i, r := range o.Results {
		require.Equal(d.T, float64(i), r["index"])
		require.Equal(d.T, operations[i]["action"], r["action"])
		if r["status"] == "success" {
			succeeded++
		}
	}
	require.Equal(d.T, len(operations), o.Stats.Total)
	require.Equal(d.T, succeeded, o.Stats.Succeeded)
	require.Equal(d.T, len(operations)-succeeded, o.Stats.Failed)
	return o
}

// CreateAll creates records of a kind below the event, a hundred at a time, and returns their ids.
func (d *Client) CreateAll(kind string, drafts []any) (ids []string) {
	d.T.Helper()
	for batch := range slices.Chunk(drafts, 100) {
		operations := make([]Object, len(batch))
		for i, draft := range batch {
			operations[i] = Object{"action": "create", "data": draft}
		}
		answer := d.BulkUnder("/"+kind+"/bulk", "", operations...)
		require.Equal(d.T, len(batch), answer.Stats.Succeeded, "%v", answer.Results)
		ids = append(ids, Texts(answer.Results, "id")...)
	}
	return ids
}

// Data returns the record of the operation at index i. The operation must have succeeded.
func (o BulkAnswer) Data(t *testing.T, i int) Entity {
	t.Helper()
	r := o.Results[i]
	require.Equal(t, "success", r["status"], "%v", r)
	require.NotContains(t, r, "error")
	data, ok := r["data"].(Object)
	require.True(t, ok, "%v", r)
	require.Equal(t, r["id"], data["id"])
	return data
}

// Failed returns the error of the operation at index i and checks its code and field.
func (o BulkAnswer) Failed(t *testing.T, i int, code, field string) Entity {
	t.Helper()
	r := o.Results[i]
	require.Equal(t, "error", r["status"], "%v", r)
	require.NotContains(t, r, "data")
	require.Contains(t, r, "id")
	failure, ok := r["error"].(Object)
	require.True(t, ok, "%v", r)
	require.Equal(t, code, failure["code"], "%v", r)
	require.NotEmpty(t, failure["message"])
	got, _ := Entity(failure).At("details.field").(string)
	require.Equal(t, field, got, "%v", r)
	return failure
}

// PlainError returns the error of the operation at index i. The error must be a string,
// without other properties.
func (o BulkAnswer) PlainError(t *testing.T, i int) string {
	t.Helper()
	r := o.Results[i]
	require.Equal(t, "error", r["status"], "%v", r)
	require.ElementsMatch(t, []string{"index", "action", "status", "id", "error"}, r.Keys())
	message := r.Text("error")
	require.NotEmpty(t, message, "%v", r)
	return message
}

// Creating returns the operation of a bulk that creates a record.
func Creating(body Object) Object { return Object{"action": "create", "data": body} }

// Updating returns the operation of a bulk that updates a record.
func Updating(id string, body Object) Object {
	return Object{"action": "update", "id": id, "data": body}
}

// Deleting returns the operation of a bulk that deletes a record.
func Deleting(id string) Object { return Object{"action": "delete", "id": id} }

// RequireReplay checks that the second answer repeats the first byte for byte.
func RequireReplay(t *testing.T, first, again stacktest.Answer) {
	t.Helper()
	require.Empty(t, first.Header.Get("Idempotent-Replayed"))
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Equal(t, string(first.Body), string(again.Body))
	require.Equal(t, first.Header.Get("ETag"), again.Header.Get("ETag"))
}

// ReplayedRecord returns the record of an answer that must be a repetition.
func ReplayedRecord(t *testing.T, a stacktest.Answer) Entity {
	t.Helper()
	require.Equal(t, "true", a.Header.Get("Idempotent-Replayed"))
	return a.JSON(t)
}

// BulkOf returns the body of a bulk.
func BulkOf(operations ...any) map[string]any { return map[string]any{"operations": operations} }
