package requests_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// metadataKinds are all kinds that have an order and a name, in paths.
var metadataKinds = []string{"rooms", "tracks", "tags", "formats", "levels", "languages", "statuses"}

func TestWrongMetadata(t *testing.T) {
	w := newTargets(t)
	var all []mistake
	for _, kind := range metadataKinds {
		one := "/" + kind + "/" + w.first(kind)
		bodies := []wrongBody{
			{"name", object{"name": nil}}, {"name", object{"name": ""}}, {"name", object{"name": "  "}}, {"name", object{"name": 1}},
			{"name", object{"name": strings.Repeat("x", 256)}}, {"name", object{"name": []string{"x"}}}, {"name", `{"name":"a\u0000"}`},
			{"order", object{"name": "x", "order": -1}}, {"order", object{"name": "x", "order": "1"}}, {"order", object{"name": "x", "order": 1.5}},
			{"order", object{"name": "x", "order": nil}}, {"order", `{"name":"x","order":99999999999999999999}`},
			{"order", object{"name": "x", "order": 1_000_001}},
			{"translations", object{"name": "x", "translations": nil}}, {"translations", object{"name": "x", "translations": "x"}},
		}
		switch kind {
		case "rooms":
			bodies = append(bodies, wrongBody{"capacity", object{"name": "x", "capacity": -1}}, wrongBody{"capacity", object{"name": "x", "capacity": "9"}})
		case "tracks":
			bodies = append(bodies, wrongBody{"color", object{"name": "x", "color": "red"}}, wrongBody{"color", object{"name": "x", "color": 1}})
		case "statuses":
			bodies = append(bodies, wrongBody{"color", object{"name": "x", "color": "#12345"}}, wrongBody{"status", object{"name": "x", "status": "open"}},
				wrongBody{"status", object{"name": "x", "status": nil}})
		}
		all = append(all, eachOf("POST", "/"+kind+"/create", append(bodies, wrongBody{"name", object{}}))...)
		all = append(all, eachOf("PUT", one, bodies)...)
		translated := object{"name": "x", "translations": object{"de": object{"name": "y"}}}
		all = append(all,
			mistake{"POST", "/" + kind + "/create", translated, 403, "FEATURE_NOT_ENABLED", "", nil}, mistake{"PUT", one, translated, 403, "FEATURE_NOT_ENABLED", "", nil},
			bad("PUT", one, object{"name": "x", "updated_at": "x"}, "updated_at"), bad("PUT", one, object{"updated_at": nil}, "updated_at"),
			mistake{"PUT", one, object{"name": "x", "updated_at": "2020-01-01T00:00:00Z"}, 409, "STALE_UPDATE", "", nil},
			mistake{"PUT", one, object{"name": "x"}, 409, "STALE_UPDATE", "", []string{"If-Match", `"99"`}},
			mistake{"DELETE", one, nil, 409, "STALE_UPDATE", "", []string{"If-Match", `"99"`}},
			bad("PUT", one, object{"name": "x"}, "If-Match", "If-Match", "x"), bad("DELETE", one, nil, "If-Match", "If-Match", "x"),
			bad("POST", "/"+kind+"/create?expand=x", object{"name": "x"}, "expand"),
			bad("PUT", "/"+kind+"/x", object{"name": "x"}, "id"), bad("DELETE", "/"+kind+"/1", nil, "id"),
			mistake{"PUT", "/" + kind + "/" + w.nobody, object{"name": "x"}, 404, "", "", nil},
			mistake{"DELETE", "/" + kind + "/" + w.nobody, nil, 404, "", "", nil},
			mistake{"DELETE", "/" + kind + "/" + w.session, nil, 404, "", "", nil},
		)
	}
	pending := "/statuses/" + w.BuiltInStatus("pending")
	all = append(all,
		mistake{"PUT", pending, object{"name": "x"}, 409, "BUILT_IN", "", nil}, mistake{"DELETE", pending, nil, 409, "BUILT_IN", "", nil},
		bad("PUT", "/statuses/"+w.status, object{"status": "accepted"}, "status"),
		mistake{"POST", "/statuses/" + w.status + "/restore", nil, 404, "", "", nil},
		mistake{"POST", "/statuses/" + w.nobody + "/restore", nil, 404, "", "", nil}, bad("POST", "/statuses/x/restore", nil, "id"),
		mistake{"PUT", "/tracks/" + w.otherTrack, object{"name": "x"}, 404, "", "", nil}, mistake{"DELETE", "/tracks/" + w.otherTrack, nil, 404, "", "", nil},
		mistake{"PUT", "/rooms/" + w.track, object{"name": "x"}, 404, "", "", nil},
	)
	w.makes(all)
}

