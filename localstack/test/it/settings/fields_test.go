package settings_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

const fieldShape = "contains_pii createdAt field_source field_type id internal_name module_id multiple options public_name scope updatedAt"

// types are those a field can have.
var types = []string{
	"text", "textarea", "wysiwyg", "dropdown", "checkbox", "date", "datetime", "number", "currency", "email", "phone",
	"file", "countries", "languages", "user",
}

// owned makes a field of sessions that a connector owns and gives its id.
func owned(d *it.Client, name string) string {
	d.T.Helper()
	id, _ := d.Operator(d.T, "connector-field-create", object{
		"org_id": d.Org, "event_id": d.Event, "name": name, "type": "text", "module_id": "session", "source": "salesforce",
	})["id"].(string)
	require.NotEmpty(d.T, id)
	return id
}

func TestFieldsOfEveryType(t *testing.T) {
	stacktest.Everywhere(t)
	d := it.NewClient(t)
	for _, kind := range types {
		made := d.DefineField(200, object{"name": "The " + kind, "type": kind})
		require.Equal(t, fieldShape, it.KeysOf(made))
		require.Equal(t, object{
			"internal_name": "the_" + kind, "public_name": "The " + kind, "field_type": kind, "field_source": "custom",
			"contains_pii": false, "scope": "event", "module_id": "session", "multiple": false, "options": []any{},
		}, it.Pick(made, "internal_name", "public_name", "field_type", "field_source", "contains_pii", "scope", "module_id", "multiple", "options"))
		require.Equal(t, made["createdAt"], made["updatedAt"])
		require.Equal(t, made, it.ByID(t, d.ListSettings("/fields"), made.ID()))
	}
	custom := d.SearchSettings("/fields", object{"filters": object{"source": "custom"}})
	require.Len(t, custom.Results, len(types))
	require.True(t, strings.HasSuffix(custom.Results[0].Text("internal_name"), "_text"), "oldest first")
}

func TestWhatAFieldTakes(t *testing.T) {
	d := it.NewClient(t)
	for field, bodies := range map[string][]object{
		"name": {
			{"name": nil}, {"name": ""}, {"name": "  "}, {"name": "!?"}, {"name": 5}, {"name": strings.Repeat("x", 256)},
		},
		"type":         {{"type": nil}, {"type": "url"}, {"type": "Text"}, {"type": 1}},
		"module_id":    {{"module_id": nil}, {"module_id": "event"}, {"module_id": "metadata"}},
		"scope":        {{"scope": "organization"}, {"scope": nil}, {"scope": "global"}},
		"options":      {{"options": []string{"A"}}, {"options": "A", "type": "dropdown"}, {"options": nil, "type": "dropdown"}},
		"options[1]":   {{"type": "dropdown", "options": []string{"A", "A"}}, {"type": "dropdown", "options": []any{"A", 1}}},
		"options[0]":   {{"type": "dropdown", "options": []string{""}}, {"type": "dropdown", "options": []string{strings.Repeat("x", 256)}}},
		"multiple":     {{"multiple": true}, {"multiple": "yes"}, {"type": "number", "multiple": true}},
		"contains_pii": {{"contains_pii": 1}, {"contains_pii": nil}},
	} {
		for _, body := range bodies {
			it.RequireInvalid(t, d.DefineField(400, body), field)
		}
	}
	long := make([]string, 300)
	for i := range long {
		long[i] = strings.Repeat("x", 245) + uuid.NewString()[:8]
	}
	it.RequireInvalid(t, d.DefineField(400, object{"type": "dropdown", "options": long}), "options")
	it.RequireInvalid(t, d.Do(400, http.MethodPost, "/fields/create", object{}), "name")
	require.Empty(t, d.SearchSettings("/fields", object{"filters": object{"source": "custom"}}).Results)

	d.DefineField(200, object{"name": "Choices", "type": "dropdown", "options": []string{"A", "B"}, "multiple": true, "contains_pii": true, "unknown": 1})
	d.DefineField(200, object{"name": "Lands", "type": "countries", "multiple": true})
}

