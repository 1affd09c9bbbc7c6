package it_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
	"lectern/shared/table"
)

// longOptions are options of 62 KB together, each of them with the text.
func longOptions(text string) []string {
	options := make([]string, 62<<10/250)
	for i := range options {
		options[i] = fmt.Sprintf("%03d", i) + strings.Repeat(text, 247)
	}
	return options
}

// TestABulkOfLongErrorsLeaves: what it did is answered, and again under its key.
func TestABulkOfLongErrorsLeaves(t *testing.T) {
	d := newDesk(t)
	for _, text := range []string{"x", `"`} {
		size := d.field("Size"+fmt.Sprint(len(text), text == "x"), "dropdown", object{"options": longOptions(text)})
		operations := make([]object, 100)
		for i := range operations {
			operations[i] = creating(object{"title": "x", "custom_fields": object{size: "none"}})
		}
		operations[0] = creating(object{"title": text})
		before := d.search(object{}).Pagination.TotalResults
		body := object{"operations": operations}
		first := d.Call(t, 200, "POST", d.EventPath("/sessions/bulk"), body, keyHeader, "k"+size)
		require.LessOrEqual(t, len(first.Body), maxJSON)
		require.LessOrEqual(t, len(first.Body)+bytes.Count(first.Body, []byte(`"`))+bytes.Count(first.Body, []byte(`\`)), maxReturn)
		results := entity(first.JSON(t)).list("results")
		require.Equal(t, "success", results[0]["status"])
		one, _ := results[1]["error"].(object)
		require.Len(t, one["valid_options"], len(longOptions("")))
		for _, option := range longOptions(text) {
			require.Contains(t, one["message"], strconv.Quote(option))
		}
		last, _ := results[99]["error"].(object)
		require.Equal(t, "TYPE_MISMATCH", last["code"])
		require.NotContains(t, last, "valid_options")
		require.Less(t, len(last["message"].(string)), 3_000)

		again := d.Call(t, 200, "POST", d.EventPath("/sessions/bulk"), body, keyHeader, "k"+size)
		require.Equal(t, "true", again.Header.Get(replayHeader))
		repeated := entity(again.JSON(t)).list("results")
		for i, r := range results {
			require.Equal(t, r["id"], repeated[i]["id"])
			require.Equal(t, r["status"], repeated[i]["status"])
			require.Equal(t, r.at("error.code"), repeated[i].at("error.code"))
		}
		require.Equal(t, before+1, d.search(object{}).Pagination.TotalResults)
	}
}

// TestALongWordIsNotRepeated: what a client says in place of an action or id.
func TestALongWordIsNotRepeated(t *testing.T) {
	d := newDesk(t)
	word := strings.Repeat(`"`, 1<<20)
	o := d.send(200, "POST", "/sessions/bulk", object{"operations": []object{{"action": word}, {"action": "delete", "id": word}}})
	for _, r := range o.list("results") {
		require.Equal(t, "error", r["status"])
		require.Nil(t, r["id"])
		require.Less(t, len(r.text("action")), 200)
	}
}

// TestALargeBulkStaysDone: its repetition answers success whatever became of the
// records and settings since, and takes no numbers.
func TestALargeBulkStaysDone(t *testing.T) {
	d := newDesk(t)
	track := d.entry("tracks", "T").id()
	operations := make([]object, 20)
	for i := range operations {
		operations[i] = creating(object{"title": "x", "track_id": track, "description": strings.Repeat("é", 30_000)})
	}
	operations[19] = creating(object{"title": ""})
	body := object{"operations": operations}
	first := entity(d.Call(t, 200, "POST", d.EventPath("/sessions/bulk"), body, keyHeader, "k").JSON(t)).list("results")
	d.drop("tracks", track)
	d.remove(200, first[3].id())
	for range 2 {
		answer := d.Call(t, 200, "POST", d.EventPath("/sessions/bulk"), body, keyHeader, "k")
		require.Equal(t, "true", answer.Header.Get(replayHeader))
		again := entity(answer.JSON(t)).list("results")
		for i := range 19 {
			require.Equal(t, "success", again[i]["status"], i)
			require.Equal(t, first[i]["id"], again[i]["id"])
			require.Equal(t, i == 3, again[i].at("data.deleted_at") != nil)
		}
		require.Equal(t, first[19], again[19])
	}
	require.Equal(t, "SESS-20", d.create(200, object{"title": "next"})["friendly_id"])
	require.Equal(t, 19, d.search(object{}).Pagination.TotalResults)
}

// TestALargeCreateStaysDone is the same of one session, whose answer is long for
// its translations.
func TestALargeCreateStaysDone(t *testing.T) {
	d := newDesk(t, "translated_fields")
	track := d.entry("tracks", "T").id()
	texts := object{}
	for i := range 14 {
		texts[d.field(fmt.Sprint("Text ", i), "text")] = "<&>"
	}
	translations := object{}
	for i := range 100 {
		translations[fmt.Sprintf("de-%03d", i)] = texts
	}
	body := object{"title": "A", "track_id": track, "translations": translations}
	path := d.EventPath("/sessions/create?expand=translated_fields")
	first := d.Call(t, 200, "POST", path, body, keyHeader, "k")
	require.Greater(t, len(first.Body), 300<<10)
	require.Empty(t, first.Header.Get(replayHeader))
	id := entity(first.JSON(t)).id()
	again := d.Call(t, 200, "POST", path, body, keyHeader, "k")
	require.Equal(t, "true", again.Header.Get(replayHeader))
	require.Equal(t, string(first.Body), string(again.Body))
	d.drop("tracks", track)
	d.remove(200, id)
	gone := d.Call(t, 200, "POST", path, body, keyHeader, "k")
	require.Equal(t, "true", gone.Header.Get(replayHeader))
	require.NotNil(t, gone.JSON(t)["deleted_at"])
	require.Equal(t, "SESS-2", d.create(200, object{"title": "next"})["friendly_id"])
}

// TestLargeFieldsAreReplayed: a definition whose answer is kept as it is, and
// one that is shown again.
func TestLargeFieldsAreReplayed(t *testing.T) {
	d := newDesk(t)
	for _, text := range []string{"<", "\x01"} {
		body := object{"name": "F" + fmt.Sprint(text == "<"), "type": "dropdown", "module_id": "session", "options": longOptions(text)}
		first := d.Call(t, 200, "POST", d.EventPath("/fields/create"), body, keyHeader, "k"+fmt.Sprint(text == "<"))
		again := d.Call(t, 200, "POST", d.EventPath("/fields/create"), body, keyHeader, "k"+fmt.Sprint(text == "<"))
		require.Equal(t, "true", again.Header.Get(replayHeader))
		require.Equal(t, string(first.Body), string(again.Body))
		require.Equal(t, first.Header.Get("ETag"), again.Header.Get("ETag"))
	}
}

// failing answers transactions of more than a few writes with an error that is
// none of DynamoDB's, while it is on.
type failing struct {
	table.Client
	on atomic.Bool
}

func (c *failing) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if c.on.Load() && len(in.TransactItems) > 2 {
		return nil, errors.New("secret cause")
	}
	return c.Client.TransactWriteItems(ctx, in, o...)
}

// TestInternalErrorsOfABulkAreLogged under the request's id, and not kept under
// its key.
func TestInternalErrorsOfABulkAreLogged(t *testing.T) {
	client, log := &failing{}, &bytes.Buffer{}
	d := &desk{stacktest.Start(t, stacktest.WithLog(slog.New(slog.NewJSONHandler(log, nil))),
		stacktest.WithClient(func(c table.Client) table.Client { client.Client = c; return client })), t}
	body := object{"operations": []object{creating(object{"title": "A"}), creating(object{"title": ""})}}
	client.on.Store(true)
	answer := d.Call(t, 200, "POST", d.EventPath("/sessions/bulk"), body, keyHeader, "k", "X-Request-Id", "req-77")
	client.on.Store(false)
	require.NotContains(t, string(answer.Body), "secret")
	first := entity(answer.JSON(t)).list("results")
	require.Equal(t, "INTERNAL_ERROR", first[0].at("error.code"))
	logged := 0
	for line := range strings.Lines(log.String()) {
		fields := object{}
		require.NoError(t, json.Unmarshal([]byte(line), &fields))
		if strings.Contains(line, "secret cause") {
			require.Equal(t, "req-77", fields["request_id"])
			logged++
		}
	}
	require.Equal(t, 1, logged)
	again := d.Call(t, 200, "POST", d.EventPath("/sessions/bulk"), body, keyHeader, "k")
	require.Empty(t, again.Header.Get(replayHeader), "done for the first time")
	require.Equal(t, "success", entity(again.JSON(t)).list("results")[0]["status"])
	require.Equal(t, 1, d.search(object{}).Pagination.TotalResults)
}
