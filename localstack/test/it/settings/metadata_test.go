package settings_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
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

func TestEntriesOfEveryKind(t *testing.T) {
	stacktest.Everywhere(t)
	all := it.NewClient(t)
	for _, kind := range metadata.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			d, path := all.ForTest(t), "/"+string(kind)
			require.Equal(t, "[]", string(d.Call(t, 200, http.MethodGet, d.EventPath(path), nil).Body))
			require.Equal(t, `{"results":[],"pagination":{"currentPage":1,"pageSize":25,"totalPages":0,"totalResults":0}}`,
				string(d.Call(t, 200, http.MethodPost, d.EventPath(path), object{}).Body))

			first, second := d.NewEntry(string(kind), "First"), d.NewEntry(string(kind), "Second")
			require.Equal(t, shapes[kind].written, it.KeysOf(first))
			if id, ok := first["event_id"]; ok {
				require.Equal(t, float64(d.Event), id)
			}
			listed := d.ListSettings(path)
			require.Equal(t, []string{"First", "Second"}, it.Texts(listed, "name"))
			for _, r := range append(d.SearchSettings(path, object{}).Results, listed...) {
				require.Equal(t, shapes[kind].listed, it.KeysOf(r))
			}
			if kind != metadata.Tags {
				require.Equal(t, []any{1.0, 2.0}, it.Column(listed, "order"))
			}

			changed := d.Do(200, http.MethodPut, path+"/"+first.ID(), object{"name": "Renamed", "order": 7})
			require.Equal(t, shapes[kind].written, it.KeysOf(changed))
			require.Equal(t, first["created_at"], changed["created_at"])
			require.Greater(t, changed.Text("updated_at"), first.Text("updated_at"))
			require.Equal(t, []string{"Second", "Renamed"}, it.Texts(d.ListSettings(path), "name"))
			if third := d.NewEntry(string(kind), "Third"); kind != metadata.Tags {
				require.Equal(t, 8.0, third["order"])
			}

			require.Equal(t, entity{"id": second.ID()}, d.Do(200, http.MethodDelete, path+"/"+second.ID(), nil))
			require.Equal(t, []string{"Renamed", "Third"}, it.Texts(d.ListSettings(path), "name"))
			for _, gone := range []string{second.ID(), uuid.NewString()} {
				for _, method := range []string{http.MethodPut, http.MethodDelete} {
					answer := d.Do(404, method, path+"/"+gone, object{})
					require.Equal(t, kind.Title()+" not found", answer["message"])
				}
			}
		})
	}
}

func TestEntriesStayInTheirEventAndKind(t *testing.T) {
	d := it.NewClient(t)
	track := d.NewEntry("tracks", "Here")
	other := d.InNewEvent()
	require.Empty(t, other.ListSettings("/tracks"))
	other.Do(404, http.MethodPut, "/tracks/"+track.ID(), object{"name": "There"})
	other.Do(404, http.MethodDelete, "/tracks/"+track.ID(), nil)
	d.Do(404, http.MethodPut, "/rooms/"+track.ID(), object{"name": "Room"})
	require.Equal(t, []string{"Here"}, it.Texts(d.ListSettings("/tracks"), "name"))
}

func TestWhatAnEntryTakes(t *testing.T) {
	d := it.NewClient(t)
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
			d.Do(200, http.MethodPost, path, c.body)
			continue
		}
		t.Run(c.kind+string(text), func(t *testing.T) { it.RequireInvalid(t, d.ForTest(t).Do(400, http.MethodPost, path, c.body), c.field) })
	}
}

func TestAnUpdateChangesOnlyWhatIsSent(t *testing.T) {
	d := it.NewClient(t)
	room := d.NewEntry("rooms", "Hall", object{"capacity": 500})
	path := "/rooms/" + room.ID()
	require.Equal(t, 500.0, d.Do(200, http.MethodPut, path, object{"name": "Great hall"})["capacity"])
	cleared := d.Do(200, http.MethodPut, path, object{"capacity": nil})
	require.Contains(t, cleared, "capacity")
	require.Nil(t, cleared["capacity"])
	require.Equal(t, "Great hall", cleared["name"])
	it.RequireInvalid(t, d.Do(400, http.MethodPut, path, object{"name": nil}), "name")
	it.RequireInvalid(t, d.Do(400, http.MethodPut, path, object{"capacity": -1}), "capacity")
	it.RequireInvalid(t, d.Do(400, http.MethodPut, "/rooms/7", object{"name": "A"}), "id")
	it.RequireInvalid(t, d.Do(400, http.MethodDelete, "/rooms/7", nil), "id")

	track := d.NewEntry("tracks", "Design", object{"color": "#112233"})
	require.Equal(t, "#112233", track["color"])
	require.Nil(t, d.Do(200, http.MethodPut, "/tracks/"+track.ID(), object{"color": nil})["color"])
	// A PUT of what was read changes nothing but the time.
	read := d.ListSettings("/tracks")[0]
	again := d.Do(200, http.MethodPut, "/tracks/"+track.ID(), read)
	require.Equal(t, read["order"], again["order"])
}