func TestInternalNames(t *testing.T) {
	d := it.NewClient(t)
	for name, internal := range map[string]string{
		"Skill level (1-5)": "skill_level_1_5", "  Été à l'école ": "été_à_l_école", "Org chart": "field_org_chart", "日本語": "日本語",
	} {
		require.Equal(t, internal, d.DefineField(200, object{"name": name})["internal_name"])
	}
	it.RequireError(t, d.DefineField(409, object{"name": "SKILL level: 1, 5"}), "DUPLICATE_INTERNAL_NAME", "name")
	it.RequireError(t, d.DefineField(409, object{"name": "Title"}), "DUPLICATE_INTERNAL_NAME", "name")
	// Another module, another event, and the organization have names of their own.
	d.DefineField(200, object{"name": "Skill level 1 5", "module_id": "contact"})
	d.InNewEvent().DefineField(200, object{"name": "Skill level 1 5"})
	global := d.DefineField(200, object{"name": "Skill level 1 5", "module_id": "contact", "scope": "global"})
	require.Equal(t, "org_skill_level_1_5", global["internal_name"])
	it.RequireError(t, d.InNewEvent().DefineField(409, object{"name": "Skill level 1 5", "module_id": "contact", "scope": "global"}), "DUPLICATE_INTERNAL_NAME", "name")

	made := d.DefineField(200, object{"name": "Reused"})
	d.Do(200, http.MethodDelete, "/fields/"+made.ID(), nil)
	require.NotEqual(t, made.ID(), d.DefineField(200, object{"name": "Reused"}).ID())
}

func TestAFieldIsChanged(t *testing.T) {
	d := it.NewClient(t)
	made := d.DefineField(200, object{"name": "Track", "type": "dropdown", "options": []string{"A", "B"}})
	path := "/fields/" + made.ID()
	changed := d.Do(200, http.MethodPut, path, object{"name": "Main track", "options": []string{"B", "C"}, "contains_pii": true, "updatedAt": made["updatedAt"]})
	require.Equal(t, fieldShape, it.KeysOf(changed))
	require.Equal(t, object{"public_name": "Main track", "internal_name": "track", "options": []any{"B", "C"}, "contains_pii": true, "createdAt": made["createdAt"]},
		it.Pick(changed, "public_name", "internal_name", "options", "contains_pii", "createdAt"))
	require.Greater(t, changed.Text("updatedAt"), made.Text("updatedAt"))
	require.Equal(t, changed, it.ByID(t, d.ListSettings("/fields"), made.ID()))

	// What never changes may be sent as it is.
	d.Do(200, http.MethodPut, path, object{"type": "dropdown", "module_id": "session", "scope": "event", "internal_name": "track", "multiple": false})
	for field, other := range map[string]any{"type": "text", "module_id": "contact", "scope": "global", "internal_name": "other", "multiple": true} {
		it.RequireInvalid(t, d.Do(400, http.MethodPut, path, object{field: other}), field)
	}
	for field, bad := range map[string]any{"name": "", "options": "A", "contains_pii": "no", "type": nil} {
		it.RequireInvalid(t, d.Do(400, http.MethodPut, path, object{field: bad}), field)
	}
	it.RequireInvalid(t, d.Do(400, http.MethodPut, "/fields/"+d.DefineField(200, object{"name": "Note"}).ID(), object{"options": []string{"A"}}), "options")

	for _, name := range []string{"updated_at", "updatedAt"} {
		stale := d.Do(409, http.MethodPut, path, object{"name": "Late", name: made["updatedAt"]})
		require.Equal(t, "STALE_UPDATE", stale["code"])
		require.NotEmpty(t, stale.At("details.updated_at"))
	}
	etag := d.Call(t, 200, http.MethodPut, d.EventPath(path), object{}).Header.Get("ETag")
	d.Do(200, http.MethodPut, path, object{"name": "Again"}, "If-Match", etag)
	d.Do(409, http.MethodPut, path, object{"name": "Late"}, "If-Match", etag)
	d.Do(409, http.MethodDelete, path, nil, "If-Match", etag)

	require.Equal(t, entity{"id": made.ID()}, d.Do(200, http.MethodDelete, path, nil))
	for _, gone := range []string{made.ID(), uuid.NewString()} {
		require.Equal(t, "Field not found", d.Do(404, http.MethodPut, "/fields/"+gone, object{})["message"])
		d.Do(404, http.MethodDelete, "/fields/"+gone, nil)
	}
	it.RequireInvalid(t, d.Do(400, http.MethodDelete, "/fields/7", nil), "fieldId")
	d.InNewEvent().Do(404, http.MethodPut, "/fields/"+d.DefineField(200, object{"name": "Here"}).ID(), object{})
}