// TestALimitIsNamedInDigits, not with an exponent.
func TestALimitIsNamedInDigits(t *testing.T) {
	d := it.NewClient(t)
	for order, message := range map[int]string{1_000_001: "order must be at most 1000000.", -1: "order must be at least 0."} {
		refusal := d.Do(400, "POST", "/rooms/create", object{"name": "x", "order": order})
		require.Equal(t, message, refusal.Text("message"))
	}
}

// TestTheBodyIsRefusedBeforeTheRecord: what is wrong whatever the record is a 400 before the 404
// of an unknown record and the 409 of one that is built in.
func TestTheBodyIsRefusedBeforeTheRecord(t *testing.T) {
	w := newTargets(t)
	unknown := uuid.NewString()
	all := []mistake{
		bad("PUT", "/rules/"+unknown, object{"config": object{"text": strings.Repeat("x", 13_000)}}, "config"),
		bad("PUT", "/statuses/"+w.BuiltInStatus("accepted"), object{"translations": object{"xx": object{"nope": "x"}}}, "translations.xx.nope"),
	}
	w.makes(all)
}

// TestTheOrderAfterTheLargest is the largest: an entry can be sent back as it was read.
func TestTheOrderAfterTheLargest(t *testing.T) {
	d := it.NewClient(t, "sessions_2_0")
	for _, path := range []string{"/rooms", "/statuses"} {
		d.Do(200, "POST", path+"/create", object{"name": "First", "order": 1_000_000})
		next := d.Do(200, "POST", path+"/create", object{"name": "Second"})
		require.Equal(t, 1_000_000.0, next["order"], path)
		d.Do(200, "PUT", path+"/"+next.ID(), object{"order": next["order"]})
	}
	role := object{"org_id": d.Org, "event_id": d.Event, "name": "First", "core_role": "speaker", "order": 1_000_000}
	d.Operator(t, "participant-role-create", role)
	delete(role, "order")
	require.Equal(t, 1_000_000.0, d.Operator(t, "participant-role-create", it.Merged(role, object{"name": "Second"}))["order"])
}

// first is the id of the first entry of a kind that is not built in.
func (w *targets) first(kind string) string {
	w.T.Helper()
	if kind == "statuses" {
		return w.status
	}
	var entries []entity
	w.Call(w.T, 200, "GET", w.EventPath("/"+kind), nil).Into(w.T, &entries)
	return entries[0].ID()
}

// longOptions are options that are too long together.
func longOptions() (all []string) {
	for i := range 300 {
		all = append(all, fmt.Sprintf("%0255d", i))
	}
	return all
}

