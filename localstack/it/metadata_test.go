package it_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
	"lectern/shared/metadata"
)

// shapes are the properties of an entry as it is listed and as a write answers
// it, by kind (spec sections 2.6 and 2.7).
var shapes = map[metadata.Kind]struct{ listed, written string }{
	metadata.Rooms:     {"capacity created_at id name order updated_at", "capacity created_at id name order updated_at"},
	metadata.Tracks:    {"color created_at id name order updated_at", "color created_at event_id id name order updated_at"},
	metadata.Tags:      {"created_at id name updated_at", "created_at id name updated_at"},
	metadata.Formats:   {"created_at id name order updated_at", "created_at event_id id name order updated_at"},
	metadata.Levels:    {"created_at id name order updated_at", "created_at id name order updated_at"},
	metadata.Languages: {"created_at id name order updated_at", "created_at event_id id name order updated_at"},
}

// shapeOf is the properties of a record in order of the alphabet.
func shapeOf(r entity) string {
	names := r.keys()
	sort.Strings(names)
	return strings.Join(names, " ")
}

// array is the answer of a GET list.
func (d *desk) array(path string) []entity {
	d.t.Helper()
	return stacktest.Call[[]entity](d.Stack, 200, http.MethodGet, d.EventPath(path), nil)
}

// settings is the answer of a search of settings.
func (d *desk) settings(path string, body any) found {
	d.t.Helper()
	return stacktest.Call[found](d.Stack, 200, http.MethodPost, d.EventPath(path), body)
}

func TestEntriesOfEveryKind(t *testing.T) {
	all := newDesk(t)
	for _, kind := range metadata.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			d, path := all.in(t), "/"+string(kind)
			require.Equal(t, "[]", string(d.Call(t, 200, http.MethodGet, d.EventPath(path), nil).Body))
			require.Equal(t, `{"results":[],"pagination":{"currentPage":1,"pageSize":25,"totalPages":0,"totalResults":0}}`,
				string(d.Call(t, 200, http.MethodPost, d.EventPath(path), object{}).Body))

			first, second := d.entry(string(kind), "First"), d.entry(string(kind), "Second")
			require.Equal(t, shapes[kind].written, shapeOf(first))
			if id, ok := first["event_id"]; ok {
				require.Equal(t, float64(d.Event), id)
			}
			listed := d.array(path)
			require.Equal(t, []string{"First", "Second"}, texts(listed, "name"))
			for _, r := range append(d.settings(path, object{}).Results, listed...) {
				require.Equal(t, shapes[kind].listed, shapeOf(r))
			}
			if kind != metadata.Tags {
				require.Equal(t, []any{1.0, 2.0}, column(listed, "order"))
			}

			changed := d.send(200, http.MethodPut, path+"/"+first.id(), object{"name": "Renamed", "order": 7})
			require.Equal(t, shapes[kind].written, shapeOf(changed))
			require.Equal(t, first["created_at"], changed["created_at"])
			require.Greater(t, changed.text("updated_at"), first.text("updated_at"))
			require.Equal(t, []string{"Second", "Renamed"}, texts(d.array(path), "name"))
			if third := d.entry(string(kind), "Third"); kind != metadata.Tags {
				require.Equal(t, 8.0, third["order"])
			}

			require.Equal(t, entity{"id": second.id()}, d.send(200, http.MethodDelete, path+"/"+second.id(), nil))
			require.Equal(t, []string{"Renamed", "Third"}, texts(d.array(path), "name"))
			for _, gone := range []string{second.id(), uuid.NewString()} {
				for _, method := range []string{http.MethodPut, http.MethodDelete} {
					answer := d.send(404, method, path+"/"+gone, object{})
					require.Equal(t, kind.Title()+" not found", answer["message"])
				}
			}
		})
	}
}

func TestEntriesStayInTheirEventAndKind(t *testing.T) {
	d := newDesk(t)
	track := d.entry("tracks", "Here")
	other := d.elsewhere()
	require.Empty(t, other.array("/tracks"))
	other.send(404, http.MethodPut, "/tracks/"+track.id(), object{"name": "There"})
	other.send(404, http.MethodDelete, "/tracks/"+track.id(), nil)
	d.send(404, http.MethodPut, "/rooms/"+track.id(), object{"name": "Room"})
	require.Equal(t, []string{"Here"}, texts(d.array("/tracks"), "name"))
}

