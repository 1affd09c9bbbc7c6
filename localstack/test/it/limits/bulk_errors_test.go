package limits_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

func TestBulkShowsTheOptionsOfADropdown(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		one := w.field("Size", "dropdown", object{"options": []string{"S", "M", `X"L`}})
		many := w.field("Colours", "dropdown", object{"options": []string{"red", "blue"}, "multiple": true, "scope": w.widest()})
		number := w.field("Count", "number")
		id := w.one("A")
		with := func(name string, value any) object { return object{"custom_fields": object{name: value}} }
		wrong := it.Merged(w.Draft("x"), with(one, "XXL"))
		o := w.bulk(
			it.Creating(wrong), it.Updating(id, with(one, "L")), it.Updating(id, with(one, 3)), it.Updating(id, with(many, []string{"red", "green"})),
			it.Updating(id, with(many, "red")), it.Updating(id, with(number, "three")), it.Updating(id, with("nothing", 1)),
			it.Updating(id, with(one, strings.Repeat("x", 300))), it.Updating(id, with(one, "M")),
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
		require.Equal(t, "M", o.Data(t, 8).List("custom_fields")[0]["value"])

		single := w.create(400, wrong)
		it.RequireError(t, single, "TYPE_MISMATCH", one)
		require.Contains(t, single["message"], `"M"`)
	})
}