func TestAStaleUpdateOfAnEntryIsRefused(t *testing.T) {
	d := it.NewClient(t)
	for _, kind := range []string{"levels", "statuses"} {
		create := d.Call(t, 200, http.MethodPost, d.EventPath("/"+kind+"/create"), object{"name": "Basic"})
		seen, path := entity(create.JSON(t)), d.EventPath("/"+kind+"/")
		path += seen.ID()
		etag := create.Header.Get("ETag")
		require.NotEmpty(t, etag)

		fresh := d.Call(t, 200, http.MethodPut, path, stacktest.WithHeaders(object{"name": "Easy", "updated_at": seen["updated_at"]}, "If-Match", etag))
		current := entity(fresh.JSON(t))
		for _, c := range []struct {
			body    object
			ifMatch string
		}{
			{object{"name": "Hard", "updated_at": seen["updated_at"]}, ""},
			{object{"name": "Hard"}, etag},
			{object{"name": "Hard", "updated_at": current["updated_at"]}, etag},
		} {
			answer := d.Call(t, 409, http.MethodPut, path, stacktest.WithHeaders(c.body, "If-Match", c.ifMatch))
			refused := entity(answer.JSON(t))
			require.Equal(t, "STALE_UPDATE", refused["code"])
			require.Equal(t, current["updated_at"], refused.At("details.updated_at"))
			require.NotEmpty(t, answer.Header.Get("ETag"))
		}
		d.Call(t, 409, http.MethodDelete, path, stacktest.WithHeaders(nil, "If-Match", etag))
		it.RequireInvalid(t, d.Call(t, 400, http.MethodPut, path, object{"updated_at": "yesterday"}).JSON(t), "updated_at")
		it.RequireInvalid(t, d.Call(t, 400, http.MethodPut, path, object{"updated_at": nil}).JSON(t), "updated_at")
		d.Call(t, 400, http.MethodPut, path, stacktest.WithHeaders(object{}, "If-Match", "no tag"))
		// What is wrong in itself is that before it is stale.
		it.RequireInvalid(t, d.Call(t, 400, http.MethodPut, path, object{"name": "", "updated_at": seen["updated_at"]}).JSON(t), "name")
		d.Call(t, 200, http.MethodDelete, path, stacktest.WithHeaders(nil, "If-Match", fresh.Header.Get("ETag")))
	}
}

func TestARepeatedCreateIsReplayed(t *testing.T) {
	d := it.NewClient(t)
	for _, kind := range []string{"tracks", "statuses"} {
		path, before := d.EventPath("/"+kind+"/create"), len(d.ListSettings("/"+kind))
		first := d.Call(t, 200, http.MethodPost, path, stacktest.WithHeaders(object{"name": "Once"}, "Idempotency-Key", kind))
		second := d.Call(t, 200, http.MethodPost, path, stacktest.WithHeaders(object{"name": "Once"}, "Idempotency-Key", kind))
		require.Equal(t, "true", second.Header.Get("Idempotent-Replayed"))
		require.JSONEq(t, string(first.Body), string(second.Body))
		require.Equal(t, first.Header.Get("ETag"), second.Header.Get("ETag"))
		require.Len(t, d.ListSettings("/"+kind), before+1)
	}
}