func TestWhatAnEntryTakes(t *testing.T) {
	d := newDesk(t)
	long := strings.Repeat("é", 255)
	for _, c := range []struct {
		kind  string
		body  object
		field string // empty: accepted
	}{
		{"tags", object{"name": long}, ""},
		{"tags", object{"name": long + "x"}, "name"},
		{"tags", object{"name": ""}, "name"},
		{"tags", object{"name": " \t "}, "name"},
		{"tags", object{"name": nil}, "name"},
		{"tags", object{"name": 7}, "name"},
		{"tags", object{}, "name"},
		{"tags", object{"Name": "Wrong case"}, "name"},
		{"tags", object{"name": "A", "order": 0}, ""},
		{"tags", object{"name": "A", "order": 1_000_000}, ""},
		{"tags", object{"name": "A", "order": -1}, "order"},
		{"tags", object{"name": "A", "order": 1_000_001}, "order"},
		{"tags", object{"name": "A", "order": 1.5}, "order"},
		{"tags", object{"name": "A", "order": nil}, "order"},
		{"tags", object{"name": "A", "color": 5, "capacity": "many", "id": 1}, ""},
		{"rooms", object{"name": "A", "capacity": 0}, ""},
		{"rooms", object{"name": "A", "capacity": 100_000}, ""},
		{"rooms", object{"name": "A", "capacity": nil}, ""},
		{"rooms", object{"name": "A", "capacity": -1}, "capacity"},
		{"rooms", object{"name": "A", "capacity": 100_001}, "capacity"},
		{"rooms", object{"name": "A", "capacity": "20"}, "capacity"},
		{"rooms", object{"name": "A", "color": "red"}, ""},
		{"tracks", object{"name": "A", "color": "#00aAfF"}, ""},
		{"tracks", object{"name": "A", "color": nil}, ""},
		{"tracks", object{"name": "A", "color": "red"}, "color"},
		{"tracks", object{"name": "A", "color": "#fff"}, "color"},
		{"tracks", object{"name": "A", "color": "#00aaff00"}, "color"},
		{"tracks", object{"name": "A", "color": "#00aaff\n"}, "color"},
		{"statuses", object{"name": "A", "color": "#00aaff", "status": "declined"}, ""},
		{"statuses", object{"name": "A", "color": "blue"}, "color"},
		{"statuses", object{"name": "A", "status": "maybe"}, "status"},
		{"statuses", object{"name": "A", "status": nil}, "status"},
		{"statuses", object{}, "name"},
	} {
		text, err := json.Marshal(c.body)
		require.NoError(t, err)
		path := "/" + c.kind + "/create"
		if c.field == "" {
			d.send(200, http.MethodPost, path, c.body)
			continue
		}
		t.Run(c.kind+string(text), func(t *testing.T) { isInvalid(t, d.in(t).send(400, http.MethodPost, path, c.body), c.field) })
	}
}

func TestAnUpdateChangesOnlyWhatIsSent(t *testing.T) {
	d := newDesk(t)
	room := d.entry("rooms", "Hall", object{"capacity": 500})
	path := "/rooms/" + room.id()
	require.Equal(t, 500.0, d.send(200, http.MethodPut, path, object{"name": "Great hall"})["capacity"])
	cleared := d.send(200, http.MethodPut, path, object{"capacity": nil})
	require.Contains(t, cleared, "capacity")
	require.Nil(t, cleared["capacity"])
	require.Equal(t, "Great hall", cleared["name"])
	isInvalid(t, d.send(400, http.MethodPut, path, object{"name": nil}), "name")
	isInvalid(t, d.send(400, http.MethodPut, path, object{"capacity": -1}), "capacity")
	isInvalid(t, d.send(400, http.MethodPut, "/rooms/7", object{"name": "A"}), "id")
	isInvalid(t, d.send(400, http.MethodDelete, "/rooms/7", nil), "id")

	track := d.entry("tracks", "Design", object{"color": "#112233"})
	require.Equal(t, "#112233", track["color"])
	require.Nil(t, d.send(200, http.MethodPut, "/tracks/"+track.id(), object{"color": nil})["color"])
	// A PUT of what was read changes nothing but the time.
	read := d.array("/tracks")[0]
	again := d.send(200, http.MethodPut, "/tracks/"+track.id(), read)
	require.Equal(t, read["order"], again["order"])
}