// showsOptions checks that an error quotes each option, and lists them where errors
// are more than their message.
func (w *kindClient) showsOptions(failure entity, options []any) {
	w.T.Helper()
	if !w.PlainErrors {
		require.Equal(w.T, options, failure["valid_options"])
	}
	for _, option := range options {
		require.Contains(w.T, strings.ReplaceAll(failure.Text("message"), `\`, ""), `"`+option.(string)+`"`)
	}
}

// mistaken is an operation that is refused with the code and for the field.
type mistaken struct {
	operation   object
	code, field string
}

// failEach checks that each operation fails wherever it stands, alone.
func (w *kindClient) failEach(id string, all []mistaken) {
	w.T.Helper()
	for _, c := range all {
		o := w.bulk(c.operation, it.Updating(id, w.WithText("B")), c.operation)
		w.refuses(o, 0, c.code, c.field)
		require.Equal(w.T, "B", o.Data(w.T, 1)[w.TextField])
		require.NotContains(w.T, w.refuses(o, 2, c.code, c.field), "valid_options")
		if c.operation["action"] == "create" {
			require.Nil(w.T, o.Results[0]["id"])
		}
	}
	require.Equal(w.T, 1, w.count())
}

func TestBulkRefusesEachEntryOnItsOwn(t *testing.T) {
	inEveryKind(t, func(_ *testing.T, w *kindClient) {
		id, body := w.one("A"), w.Draft("x")
		with := func(more object) object { return it.Creating(it.Merged(body, more)) }
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
			{it.Creating(object{}), "VALIDATION_ERROR", w.RequiredField},
			{with(object{w.RequiredField: nil}), "VALIDATION_ERROR", w.RequiredField},
			{with(object{w.RequiredField: 1}), "VALIDATION_ERROR", w.RequiredField},
			{with(object{w.TextField: strings.Repeat("x", 256)}), "VALIDATION_ERROR", w.TextField},
			{with(object{w.LongField: strings.Repeat("x", 64<<10+1)}), "VALIDATION_ERROR", w.LongField},
			{with(object{"translations": object{"de": w.WithText("y")}}), "FEATURE_NOT_ENABLED", ""},
			{with(object{"custom_fields": object{"nothing": 1}}), "FIELD_NOT_FOUND", "nothing"},
			{it.Updating(id, object{w.RequiredField: nil}), "VALIDATION_ERROR", w.RequiredField},
			{it.Updating(id, object{"updated_at": "2020-01-01T00:00:00Z"}), "STALE_UPDATE", ""},
			{it.Updating(id, object{"updated_at": "yesterday"}), "VALIDATION_ERROR", "updated_at"},
			{it.Updating(uuid.NewString(), w.WithText("x")), "NOT_FOUND", ""},
		})
	})
}

// TestBulkRefusesWhatIsWrongWithOneSession: the rules that only sessions have.
func TestBulkRefusesWhatIsWrongWithOneSession(t *testing.T) {
	d := it.NewClient(t)
	w := &kindClient{d, it.Kinds[0]}
	id := w.one("A")
	with := func(more object) object { return it.Creating(it.Merged(object{"title": "x"}, more)) }
	w.failEach(id, []mistaken{
		{with(object{"source": "admin"}), "VALIDATION_ERROR", "source"},
		{with(object{"is_abstract": true}), "FEATURE_NOT_ENABLED", ""},
		{with(object{"tag_ids": []string{id}}), "VALIDATION_ERROR", "tag_ids[0]"},
		{with(object{"participants": []object{{"contact_id": id, "core_role": "speaker"}}}), "VALIDATION_ERROR", "participants[0].contact_id"},
		{with(object{"sponsor_ids": []string{id}}), "VALIDATION_ERROR", "sponsor_ids[0]"},
		{with(object{"parent_session_id": d.InNewEvent().NewSessions("B")[0]}), "VALIDATION_ERROR", "parent_session_id"},
		{with(object{"starts_at": "2027-05-11T10:00:00Z", "ends_at": "2027-05-11T09:00:00Z"}), "VALIDATION_ERROR", "ends_at"},
		{it.Updating(id, object{"is_abstract": true}), "VALIDATION_ERROR", "is_abstract"},
		{it.Updating(id, object{"parent_session_id": id}), "VALIDATION_ERROR", "parent_session_id"},
		{it.Updating(id, object{"status": "withdrawn"}), "VALIDATION_ERROR", "status"},
		{it.Updating(id, object{"status": nil}), "VALIDATION_ERROR", "status"},
		{it.Updating(id, object{"room_id": id}), "VALIDATION_ERROR", "room_id"},
	})
}

func TestBulkCreatesUnderFeatures(t *testing.T) {
	d := it.NewClient(t, "sessions_2_0", "translated_fields")
	o := d.Bulk(
		it.Creating(object{"title": "x", "is_abstract": true}),
		it.Creating(object{"title": "x", "translations": object{"de": object{"title": "y"}}}),
	)
	require.Equal(t, true, o.Data(t, 0)["is_abstract"])
	o.Data(t, 1)
	o = d.Bulk(it.Updating(o.Data(t, 0).ID(), object{"is_abstract": false}), it.Updating(o.Data(t, 0).ID(), object{"is_abstract": true}))
	o.Failed(t, 0, "VALIDATION_ERROR", "is_abstract")
}

func TestBulkReadOnlyFieldWritesNothingOfItsEntry(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		id := w.one("A")
		owned := w.NewConnectorField("Badge", object{"module_id": w.Module})
		o := w.bulk(
			it.Updating(id, it.Merged(w.WithText("B"), object{"custom_fields": object{owned: "x"}})),
			it.Creating(it.Merged(w.Draft("C"), object{"custom_fields": object{owned: nil}})),
			it.Updating(id, object{w.LongField: "D"}),
		)
		w.refuses(o, 0, "FIELD_READ_ONLY", owned)
		w.refuses(o, 1, "FIELD_READ_ONLY", owned)
		require.Equal(t, "D", o.Data(t, 2)[w.LongField])
		require.Equal(t, "A", w.get(200, id)[w.TextField])
		require.Equal(t, 1, w.count())
	})
}

// TestABadlyTypedEntryFailsAlone: the request is about the number of entries
// only, so what is no operation at all is one failure among the results too.
func TestABadlyTypedEntryFailsAlone(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		id := w.one("A")
		for _, c := range []struct {
			entry             any
			action, id, field any
		}{
			{object{}, "", nil, "action"}, {object{"action": nil}, "", nil, "action"}, {object{"action": 1, "id": id}, "", nil, "action"},
			{object{"Action": "create", "data": w.Draft("x")}, "", nil, "action"},
			{object{"action": "delete", "id": 1}, "delete", nil, "id"}, {object{"action": "create", "id": []any{}, "data": w.Draft("x")}, "create", nil, "id"},
			{object{"action": "create", "data": "x"}, "create", nil, "data"}, {object{"action": "create", "data": []any{}}, "create", nil, "data"},
			{object{"action": "update", "id": id, "data": 1}, "update", id, "data"},
			{nil, "", nil, nil}, {"create", "", nil, nil}, {5, "", nil, nil}, {[]any{}, "", nil, nil}, {true, "", nil, nil},
		} {
			o := stacktest.Call[it.BulkAnswer](w.Stack, 200, http.MethodPost, w.EventPath(w.BulkPath()),
				object{"operations": []any{it.Updating(id, w.WithText("B")), c.entry, it.Updating(id, w.WithText("C"))}})
			require.Equal(t, []int{3, 2, 1}, []int{o.Stats.Total, o.Stats.Succeeded, o.Stats.Failed})
			require.Equal(t, "C", o.Data(t, 2)[w.TextField])
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
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		options := make([]any, 1000)
		for i := range options {
			options[i] = fmt.Sprintf("%s %d", strings.Repeat("o", 55), i)
		}
		name := w.field("Size", "dropdown", object{"options": options})
		wrong := it.Creating(it.Merged(w.Draft("x"), object{"custom_fields": object{name: "none"}}))
		o := w.bulk(slices.Repeat([]object{wrong}, 100)...)
		w.showsOptions(w.refuses(o, 0, "TYPE_MISMATCH", name), options)
		last := w.refuses(o, 99, "TYPE_MISMATCH", name)
		require.NotContains(t, last, "valid_options")
		require.Less(t, len(last.Text("message")), 3000)
		require.Contains(t, w.create(400, wrong["data"])["message"], fmt.Sprintf("%q", options[999]))
	})
}
