package it_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
)

func TestBulkShowsTheOptionsOfADropdown(t *testing.T) {
	d := newDesk(t)
	one := d.field("Size", "dropdown", object{"options": []string{"S", "M", `X"L`}})
	many := d.field("Colours", "dropdown", object{"options": []string{"red", "blue"}, "multiple": true})
	number := d.field("Count", "number")
	id := d.titled("A")[0]
	with := func(name string, value any) object { return object{"custom_fields": object{name: value}} }
	wrong := merged(with(one, "XXL"), object{"title": "x"})
	o := d.bulk(
		creating(wrong), updating(id, with(one, "L")), updating(id, with(one, 3)), updating(id, with(many, []string{"red", "green"})),
		updating(id, with(many, "red")), updating(id, with(number, "three")), updating(id, with("nothing", 1)),
		updating(id, with(one, strings.Repeat("x", 300))), updating(id, with(one, "M")),
	)
	for i, want := range []struct {
		field   string
		options []any
	}{
		{one, []any{"S", "M", `X"L`}}, {one, []any{"S", "M", `X"L`}}, {one, []any{"S", "M", `X"L`}},
		{many, []any{"red", "blue"}}, {many, []any{"red", "blue"}}, {number, nil},
	} {
		failure := o.failed(t, i, "TYPE_MISMATCH", want.field)
		if want.options == nil {
			require.NotContains(t, failure, "valid_options")
			continue
		}
		require.Equal(t, want.options, failure["valid_options"])
		for _, option := range want.options {
			require.Contains(t, strings.ReplaceAll(failure.text("message"), `\`, ""), `"`+option.(string)+`"`, "each option is quoted")
		}
	}
	require.NotContains(t, o.failed(t, 6, "FIELD_NOT_FOUND", "nothing"), "valid_options")
	require.Contains(t, o.failed(t, 7, "TYPE_MISMATCH", one), "valid_options")
	require.Equal(t, "M", o.data(t, 8).list("custom_fields")[0]["value"])

	single := d.create(400, wrong)
	isRefused(t, single, "TYPE_MISMATCH", one)
	require.Contains(t, single["message"], `"M"`)
	isRefused(t, d.fields(400, id, object{one: "L"}), "TYPE_MISMATCH", one)
}

func TestBulkRefusesEachEntryOnItsOwn(t *testing.T) {
	d := newDesk(t)
	id := d.create(200, object{"title": "A", "capacity": 1}).id()
	title := object{"title": "x"}
	for _, c := range []struct {
		operation   object
		code, field string
	}{
		{object{"action": "update", "data": title}, "VALIDATION_ERROR", "id"},
		{object{"action": "upsert", "data": title}, "VALIDATION_ERROR", "action"},
		{object{"action": "", "id": id}, "VALIDATION_ERROR", "action"},
		{object{"action": "Delete", "id": id}, "VALIDATION_ERROR", "action"},
		{object{"action": "delete", "id": nil}, "VALIDATION_ERROR", "id"},
		{object{"action": "create", "data": nil}, "VALIDATION_ERROR", "data"},
		{creating(object{"title": "x", "source": "admin"}), "VALIDATION_ERROR", "source"},
		{object{"action": "delete"}, "VALIDATION_ERROR", "id"},
		{object{"action": "delete", "id": "SESS-1"}, "VALIDATION_ERROR", "id"},
		{object{"action": "update", "id": id}, "VALIDATION_ERROR", "data"},
		{object{"action": "create"}, "VALIDATION_ERROR", "data"},
		{creating(object{}), "VALIDATION_ERROR", "title"},
		{creating(object{"title": nil}), "VALIDATION_ERROR", "title"},
		{creating(object{"title": 1}), "VALIDATION_ERROR", "title"},
		{creating(object{"title": strings.Repeat("x", 256)}), "VALIDATION_ERROR", "title"},
		{creating(object{"title": "x", "is_abstract": true}), "FEATURE_NOT_ENABLED", ""},
		{creating(object{"title": "x", "translations": object{"de": object{"title": "y"}}}), "FEATURE_NOT_ENABLED", ""},
		{creating(object{"title": "x", "tag_ids": []string{id}}), "VALIDATION_ERROR", "tag_ids[0]"},
		{creating(object{"title": "x", "participants": []object{{"contact_id": id, "core_role": "speaker"}}}), "VALIDATION_ERROR", "participants[0].contact_id"},
		{creating(object{"title": "x", "sponsor_ids": []string{id}}), "VALIDATION_ERROR", "sponsor_ids[0]"},
		{creating(object{"title": "x", "parent_session_id": d.elsewhere().titled("B")[0]}), "VALIDATION_ERROR", "parent_session_id"},
		{creating(object{"title": "x", "custom_fields": object{"nothing": 1}}), "FIELD_NOT_FOUND", "nothing"},
		{creating(object{"title": "x", "starts_at": "2027-05-11T10:00:00Z", "ends_at": "2027-05-11T09:00:00Z"}), "VALIDATION_ERROR", "ends_at"},
		{creating(object{"title": "x", "description": strings.Repeat("x", 64<<10+1)}), "VALIDATION_ERROR", "description"},
		{updating(id, object{"is_abstract": true}), "VALIDATION_ERROR", "is_abstract"},
		{updating(id, object{"parent_session_id": id}), "VALIDATION_ERROR", "parent_session_id"},
		{updating(id, object{"updated_at": "2020-01-01T00:00:00Z"}), "STALE_UPDATE", ""},
		{updating(id, object{"updated_at": "yesterday"}), "VALIDATION_ERROR", "updated_at"},
		{updating(id, object{"status": "withdrawn"}), "VALIDATION_ERROR", "status"},
		{updating(id, object{"status": nil}), "VALIDATION_ERROR", "status"},
		{updating(id, object{"room_id": id}), "VALIDATION_ERROR", "room_id"},
	} {
		o := d.bulk(c.operation, updating(id, object{"capacity": 2}), c.operation)
		o.failed(t, 0, c.code, c.field)
		o.data(t, 1)
		failure := o.failed(t, 2, c.code, c.field)
		require.NotContains(t, failure, "valid_options")
		if c.operation["action"] == "create" {
			require.Nil(t, o.Results[0]["id"])
		}
	}
	require.Equal(t, []string{id}, texts(d.search(object{}).Results, "id"))
}

func TestBulkCreatesUnderFeatures(t *testing.T) {
	d := newDesk(t, "sessions_2_0", "translated_fields")
	o := d.bulk(
		creating(object{"title": "x", "is_abstract": true}),
		creating(object{"title": "x", "translations": object{"de": object{"title": "y"}}}),
	)
	require.Equal(t, true, o.data(t, 0)["is_abstract"])
	o.data(t, 1)
	o = d.bulk(updating(o.data(t, 0).id(), object{"is_abstract": false}), updating(o.data(t, 0).id(), object{"is_abstract": true}))
	o.failed(t, 0, "VALIDATION_ERROR", "is_abstract")
}

func TestBulkReadOnlyFieldWritesNothingOfItsEntry(t *testing.T) {
	d := newDesk(t)
	id := d.titled("A")[0]
	owned := d.connectorField("Badge")
	o := d.bulk(
		updating(id, object{"title": "B", "custom_fields": object{owned: "x"}}),
		creating(object{"title": "C", "custom_fields": object{owned: nil}}),
		updating(id, object{"capacity": 1}),
	)
	o.failed(t, 0, "FIELD_READ_ONLY", owned)
	o.failed(t, 1, "FIELD_READ_ONLY", owned)
	o.data(t, 2)
	require.Equal(t, "A", d.get(200, id)["title"])
	require.Equal(t, 1, d.search(object{}).Pagination.TotalResults)
}

// TestABadlyTypedEntryFailsAlone: the request is about the number of entries
// only, so what is no operation at all is one failure among the results too.
func TestABadlyTypedEntryFailsAlone(t *testing.T) {
	d := newDesk(t)
	id := d.titled("A")[0]
	for _, c := range []struct {
		entry             any
		action, id, field any
	}{
		{object{}, "", nil, "action"}, {object{"action": nil}, "", nil, "action"}, {object{"action": 1, "id": id}, "", nil, "action"},
		{object{"Action": "create", "data": object{"title": "x"}}, "", nil, "action"},
		{object{"action": "delete", "id": 1}, "delete", nil, "id"}, {object{"action": "create", "id": []any{}, "data": object{"title": "x"}}, "create", nil, "id"},
		{object{"action": "create", "data": "x"}, "create", nil, "data"}, {object{"action": "create", "data": []any{}}, "create", nil, "data"},
		{object{"action": "update", "id": id, "data": 1}, "update", id, "data"},
		{nil, "", nil, nil}, {"create", "", nil, nil}, {5, "", nil, nil}, {[]any{}, "", nil, nil}, {true, "", nil, nil},
	} {
		o := stacktest.Call[outcome](d.Stack, 200, http.MethodPost, d.EventPath("/sessions/bulk"),
			object{"operations": []any{updating(id, object{"capacity": 2}), c.entry, updating(id, object{"capacity": 3})}})
		require.Equal(t, []int{3, 2, 1}, []int{o.Stats.Total, o.Stats.Succeeded, o.Stats.Failed})
		require.EqualValues(t, 3, o.data(t, 2)["capacity"])
		field, _ := c.field.(string)
		o.failed(t, 1, "VALIDATION_ERROR", field)
		require.Equal(t, c.action, o.Results[1]["action"])
		require.Equal(t, c.id, o.Results[1]["id"])
	}
	require.Equal(t, []string{id}, texts(d.search(object{}).Results, "id"))
}

// TestBulkQuotesEveryOption: in the message too, for as long as the answer as a
// whole can leave.
func TestBulkQuotesEveryOption(t *testing.T) {
	d := newDesk(t)
	options := make([]string, 1000)
	for i := range options {
		options[i] = fmt.Sprintf("%s %d", strings.Repeat("o", 55), i)
	}
	name := d.field("Size", "dropdown", object{"options": options})
	wrong := creating(object{"title": "x", "custom_fields": object{name: "none"}})
	o := d.bulk(slices.Repeat([]object{wrong}, 100)...)
	first := o.failed(t, 0, "TYPE_MISMATCH", name)
	for _, option := range options {
		require.Contains(t, first["message"], `"`+option+`"`)
	}
	require.Len(t, first["valid_options"], len(options))
	last := o.failed(t, 99, "TYPE_MISMATCH", name)
	require.NotContains(t, last, "valid_options")
	require.Less(t, len(last.text("message")), 3000)
	require.Contains(t, d.create(400, wrong["data"])["message"], `"`+options[999]+`"`)
}