func TestAFieldIsChangedUnderTheNamesItIsReadWith(t *testing.T) {
	d := it.NewClient(t)
	made := d.DefineField(200, object{"name": "Note"})
	path := "/fields/" + made.ID()
	again := d.Do(200, http.MethodPut, path, made)
	again["public_name"] = "Remark"
	changed := d.Do(200, http.MethodPut, path, again)
	require.Equal(t, "Remark", changed["public_name"])
	require.Equal(t, "Comment", d.Do(200, http.MethodPut, path, object{"name": "Comment", "public_name": "Comment", "field_type": "text"})["public_name"])
	it.RequireInvalid(t, d.Do(400, http.MethodPut, path, object{"name": "A", "public_name": "B"}), "public_name")
	it.RequireInvalid(t, d.Do(400, http.MethodPut, path, object{"public_name": ""}), "public_name")
	it.RequireInvalid(t, d.Do(400, http.MethodPut, path, object{"field_type": "number"}), "field_type")
	require.Equal(t, "Comment", it.ByID(t, d.ListSettings("/fields"), made.ID())["public_name"])
}

func TestFieldsTakeAnExpansion(t *testing.T) {
	d := it.NewClient(t)
	d.DefineField(200, object{"name": "Note"})
	require.Len(t, d.ListSettings("/fields?expand=translated_fields"), len(d.ListSettings("/fields")))
	it.RequireInvalid(t, d.Do(400, http.MethodGet, "/fields?expand=translated_fields,composition", nil), "expand")
	d.Do(200, http.MethodPost, "/fields", object{"expand": []string{"translated_fields"}})
	it.RequireInvalid(t, d.Do(400, http.MethodPost, "/fields", object{"expand": []string{"composition"}}), "expand[0]")
}

func TestANumberThatWouldBeRoundedIsRefused(t *testing.T) {
	d := it.NewClient(t)
	d.NewField("Price", "currency")
	body := func(number string) string { return `{"title":"Talk","custom_fields":{"price":` + number + `}}` }
	for _, whole := range []string{
		"9007199254740993", "-9007199254740993", "99999999999999999999", "9007199254740993.0", "9007199254740993000e-3",
		"900719925474099.3E+1", "10000000000000001", "12345678901234567890",
	} {
		refused := d.Create(400, body(whole))
		it.RequireInvalid(t, refused, "price")
		require.NotContains(t, refused["message"], "integer")
	}
	for _, number := range []string{
		"9007199254740992", "-9007199254740994", "1e300", "1e23", "0.1", "0.10000000000000000001", "1e-400", "0e999999999999", "1e16",
		"10000000000000000", "10000000000000000.00", "1" + strings.Repeat("0", 300), "9223372036854775808", "9223372036854776000",
	} {
		talk := d.Create(200, body(number))
		require.Len(t, talk.List("custom_fields"), 1, number)
		read, err := json.Marshal(talk.List("custom_fields")[0]["value"])
		require.NoError(t, err)
		require.Equal(t, it.Column(talk.List("custom_fields"), "value"), it.Column(d.Create(200, body(string(read))).List("custom_fields"), "value"))
	}
}

// TestAMalformedIfMatchIsRefusedFirst: it could be of no record, so it is not
// looked whether there is one.
func TestAMalformedIfMatchIsRefusedFirst(t *testing.T) {
	d := it.NewClient(t)
	for _, path := range []string{"/fields/", "/rooms/", "/statuses/"} {
		for _, method := range []string{http.MethodPut, http.MethodDelete} {
			it.RequireInvalid(t, d.Do(400, method, path+uuid.NewString(), object{"name": "A"}, "If-Match", "7"), "If-Match")
		}
	}
}