func TestAStaleUpdateOfAnEntryIsRefused(t *testing.T) {
	d := newDesk(t)
	for _, kind := range []string{"levels", "statuses"} {
		create := d.Call(t, 200, http.MethodPost, d.EventPath("/"+kind+"/create"), object{"name": "Basic"})
		seen, path := entity(create.JSON(t)), d.EventPath("/"+kind+"/")
		path += seen.id()
		etag := create.Header.Get("ETag")
		require.NotEmpty(t, etag)

		fresh := d.Call(t, 200, http.MethodPut, path, object{"name": "Easy", "updated_at": seen["updated_at"]}, "If-Match", etag)
		current := entity(fresh.JSON(t))
		for _, c := range []struct {
			body    object
			ifMatch string
		}{
			{object{"name": "Hard", "updated_at": seen["updated_at"]}, ""},
			{object{"name": "Hard"}, etag},
			{object{"name": "Hard", "updated_at": current["updated_at"]}, etag},
		} {
			answer := d.Call(t, 409, http.MethodPut, path, c.body, "If-Match", c.ifMatch)
			refused := entity(answer.JSON(t))
			require.Equal(t, "STALE_UPDATE", refused["code"])
			require.Equal(t, current["updated_at"], refused.at("details.updated_at"))
			require.NotEmpty(t, answer.Header.Get("ETag"))
		}
		d.Call(t, 409, http.MethodDelete, path, nil, "If-Match", etag)
		isInvalid(t, d.Call(t, 400, http.MethodPut, path, object{"updated_at": "yesterday"}).JSON(t), "updated_at")
		isInvalid(t, d.Call(t, 400, http.MethodPut, path, object{"updated_at": nil}).JSON(t), "updated_at")
		d.Call(t, 400, http.MethodPut, path, object{}, "If-Match", "no tag")
		// What is wrong in itself is that before it is stale.
		isInvalid(t, d.Call(t, 400, http.MethodPut, path, object{"name": "", "updated_at": seen["updated_at"]}).JSON(t), "name")
		d.Call(t, 200, http.MethodDelete, path, nil, "If-Match", fresh.Header.Get("ETag"))
	}
}

func TestARepeatedCreateIsReplayed(t *testing.T) {
	d := newDesk(t)
	for _, kind := range []string{"tracks", "statuses"} {
		path, before := d.EventPath("/"+kind+"/create"), len(d.array("/"+kind))
		first := d.Call(t, 200, http.MethodPost, path, object{"name": "Once"}, "Idempotency-Key", kind)
		second := d.Call(t, 200, http.MethodPost, path, object{"name": "Once"}, "Idempotency-Key", kind)
		require.Equal(t, "true", second.Header.Get("Idempotent-Replayed"))
		require.JSONEq(t, string(first.Body), string(second.Body))
		require.Equal(t, first.Header.Get("ETag"), second.Header.Get("ETag"))
		require.Len(t, d.array("/"+kind), before+1)
	}
}

