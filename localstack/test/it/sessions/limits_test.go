package sessions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func TestTextsUpToTheirLimits(t *testing.T) {
	d := it.NewClient(t)
	id := d.NewSessions("A")[0]
	for name, c := range map[string]struct{ most, over string }{
		"title":             {strings.Repeat("é", 255), strings.Repeat("é", 256)},
		"description":       {strings.Repeat("x", 64<<10), strings.Repeat("x", 64<<10+1)},
		"client_session_id": {strings.Repeat("é", 255), strings.Repeat("é", 256)},
		"external_url":      {"https://example.org/" + strings.Repeat("x", 2028), "https://example.org/" + strings.Repeat("x", 2029)},
	} {
		require.Equal(t, c.most, d.Put(200, id, object{name: c.most})[name], name)
		require.Equal(t, c.most, d.Create(200, it.Merged(object{"title": "B"}, object{name: c.most}))[name], name)
		it.RequireInvalid(t, d.Put(400, id, object{name: c.over}), name)
		it.RequireInvalid(t, d.Create(400, it.Merged(object{"title": "B"}, object{name: c.over})), name)
	}
	it.RequireInvalid(t, d.Put(400, id, object{"description": strings.Repeat("é", 32<<10+1)}), "description")
	for _, blank := range []any{"", " ", "\t\n", nil} {
		it.RequireInvalid(t, d.Put(400, id, object{"title": blank}), "title")
		it.RequireInvalid(t, d.Create(400, object{"title": blank}), "title")
	}
}

func TestNumbersUpToTheirLimits(t *testing.T) {
	d := it.NewClient(t)
	id := d.NewSessions("A")[0]
	for name, good := range map[string][]float64{"capacity": {0, 1, 100_000}, "ceu_credits": {0, 0.1, 10_000}} {
		for _, value := range good {
			require.Equal(t, value, d.Put(200, id, object{name: value})[name])
		}
		for _, value := range []float64{-1, 100_001, 1e300} {
			it.RequireInvalid(t, d.Put(400, id, object{name: value}), name)
		}
	}
	require.Equal(t, 1191.0, d.Put(200, id, `{"capacity": 1191.0}`)["capacity"], "an integer in JSON")
	require.Equal(t, 1200.0, d.Put(200, id, `{"capacity": 1.2e3}`)["capacity"])
}

func TestARecordOfAtMost150KB(t *testing.T) {
	d := it.NewClient(t)
	fields := object{}
	for i := range 3 {
		fields[d.NewField(fmt.Sprint("Note ", i), "wysiwyg")] = strings.Repeat("x", 60_000)
	}
	it.RequireInvalid(t, d.Create(400, object{"title": "A", "custom_fields": fields}), "")
	made := d.NewSessions("A")[0]
	it.RequireInvalid(t, d.Put(400, made, object{"custom_fields": fields}), "")
	for name := range fields {
		fields[name] = nil
		break
	}
	d.Put(200, made, object{"custom_fields": fields})
	refusal := d.Put(400, made, object{"description": strings.Repeat("y", 40_000)})
	it.RequireInvalid(t, refusal, "")
	require.NotContains(t, refusal, "details", "the record has no field")
	require.Nil(t, d.Get(200, made)["description"])
	stale := object{"description": strings.Repeat("y", 40_000), "updated_at": "2020-01-01T00:00:00Z"}
	it.RequireInvalid(t, d.Put(400, made, stale), "")
	o := d.Bulk(it.Updating(made, object{"description": strings.Repeat("y", 40_000)}), it.Updating(made, object{"capacity": 1}))
	o.Failed(t, 0, "VALIDATION_ERROR", "")
	o.Data(t, 1)
}

func TestTimes(t *testing.T) {
	d := it.NewClient(t)
	made := d.Create(200, object{"title": "A", "starts_at": "2027-05-11T10:00:00Z", "ends_at": "2027-05-11T10:00:00+00:00"})
	require.Equal(t, made["starts_at"], made["ends_at"], "it may end as it starts")
	id := made.ID()
	it.RequireInvalid(t, d.Put(400, id, object{"ends_at": "2027-05-11T09:59:59.999Z"}), "ends_at")
	it.RequireInvalid(t, d.Put(400, id, object{"starts_at": "2027-05-11T10:00:00.001Z"}), "starts_at")
	it.RequireInvalid(t, d.Put(400, id, object{"starts_at": "2027-05-11T12:00:00Z", "ends_at": "2027-05-11T13:00:00+02:00"}), "ends_at")
	it.RequireInvalid(t, d.Create(400, object{"title": "A", "starts_at": "2027-05-11T10:00:00Z", "ends_at": "2026-05-11T10:00:00Z"}), "ends_at")
	moved := d.Put(200, id, object{"starts_at": "2027-05-12T12:00:00Z", "ends_at": "2027-05-12T13:00:00Z"})
	require.Equal(t, "2027-05-12T12:00:00.000Z", moved["starts_at"])
	require.Nil(t, d.Put(200, id, object{"starts_at": nil})["starts_at"])
	require.Equal(t, "2020-01-01T00:00:00.000Z", d.Put(200, id, object{"ends_at": "2020-01-01T00:00:00Z"})["ends_at"])
	it.RequireInvalid(t, d.Put(400, id, object{"starts_at": "2020-01-01T00:00:01Z"}), "starts_at")
	require.Equal(t, "2019-12-31T23:59:59.999Z", d.Put(200, id, object{"starts_at": "2019-12-31T23:59:59.9999Z"})["starts_at"], "milliseconds")
	require.Equal(t, "2019-12-31T12:00:00.000Z", d.Put(200, id, object{"starts_at": "2019-12-31t12:00:00z"})["starts_at"])
}