func TestStandardFieldsCannotChange(t *testing.T) {
	d := it.NewClient(t)
	all := d.ListSettings("/fields")
	require.NotEmpty(t, all)
	for _, f := range all {
		require.Equal(t, fieldShape, it.KeysOf(f))
		require.Equal(t, "standard", f["field_source"])
	}
	it.RequireError(t, d.Do(409, http.MethodPut, "/fields/"+all[0].ID(), object{"name": "Other"}), "BUILT_IN", "")
	it.RequireError(t, d.Do(409, http.MethodDelete, "/fields/"+all[0].ID(), nil), "BUILT_IN", "")
}

func TestFieldsOwnedByAConnector(t *testing.T) {
	d := it.NewClient(t)
	owned := owned(d, "CRM id")
	shown := it.ByID(t, d.ListSettings("/fields"), owned)
	require.Equal(t, "salesforce", shown["field_source"])
	require.Len(t, d.SearchSettings("/fields", object{"filters": object{"source": "custom"}}).Results, 1)
	it.RequireError(t, d.Do(400, http.MethodPut, "/fields/"+owned, object{"name": "Other"}), "FIELD_READ_ONLY", "crm_id")
	it.RequireError(t, d.Do(400, http.MethodDelete, "/fields/"+owned, nil), "FIELD_READ_ONLY", "crm_id")

	d.NewField("Level", "text")
	talk := d.Create(200, object{"title": "Talk"})
	it.RequireError(t, d.PutFields(400, talk.ID(), object{"level": "A", "crm_id": "7"}), "FIELD_READ_ONLY", "crm_id")
	it.RequireError(t, d.Put(400, talk.ID(), object{"title": "Other", "custom_fields": object{"crm_id": nil}}), "FIELD_READ_ONLY", "crm_id")
	require.Equal(t, talk, d.Get(200, talk.ID()), "nothing else in the request is written")
}

func TestGlobalFields(t *testing.T) {
	d := it.NewClient(t)
	global := d.DefineField(200, object{"name": "Badge", "module_id": "contact", "scope": "global"})
	other := d.InNewEvent()
	require.Equal(t, global, it.ByID(t, other.ListSettings("/fields"), global.ID()), "every event shows it")
	changed := other.Do(200, http.MethodPut, "/fields/"+global.ID(), object{"name": "Badge name"})
	require.Equal(t, changed, it.ByID(t, d.ListSettings("/fields"), global.ID()))

	limited := d.WithToken(d.TokenWith(t, map[string]any{
		"scopes": []string{"write:fields", "read:events"}, "event_ids": []int64{d.Event}, "limit": 1_000_000,
	}))
	limited.DefineField(403, object{"name": "Other", "module_id": "contact", "scope": "global"})
	limited.Do(403, http.MethodPut, "/fields/"+global.ID(), object{"name": "Other"})
	limited.Do(403, http.MethodDelete, "/fields/"+global.ID(), nil)
	limited.DefineField(200, object{"name": "Other", "module_id": "contact"})

	require.Equal(t, entity{"id": global.ID()}, d.Do(200, http.MethodDelete, "/fields/"+global.ID(), nil))
	require.NotContains(t, it.Texts(other.ListSettings("/fields"), "id"), global.ID())
}

func TestARecreatedFieldStartsEmpty(t *testing.T) {
	d := it.NewClient(t)
	d.NewField("Level", "text")
	talk := d.Create(200, object{"title": "Talk", "custom_fields": object{"level": "A"}})
	require.Len(t, talk.List("custom_fields"), 1)
	d.Do(200, http.MethodDelete, "/fields/"+talk.List("custom_fields")[0].ID(), nil)
	require.Equal(t, []any{}, d.Get(200, talk.ID())["custom_fields"])
	it.RequireError(t, d.PutFields(400, talk.ID(), object{"level": "A"}), "FIELD_NOT_FOUND", "level")
	d.NewField("Level", "text")
	require.Equal(t, []any{}, d.Get(200, talk.ID())["custom_fields"])
}

