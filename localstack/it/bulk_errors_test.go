package it_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
)

func TestBulkShowsTheOptionsOfADropdown(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *workshop) {
		one := w.field("Size", "dropdown", object{"options": []string{"S", "M", `X"L`}})
		many := w.field("Colours", "dropdown", object{"options": []string{"red", "blue"}, "multiple": true, "scope": w.widest()})
		number := w.field("Count", "number")
		id := w.one("A")
		with := func(name string, value any) object { return object{"custom_fields": object{name: value}} }
		wrong := merged(w.new("x"), with(one, "XXL"))
		o := w.bulk(
			creating(wrong), updating(id, with(one, "L")), updating(id, with(one, 3)), updating(id, with(many, []string{"red", "green"})),
			updating(id, with(many, "red")), updating(id, with(number, "three")), updating(id, with("nothing", 1)),
			updating(id, with(one, strings.Repeat("x", 300))), updating(id, with(one, "M")),
		)
		sizes, colours := []any{"S", "M", `X"L`}, []any{"red", "blue"}
		for i, options := range [][]any{sizes, sizes, sizes, colours, colours, 7: sizes} {
			if options != nil {
				field := map[bool]string{true: many, false: one}[len(options) == 2]
				w.showsOptions(w.refuses(o, i, "TYPE_MISMATCH", field), options)
			}
		}
		require.NotContains(t, w.refuses(o, 5, "TYPE_MISMATCH", number), "valid_options")
		require.NotContains(t, w.refuses(o, 6, "FIELD_NOT_FOUND", "nothing"), "valid_options")
		require.Equal(t, "M", o.data(t, 8).list("custom_fields")[0]["value"])

		single := w.create(400, wrong)
		isRefused(t, single, "TYPE_MISMATCH", one)
		require.Contains(t, single["message"], `"M"`)
	})
}