func TestNamesCanBeTranslated(t *testing.T) {
	d := newDesk(t, "translated_fields")
	texts := object{"fr": object{"name": "Salle"}, "de": object{"name": "Saal"}}
	for _, kind := range []string{"rooms", "statuses"} {
		t.Run(kind, func(t *testing.T) {
			d := d.in(t)
			room := d.send(200, http.MethodPost, "/"+kind+"/create?expand=translated_fields", object{"name": "Hall", "translations": texts})
			shown := room.list("translated_fields")
			require.Len(t, shown, 2)
			require.Equal(t, "id name parent_field_id parent_field_internal_name parent_field_name parent_field_source translated_language type value", shapeOf(shown[0]))
			require.Equal(t, object{
				"name": "Name", "parent_field_internal_name": "name", "parent_field_source": "standard",
				"translated_language": "de", "type": "text", "value": "Saal",
			}, pick(shown[0], "name", "parent_field_internal_name", "parent_field_source", "translated_language", "type", "value"))

			path := "/" + kind
			if kind == "statuses" {
				path = "/session-statuses"
			}
			require.NotContains(t, byID(t, d.array("/"+kind), room.id()), "translated_fields")
			require.NotContains(t, d.settings(path, nil).Results[0], "translated_fields")
			require.Len(t, byID(t, d.array("/"+kind+"?expand=translated_fields"), room.id()).list("translated_fields"), 2)
			require.Len(t, d.settings(path, object{"expand": []string{"translated_fields"}}).Results[0].list("translated_fields"), 2)

			changed := d.send(200, http.MethodPut, "/"+kind+"/"+room.id()+"?expand=translated_fields",
				object{"translations": object{"fr": object{"name": nil}, "de": object{"name": "Halle"}}})
			require.Equal(t, []any{"Halle"}, column(changed.list("translated_fields"), "value"))
			none := d.send(200, http.MethodPut, "/"+kind+"/"+room.id()+"?expand=translated_fields", object{"translations": object{"de": nil}})
			require.Equal(t, []any{}, none["translated_fields"])
		})
	}
	for field, bad := range map[string]any{
		"translations":          nil,
		"translations.fr.title": object{"fr": object{"title": "A"}},
		"translations.!":        object{"!": object{"name": "A"}},
		"translations.fr":       object{"fr": "Salle"},
		"translations.fr.name":  object{"fr": object{"name": strings.Repeat("x", 256)}},
	} {
		isInvalid(t, d.send(400, http.MethodPost, "/rooms/create", object{"name": "A", "translations": bad}), field)
	}
	many := object{}
	for i := range 101 {
		many[fmt.Sprintf("fr-x%d", i+10)] = object{"name": "A"}
	}
	isInvalid(t, d.send(400, http.MethodPost, "/rooms/create", object{"name": "A", "translations": many}), "translations")
}

func TestTranslationsNeedTheFeature(t *testing.T) {
	d := newDesk(t)
	body := object{"name": "A", "translations": object{"fr": object{"name": "B"}}}
	require.Equal(t, "ForbiddenError", d.send(403, http.MethodPost, "/rooms/create", body)["name"])
	d.send(403, http.MethodPost, "/statuses/create", body)
	d.send(403, http.MethodPut, "/rooms/"+uuid.NewString(), body)
	require.Empty(t, d.array("/rooms"))
	body["translations"] = object{"fr": object{"title": "B"}}
	isInvalid(t, d.send(400, http.MethodPost, "/rooms/create", body), "translations.fr.title")
}

func TestADeletedEntryReadsAsUnassigned(t *testing.T) {
	d := newDesk(t)
	properties := map[string]string{"tracks": "track", "levels": "level", "formats": "format", "languages": "language", "rooms": "room"}
	body, ids := object{"title": "Talk"}, map[string]string{}
	for kind, property := range properties {
		ids[kind] = d.entry(kind, property).id()
		body[property+"_id"] = ids[kind]
	}
	tag := d.entry("tags", "Tag").id()
	body["tag_ids"] = []string{tag}
	talk := d.create(200, body)
	for _, property := range properties {
		require.Equal(t, property, talk.at(property+".name"))
	}
	for kind, id := range ids {
		d.drop(kind, id)
	}
	d.drop("tags", tag)
	one, searched, listed := d.get(200, talk.id()), d.search(object{}).Results[0], d.list().Results[0]
	for _, property := range properties {
		require.Nil(t, one[property], property)
		require.Nil(t, listed[property], property)
		require.Equal(t, object{}, searched[property], property)
	}
	require.Equal(t, []any{}, one["tags"])
	require.Empty(t, d.filtered(object{"trackIds": []string{ids["tracks"]}}).Results)
	require.Equal(t, talk["updated_at"], one["updated_at"], "the session itself is not written")
	isInvalid(t, d.put(400, talk.id(), object{"track_id": ids["tracks"]}), "track_id")
}

func TestABlankNameIsToldSo(t *testing.T) {
	d := newDesk(t)
	refused := d.send(400, http.MethodPost, "/tracks/create", object{"name": "  "})
	isInvalid(t, refused, "name")
	require.Equal(t, "name must not be blank.", refused["message"])
}