func TestARemovedOptionStaysReadable(t *testing.T) {
	d := it.NewClient(t)
	choice := d.DefineField(200, object{"name": "Choice", "type": "dropdown", "options": []string{"A", "B"}})
	talk := d.Create(200, object{"title": "Talk", "custom_fields": object{"choice": "A"}})
	d.Do(200, http.MethodPut, "/fields/"+choice.ID(), object{"options": []string{"B"}})
	require.Equal(t, []any{"A"}, it.Column(d.Get(200, talk.ID()).List("custom_fields"), "value"))
	it.RequireError(t, d.PutFields(400, talk.ID(), object{"choice": "A"}), "TYPE_MISMATCH", "choice")
}

func TestAUserFieldNamesAMember(t *testing.T) {
	d := it.NewClient(t)
	d.NewField("Owner", "user")
	talk := d.Create(200, object{"title": "Talk", "custom_fields": object{"owner": d.Member}})
	require.Equal(t, []any{float64(d.Member)}, it.Column(talk.List("custom_fields"), "value"))
	it.RequireError(t, d.PutFields(400, talk.ID(), object{"owner": d.Member + 1_000}), "TYPE_MISMATCH", "owner")
	stranger := d.NewOrganization(t).Member
	it.RequireError(t, d.PutFields(400, talk.ID(), object{"owner": stranger}), "TYPE_MISMATCH", "owner")
	it.RequireError(t, d.Create(400, object{"title": "Other", "custom_fields": object{"owner": stranger}}), "TYPE_MISMATCH", "owner")
	it.RequireError(t, d.PutFields(400, talk.ID(), object{"owner": "Ada"}), "TYPE_MISMATCH", "owner")
	left := d.Operator(t, "member-create", map[string]any{"org_id": d.Org, "name": "Left", "email": "left@example.org", "role": "member"})
	d.PutFields(200, talk.ID(), object{"owner": left["id"]})
	d.Operator(t, "member-remove", map[string]any{"org_id": d.Org, "user_id": left["id"]})
	it.RequireError(t, d.PutFields(400, talk.ID(), object{"owner": left["id"]}), "TYPE_MISMATCH", "owner")
	require.Equal(t, []any{}, d.PutFields(200, talk.ID(), object{"owner": nil})["custom_fields"])
}

// TestValuesThatOnlyLookRight: they have the form, and stand for nothing.
func TestValuesThatOnlyLookRight(t *testing.T) {
	d := it.NewClient(t)
	d.NewField("Land", "countries")
	d.NewField("Paper", "file")
	d.NewField("Spoken", "languages", object{"multiple": true})
	talk := d.Create(200, object{"title": "Talk"}).ID()
	for name, values := range map[string][]string{"land": {"None", "999", "XK"}, "paper": {"https://x.org/ a"}} {
		for _, v := range values {
			it.RequireError(t, d.PutFields(400, talk, object{name: v}), "TYPE_MISMATCH", name)
		}
	}
	it.RequireInvalid(t, d.PutFields(400, talk, object{"spoken": []string{"en", "EN"}}), "spoken")
	kept := d.PutFields(200, talk, object{"spoken": []string{"EN", "PT-br"}})
	require.Equal(t, []any{[]any{"en", "pt-BR"}}, it.Column(kept.List("custom_fields"), "value"))
	unnamed := d.PutFields(400, talk, object{"": 1})
	require.Equal(t, "FIELD_NOT_FOUND", unnamed["code"])
	require.Equal(t, object{"field": ""}, unnamed["details"])
}

func TestAnIfMatchWithoutATagIsRefused(t *testing.T) {
	d := it.NewClient(t)
	path := "/fields/" + d.DefineField(200, object{"name": "Note"}).ID()
	for _, header := range []string{",,", " , ", " "} {
		it.RequireInvalid(t, d.Do(400, http.MethodPut, path, object{"name": "Lost"}, "If-Match", header), "If-Match")
	}
	d.Do(200, http.MethodPut, path, object{"name": "Kept"})
}