func TestNamesCanBeTranslated(t *testing.T) {
	d := it.NewClient(t, "translated_fields")
	texts := object{"fr": object{"name": "Salle"}, "de": object{"name": "Saal"}}
	for _, kind := range []string{"rooms", "statuses"} {
		t.Run(kind, func(t *testing.T) {
			d := d.ForTest(t)
			room := d.Do(200, http.MethodPost, "/"+kind+"/create?expand=translated_fields", object{"name": "Hall", "translations": texts})
			shown := room.List("translated_fields")
			require.Len(t, shown, 2)
			require.Equal(t, "id name parent_field_id parent_field_internal_name parent_field_name parent_field_source translated_language type value", it.KeysOf(shown[0]))
			require.Equal(t, object{
				"name": "Name", "parent_field_internal_name": "name", "parent_field_source": "standard",
				"translated_language": "de", "type": "text", "value": "Saal",
			}, it.Pick(shown[0], "name", "parent_field_internal_name", "parent_field_source", "translated_language", "type", "value"))

			path := "/" + kind
			if kind == "statuses" {
				path = "/session-statuses"
			}
			require.NotContains(t, it.ByID(t, d.ListSettings("/"+kind), room.ID()), "translated_fields")
			require.NotContains(t, d.SearchSettings(path, nil).Results[0], "translated_fields")
			require.Len(t, it.ByID(t, d.ListSettings("/"+kind+"?expand=translated_fields"), room.ID()).List("translated_fields"), 2)
			require.Len(t, d.SearchSettings(path, object{"expand": []string{"translated_fields"}}).Results[0].List("translated_fields"), 2)

			changed := d.Do(200, http.MethodPut, "/"+kind+"/"+room.ID()+"?expand=translated_fields",
				object{"translations": object{"fr": object{"name": nil}, "de": object{"name": "Halle"}}})
			require.Equal(t, []any{"Halle"}, it.Column(changed.List("translated_fields"), "value"))
			none := d.Do(200, http.MethodPut, "/"+kind+"/"+room.ID()+"?expand=translated_fields", object{"translations": object{"de": nil}})
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
		it.RequireInvalid(t, d.Do(400, http.MethodPost, "/rooms/create", object{"name": "A", "translations": bad}), field)
	}
	many := object{}
	for i := range 101 {
		many[fmt.Sprintf("fr-x%d", i+10)] = object{"name": "A"}
	}
	it.RequireInvalid(t, d.Do(400, http.MethodPost, "/rooms/create", object{"name": "A", "translations": many}), "translations")
}

func TestTranslationsNeedTheFeature(t *testing.T) {
	d := it.NewClient(t)
	body := object{"name": "A", "translations": object{"fr": object{"name": "B"}}}
	require.Equal(t, "ForbiddenError", d.Do(403, http.MethodPost, "/rooms/create", body)["name"])
	d.Do(403, http.MethodPost, "/statuses/create", body)
	d.Do(403, http.MethodPut, "/rooms/"+uuid.NewString(), body)
	require.Empty(t, d.ListSettings("/rooms"))
	body["translations"] = object{"fr": object{"title": "B"}}
	it.RequireInvalid(t, d.Do(400, http.MethodPost, "/rooms/create", body), "translations.fr.title")
}

func TestADeletedEntryReadsAsUnassigned(t *testing.T) {
	d := it.NewClient(t)
	properties := map[string]string{"tracks": "track", "levels": "level", "formats": "format", "languages": "language", "rooms": "room"}
	body, ids := object{"title": "Talk"}, map[string]string{}
	for kind, property := range properties {
		ids[kind] = d.NewEntry(kind, property).ID()
		body[property+"_id"] = ids[kind]
	}
	tag := d.NewEntry("tags", "Tag").ID()
	body["tag_ids"] = []string{tag}
	talk := d.Create(200, body)
	for _, property := range properties {
		require.Equal(t, property, talk.At(property+".name"))
	}
	for kind, id := range ids {
		d.DeleteRecord(kind, id)
	}
	d.DeleteRecord("tags", tag)
	one, searched, listed := d.Get(200, talk.ID()), d.Search(object{}).Results[0], d.List().Results[0]
	for _, property := range properties {
		require.Nil(t, one[property], property)
		require.Nil(t, listed[property], property)
		require.Equal(t, object{}, searched[property], property)
	}
	require.Equal(t, []any{}, one["tags"])
	require.Empty(t, d.Filter(object{"trackIds": []string{ids["tracks"]}}).Results)
	require.Equal(t, talk["updated_at"], one["updated_at"], "the session itself is not written")
	it.RequireInvalid(t, d.Put(400, talk.ID(), object{"track_id": ids["tracks"]}), "track_id")
}

func TestABlankNameIsToldSo(t *testing.T) {
	d := it.NewClient(t)
	refused := d.Do(400, http.MethodPost, "/tracks/create", object{"name": "  "})
	it.RequireInvalid(t, refused, "name")
	require.Equal(t, "name must not be blank.", refused["message"])
}