// showsOptions checks that an error quotes each option, and lists them where errors
// are more than their message.
func (w *workshop) showsOptions(failure entity, options []any) {
	w.t.Helper()
	if !w.plain {
		require.Equal(w.t, options, failure["valid_options"])
	}
	for _, option := range options {
		require.Contains(w.t, strings.ReplaceAll(failure.text("message"), `\`, ""), `"`+option.(string)+`"`)
	}
}

// mistaken is an operation that is refused with the code and for the field.
type mistaken struct {
	operation   object
	code, field string
}

// failEach checks that each operation fails wherever it stands, alone.
func (w *workshop) failEach(id string, all []mistaken) {
	w.t.Helper()
	for _, c := range all {
		o := w.bulk(c.operation, updating(id, w.with("B")), c.operation)
		w.refuses(o, 0, c.code, c.field)
		require.Equal(w.t, "B", o.data(w.t, 1)[w.text])
		require.NotContains(w.t, w.refuses(o, 2, c.code, c.field), "valid_options")
		if c.operation["action"] == "create" {
			require.Nil(w.t, o.Results[0]["id"])
		}
	}
	require.Equal(w.t, 1, w.count())
}

func TestBulkRefusesEachEntryOnItsOwn(t *testing.T) {
	inEveryKind(t, func(_ *testing.T, w *workshop) {
		id, body := w.one("A"), w.new("x")
		with := func(more object) object { return creating(merged(body, more)) }
		w.failEach(id, []mistaken{
			{object{"action": "update", "data": body}, "VALIDATION_ERROR", "id"},
			{object{"action": "upsert", "data": body}, "VALIDATION_ERROR", "action"},
			{object{"action": "restore", "id": id}, "VALIDATION_ERROR", "action"},
			{object{"action": "", "id": id}, "VALIDATION_ERROR", "action"},
			{object{"action": "Delete", "id": id}, "VALIDATION_ERROR", "action"},
			{object{"action": "delete", "id": nil}, "VALIDATION_ERROR", "id"},
			{object{"action": "delete"}, "VALIDATION_ERROR", "id"},
			{object{"action": "delete", "id": "SESS-1"}, "VALIDATION_ERROR", "id"},
			{object{"action": "update", "id": id}, "VALIDATION_ERROR", "data"},
			{object{"action": "create"}, "VALIDATION_ERROR", "data"},
			{object{"action": "create", "data": nil}, "VALIDATION_ERROR", "data"},
			{creating(object{}), "VALIDATION_ERROR", w.needed},
			{with(object{w.needed: nil}), "VALIDATION_ERROR", w.needed},
			{with(object{w.needed: 1}), "VALIDATION_ERROR", w.needed},
			{with(object{w.text: strings.Repeat("x", 256)}), "VALIDATION_ERROR", w.text},
			{with(object{w.long: strings.Repeat("x", 64<<10+1)}), "VALIDATION_ERROR", w.long},
			{with(object{"translations": object{"de": w.with("y")}}), "FEATURE_NOT_ENABLED", ""},
			{with(object{"custom_fields": object{"nothing": 1}}), "FIELD_NOT_FOUND", "nothing"},
			{updating(id, object{w.needed: nil}), "VALIDATION_ERROR", w.needed},
			{updating(id, object{"updated_at": "2020-01-01T00:00:00Z"}), "STALE_UPDATE", ""},
			{updating(id, object{"updated_at": "yesterday"}), "VALIDATION_ERROR", "updated_at"},
			{updating(uuid.NewString(), w.with("x")), "NOT_FOUND", ""},
		})
	})
}

// TestBulkRefusesWhatIsWrongWithOneSession: the rules that only sessions have.
func TestBulkRefusesWhatIsWrongWithOneSession(t *testing.T) {
	d := newDesk(t)
	w := &workshop{d, recordKinds[0]}
	id := w.one("A")
	with := func(more object) object { return creating(merged(object{"title": "x"}, more)) }
	w.failEach(id, []mistaken{
		{with(object{"source": "admin"}), "VALIDATION_ERROR", "source"},
		{with(object{"is_abstract": true}), "FEATURE_NOT_ENABLED", ""},
		{with(object{"tag_ids": []string{id}}), "VALIDATION_ERROR", "tag_ids[0]"},
		{with(object{"participants": []object{{"contact_id": id, "core_role": "speaker"}}}), "VALIDATION_ERROR", "participants[0].contact_id"},
		{with(object{"sponsor_ids": []string{id}}), "VALIDATION_ERROR", "sponsor_ids[0]"},
		{with(object{"parent_session_id": d.elsewhere().titled("B")[0]}), "VALIDATION_ERROR", "parent_session_id"},
		{with(object{"starts_at": "2027-05-11T10:00:00Z", "ends_at": "2027-05-11T09:00:00Z"}), "VALIDATION_ERROR", "ends_at"},
		{updating(id, object{"is_abstract": true}), "VALIDATION_ERROR", "is_abstract"},
		{updating(id, object{"parent_session_id": id}), "VALIDATION_ERROR", "parent_session_id"},
		{updating(id, object{"status": "withdrawn"}), "VALIDATION_ERROR", "status"},
		{updating(id, object{"status": nil}), "VALIDATION_ERROR", "status"},
		{updating(id, object{"room_id": id}), "VALIDATION_ERROR", "room_id"},
	})
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
	inEveryKind(t, func(t *testing.T, w *workshop) {
		id := w.one("A")
		owned := w.connectorField("Badge", object{"module_id": w.module})
		o := w.bulk(
			updating(id, merged(w.with("B"), object{"custom_fields": object{owned: "x"}})),
			creating(merged(w.new("C"), object{"custom_fields": object{owned: nil}})),
			updating(id, object{w.long: "D"}),
		)
		w.refuses(o, 0, "FIELD_READ_ONLY", owned)
		w.refuses(o, 1, "FIELD_READ_ONLY", owned)
		require.Equal(t, "D", o.data(t, 2)[w.long])
		require.Equal(t, "A", w.get(200, id)[w.text])
		require.Equal(t, 1, w.count())
	})
}

// TestABadlyTypedEntryFailsAlone: the request is about the number of entries
// only, so what is no operation at all is one failure among the results too.
func TestABadlyTypedEntryFailsAlone(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *workshop) {
		id := w.one("A")
		for _, c := range []struct {
			entry             any
			action, id, field any
		}{
			{object{}, "", nil, "action"}, {object{"action": nil}, "", nil, "action"}, {object{"action": 1, "id": id}, "", nil, "action"},
			{object{"Action": "create", "data": w.new("x")}, "", nil, "action"},
			{object{"action": "delete", "id": 1}, "delete", nil, "id"}, {object{"action": "create", "id": []any{}, "data": w.new("x")}, "create", nil, "id"},
			{object{"action": "create", "data": "x"}, "create", nil, "data"}, {object{"action": "create", "data": []any{}}, "create", nil, "data"},
			{object{"action": "update", "id": id, "data": 1}, "update", id, "data"},
			{nil, "", nil, nil}, {"create", "", nil, nil}, {5, "", nil, nil}, {[]any{}, "", nil, nil}, {true, "", nil, nil},
		} {
			o := stacktest.Call[outcome](w.Stack, 200, http.MethodPost, w.EventPath(w.recordKind.bulk()),
				object{"operations": []any{updating(id, w.with("B")), c.entry, updating(id, w.with("C"))}})
			require.Equal(t, []int{3, 2, 1}, []int{o.Stats.Total, o.Stats.Succeeded, o.Stats.Failed})
			require.Equal(t, "C", o.data(t, 2)[w.text])
			field, _ := c.field.(string)
			w.refuses(o, 1, "VALIDATION_ERROR", field)
			require.Equal(t, c.action, o.Results[1]["action"])
			require.Equal(t, c.id, o.Results[1]["id"])
		}
		require.Equal(t, 1, w.count())
	})
}

// TestBulkQuotesEveryOption: in the message too, for as long as the answer as a
// whole can leave.
func TestBulkQuotesEveryOption(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *workshop) {
		options := make([]any, 1000)
		for i := range options {
			options[i] = fmt.Sprintf("%s %d", strings.Repeat("o", 55), i)
		}
		name := w.field("Size", "dropdown", object{"options": options})
		wrong := creating(merged(w.new("x"), object{"custom_fields": object{name: "none"}}))
		o := w.bulk(slices.Repeat([]object{wrong}, 100)...)
		w.showsOptions(w.refuses(o, 0, "TYPE_MISMATCH", name), options)
		last := w.refuses(o, 99, "TYPE_MISMATCH", name)
		require.NotContains(t, last, "valid_options")
		require.Less(t, len(last.text("message")), 3000)
		require.Contains(t, w.create(400, wrong["data"])["message"], fmt.Sprintf("%q", options[999]))
	})
}