func TestWrongFields(t *testing.T) {
	w := newTargets(t)
	draft := func(more object) object {
		return it.Merged(object{"name": "New", "type": "text", "module_id": "session"}, more)
	}
	one := "/fields/" + w.noteID
	all := eachOf("POST", "/fields/create", []wrongBody{
		{"name", object{"type": "text", "module_id": "session"}}, {"type", object{"name": "x", "module_id": "session"}},
		{"module_id", object{"name": "x", "type": "text"}}, {"name", draft(object{"name": ""})}, {"name", draft(object{"name": " "})},
		{"name", draft(object{"name": nil})}, {"name", draft(object{"name": 5})}, {"name", draft(object{"name": strings.Repeat("x", 256)})},
		{"name", draft(object{"name": "!!!"})}, {"type", draft(object{"type": "colour"})}, {"type", draft(object{"type": 1})}, {"type", draft(object{"type": nil})},
		{"module_id", draft(object{"module_id": "event"})}, {"module_id", draft(object{"module_id": "metadata"})}, {"module_id", draft(object{"module_id": nil})},
		{"scope", draft(object{"scope": "world"})}, {"scope", draft(object{"scope": "global"})}, {"scope", draft(object{"scope": nil})},
		{"options", draft(object{"options": []string{"a"}})}, {"options", draft(object{"options": "a"})}, {"options", draft(object{"type": "dropdown", "options": nil})},
		{"options[1]", draft(object{"type": "dropdown", "options": []any{"a", 1}})}, {"options[1]", draft(object{"type": "dropdown", "options": []string{"a", "a"}})},
		{"options[0]", draft(object{"type": "dropdown", "options": []string{""}})}, {"multiple", draft(object{"multiple": true})},
		{"multiple", draft(object{"multiple": "yes"})}, {"contains_pii", draft(object{"contains_pii": 1})},
	})
	all = append(all, eachOf("PUT", one, []wrongBody{
		{"type", object{"type": "number"}}, {"type", object{"type": nil}}, {"module_id", object{"module_id": "contact"}}, {"scope", object{"scope": "global"}},
		{"internal_name", object{"internal_name": "other"}}, {"multiple", object{"multiple": true}}, {"name", object{"name": ""}},
		{"name", object{"name": nil}}, {"options", object{"options": []string{"a"}}}, {"contains_pii", object{"contains_pii": "x"}},
		{"updated_at", object{"updated_at": "x"}}, {"updatedAt", object{"updatedAt": "x"}},
	})...)
	all = append(all,
		mistake{"POST", "/fields/create", draft(object{"name": "Note"}), 409, "DUPLICATE_INTERNAL_NAME", "name", nil},
		mistake{"POST", "/fields/create", draft(object{"name": "note!"}), 409, "DUPLICATE_INTERNAL_NAME", "name", nil},
		mistake{"PUT", one, object{"name": "x", "updated_at": "2020-01-01T00:00:00Z"}, 409, "STALE_UPDATE", "", nil},
		mistake{"DELETE", one, nil, 409, "STALE_UPDATE", "", []string{"If-Match", `"99"`}},
		bad("DELETE", one, nil, "If-Match", "If-Match", "x"), bad("PUT", "/fields/note", object{"name": "x"}, "fieldId"),
		bad("DELETE", "/fields/1", nil, "fieldId"), mistake{"PUT", "/fields/" + w.nobody, object{"name": "x"}, 404, "", "", nil},
		mistake{"DELETE", "/fields/" + w.nobody, nil, 404, "", "", nil}, mistake{"DELETE", "/fields/" + w.track, nil, 404, "", "", nil},
	)
	standard := w.SearchSettings("/fields", object{}).Results[0].ID()
	all = append(all, mistake{"PUT", "/fields/" + standard, object{"name": "x"}, 409, "BUILT_IN", "", nil})
	for _, id := range []string{w.noteID, w.nobody, standard} {
		all = append(all, eachOf("PUT", "/fields/"+id, []wrongBody{
			{"public_name", object{"name": "x", "public_name": "y"}}, {"options", object{"options": longOptions()}},
		})...)
	}
	searches := []wrongBody{
		{"filters.module", object{"filters": object{"module": "event"}}}, {"filters.source", object{"filters": object{"source": "salesforce"}}},
		{"filters.scope", object{"filters": object{"scope": "world"}}}, {"filters.type", object{"filters": object{"type": "text"}}},
		{"filters.module", object{"filters": object{"module": nil}}}, {"sort.name", object{"sort": object{"name": object{"sort": "asc"}}}},
		{"sort.startsAt", object{"sort": object{"startsAt": object{"sort": "asc"}}}},
	}
	all = append(all, eachOf("POST", "/fields", searches)...)
	for _, path := range []string{"/rooms", "/tracks", "/tags", "/formats", "/levels", "/languages", "/session-statuses"} {
		all = append(all, eachOf("POST", path, []wrongBody{
			{"filters.name", object{"filters": object{"name": "x"}}}, {"filters.createdAt.before", object{"filters": object{"createdAt": object{"before": "x"}}}},
			{"filters.createdAt", object{"filters": object{"createdAt": "x"}}}, {"sort.order", object{"sort": object{"order": object{"sort": "asc"}}}},
			{"sort", object{"sort": "asc"}}, {"sort.updatedAt.sort", object{"sort": object{"updatedAt": object{"sort": "ASC"}}}},
			{"expand[0]", object{"expand": []string{"composition"}}}, {"filters", object{"filters": []string{}}},
		})...)
	}
	w.makes(all)
}
