package limits_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
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
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		for i, text := range []string{"x", `"`} {
			size := w.field("Size "+fmt.Sprint(i), "dropdown", object{"options": longOptions(text)})
			operations := append(w.news(1, text), w.news(99, "x", object{"custom_fields": object{size: "none"}})...)
			first := w.bulkAnswer("k"+size, operations)
			leaves(t, first.Body)
			var o it.BulkAnswer
			first.Into(t, &o)
			require.Equal(t, "success", o.Results[0]["status"])
			one := w.refuses(o, 1, "TYPE_MISMATCH", size)
			if !w.PlainErrors {
				require.Len(t, one["valid_options"], len(longOptions("")))
			}
			for _, option := range longOptions(text) {
				require.Contains(t, one["message"], strconv.Quote(option))
			}
			last := w.refuses(o, 99, "TYPE_MISMATCH", size)
			require.NotContains(t, last, "valid_options")
			require.Less(t, len(last.Text("message")), 3_000)

			again := w.bulkAnswer("k"+size, operations)
			require.Equal(t, "true", again.Header.Get(replayHeader))
			repeated := entity(again.JSON(t)).List("results")
			for _, property := range []string{"id", "status", "error.code"} {
				require.Equal(t, it.Column(o.Results, property), it.Column(repeated, property))
			}
			require.Equal(t, i+1, w.count())
		}
	})
}

// TestALongWordIsNotRepeated: what a client says in place of an action or id.
func TestALongWordIsNotRepeated(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		word := strings.Repeat(`"`, 1<<20)
		answer := w.bulkAnswer("", []object{{"action": word}, {"action": "delete", "id": word}})
		require.Less(t, len(answer.Body), 2_000)
		for _, r := range entity(answer.JSON(t)).List("results") {
			require.Equal(t, "error", r["status"])
			require.Nil(t, r["id"])
		}
	})
}

// TestALargeBulkStaysDone: its repetition answers success whatever became of the
// records and settings since, and takes no numbers.
func TestALargeBulkStaysDone(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		note := w.note()
		operations := w.news(20, "x", object{w.LongField: strings.Repeat("é", 30_000), "custom_fields": object{note.Text("internal_name"): "y"}})
		operations[19] = it.Creating(object{})
		first := entity(w.bulkAnswer("k", operations).JSON(t)).List("results")
		w.DeleteRecord("fields", note.ID())
		w.remove(200, first[3].ID())
		for range 2 {
			answer := w.bulkAnswer("k", operations)
			require.Equal(t, "true", answer.Header.Get(replayHeader))
			again := entity(answer.JSON(t)).List("results")
			for i := range 19 {
				require.Equal(t, "success", again[i]["status"], i)
				require.Equal(t, first[i]["id"], again[i]["id"])
				require.Equal(t, i == 3, again[i].At("data.deleted_at") != nil)
			}
			require.Equal(t, first[19], again[19])
		}
		require.Regexp(t, "^[A-Z]+-20$", w.create(200, w.Draft("next"))["friendly_id"])
		require.Equal(t, 19, w.count())
	})
}

// note makes a custom field for texts.
func (w *kindClient) note() entity {
	w.T.Helper()
	return w.Do(200, "POST", "/fields/create", object{"name": "Note", "type": "text", "module_id": w.Module})
}

// TestALargeCreateStaysDone is the same of one record, whose answer is long for its
// translations.
func TestALargeCreateStaysDone(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		note, texts, translations := w.note(), object{}, object{}
		for i := range 14 {
			texts[w.field(fmt.Sprint("Text ", i), "text")] = "<&>"
		}
		for i := range 100 {
			translations[fmt.Sprintf("de-%03d", i)] = texts
		}
		body := it.Merged(w.Draft("A"), object{"custom_fields": object{note.Text("internal_name"): "y"}, "translations": translations})
		create := func() stacktest.Answer {
			return w.Call(t, 200, "POST", w.EventPath(w.CreatePath()+"?expand=translated_fields"), stacktest.WithHeaders(body, it.KeyHeader, "k"))
		}
		first := create()
		require.Greater(t, len(first.Body), 300<<10)
		it.RequireReplay(t, first, create())
		w.DeleteRecord("fields", note.ID())
		w.remove(200, entity(first.JSON(t)).ID())
		gone := create()
		require.Equal(t, "true", gone.Header.Get(replayHeader))
		require.NotNil(t, gone.JSON(t)["deleted_at"])
		require.Regexp(t, "^[A-Z]+-2$", w.create(200, w.Draft("next"))["friendly_id"])
	}, "translated_fields")
}

// TestLargeFieldsAreReplayed: a definition whose answer is kept as it is, and
// one that is shown again.
func TestLargeFieldsAreReplayed(t *testing.T) {
	d := it.NewClient(t)
	for _, text := range []string{"<", "\x01"} {
		body := object{"name": "F" + fmt.Sprint(text == "<"), "type": "dropdown", "module_id": "session", "options": longOptions(text)}
		first := d.Call(t, 200, "POST", d.EventPath("/fields/create"), stacktest.WithHeaders(body, it.KeyHeader, "k"+fmt.Sprint(text == "<")))
		again := d.Call(t, 200, "POST", d.EventPath("/fields/create"), stacktest.WithHeaders(body, it.KeyHeader, "k"+fmt.Sprint(text == "<")))
		require.Equal(t, "true", again.Header.Get(replayHeader))
		require.Equal(t, string(first.Body), string(again.Body))
		require.Equal(t, first.Header.Get("ETag"), again.Header.Get("ETag"))
	}
}

// TestWhatFailsABulkIsLogged once, under the request's id and with the status that a
// single write would have, and not kept under its key.
func TestWhatFailsABulkIsLogged(t *testing.T) {
	secret := errors.New("secret cause")
	for _, k := range it.Kinds {
		for status, cause := range map[float64]error{500: secret, 503: fmt.Errorf("%w: %w", secret, table.ErrBusy)} {
			client, log := &it.Failing{Cause: cause}, &stacktest.Log{}
			w := &kindClient{&it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log),
				stacktest.WithClient(func(c table.Client) table.Client { client.Client = c; return client })), T: t}, k}
			operations := append(w.news(2, "A"), it.Creating(object{}))
			client.On.Store(true)
			answer := w.bulkAnswer("k", operations, "X-Request-Id", "req-77")
			client.On.Store(false)
			require.NotContains(t, string(answer.Body), "secret")
			failure, code := entity(answer.JSON(t)).List("results")[0], map[float64]string{500: "INTERNAL_ERROR", 503: "SERVICE_UNAVAILABLE"}[status]
			if k.PlainErrors {
				require.Contains(t, failure["error"], map[float64]string{500: "unexpected", 503: "busy"}[status])
			} else {
				require.Equal(t, code, failure.At("error.code"))
			}
			requireLogged(t, log.String(), "secret cause", "req-77", status)
			again := w.bulkAnswer("k", operations)
			require.Empty(t, again.Header.Get(replayHeader), "done for the first time")
			require.Equal(t, "success", entity(again.JSON(t)).List("results")[0]["status"])
			require.Equal(t, 2, w.count())
		}
	}
}

// requireLogged checks that one line has the text, and the request's id and a status.
func requireLogged(t *testing.T, log, text, request string, status float64) {
	t.Helper()
	logged := 0
	for line := range strings.Lines(log) {
		fields := object{}
		require.NoError(t, json.Unmarshal([]byte(line), &fields))
		if strings.Contains(line, text) {
			require.Equal(t, request, fields["request_id"])
			require.Equal(t, status, fields["status"])
			logged++
		}
	}
	require.Equal(t, 1, logged, log)
}
