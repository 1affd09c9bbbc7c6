package it_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// feature switches a feature of the event.
func (d *desk) feature(name string, on bool) {
	d.t.Helper()
	d.done("event-update", object{"features": object{name: on}})
}

// isForbidden checks a 403 for what the event has not switched on.
func isForbidden(t *testing.T, answer entity) {
	t.Helper()
	isRefused(t, answer, "FEATURE_NOT_ENABLED", "")
	require.Equal(t, "ForbiddenError", answer["name"])
	require.NotContains(t, answer, "reason")
}

func TestAbstractsNeedTheirFeature(t *testing.T) {
	d := newDesk(t)
	abstract := object{"title": "A", "is_abstract": true}
	isForbidden(t, d.create(403, abstract))
	isInvalid(t, d.create(400, merged(abstract, object{"title": ""})), "title")
	isInvalid(t, d.create(400, merged(abstract, object{"parent_session_id": uuid.NewString()})), "parent_session_id")
	isInvalid(t, d.create(400, merged(abstract, object{"parent_session_id": d.titled("Plain")[0]})), "is_abstract")
	require.Equal(t, false, d.create(200, object{"title": "B", "is_abstract": false})["is_abstract"])
	d.feature("sessions_2_0", true)
	made := d.create(200, abstract)
	require.Equal(t, true, made["is_abstract"])
	isInvalid(t, d.put(400, made.id(), object{"is_abstract": false}), "is_abstract")
	require.Equal(t, true, d.put(200, made.id(), object{"is_abstract": true})["is_abstract"])
	plain := d.titled("C")[0]
	isInvalid(t, d.put(400, plain, object{"is_abstract": true}), "is_abstract")
	require.Equal(t, false, d.put(200, plain, object{"is_abstract": false})["is_abstract"])
	isInvalid(t, d.put(400, plain, object{"is_abstract": nil}), "is_abstract")
	d.feature("sessions_2_0", false)
	isForbidden(t, d.create(403, abstract))
	isForbidden(t, d.create(403, object{"title": "Part", "parent_session_id": made.id()}))
	require.Equal(t, "D", d.put(200, made.id(), object{"title": "D"})["title"], "those that are there are still changed")
	require.Equal(t, true, d.get(200, made.id())["is_abstract"])
}

func TestTranslationsNeedTheirFeature(t *testing.T) {
	d := newDesk(t)
	german := object{"translations": object{"de": object{"title": "Eröffnung"}}}
	isForbidden(t, d.create(403, merged(object{"title": "Opening"}, german)))
	id := d.titled("Opening")[0]
	isForbidden(t, d.put(403, id, german))
	d.feature("translated_fields", true)
	d.put(200, id, german)
	require.Len(t, d.get(200, id, "expand=translated_fields").list("translated_fields"), 1)
}

func TestTranslatedFields(t *testing.T) {
	d := newDesk(t, "translated_fields")
	note, size := d.field("Note", "text"), d.field("Size", "number")
	body := object{"title": "Opening", "translations": object{
		"fr": object{"title": "Ouverture", note: "Attention"}, "de": object{"title": "Eröffnung", "description": "Willkommen"},
	}}
	made := d.create(200, body, "expand=translated_fields")
	shown := made.list("translated_fields")
	require.Equal(t, []string{"de", "de", "fr", "fr"}, texts(shown, "translated_language"))
	require.Equal(t, []string{"Willkommen", "Eröffnung", "Attention", "Ouverture"}, texts(shown, "value"))
	require.Equal(t, []string{"description", "title", note, "title"}, texts(shown, "parent_field_internal_name"))
	require.ElementsMatch(t, []string{
		"id", "name", "type", "parent_field_id", "parent_field_source", "parent_field_name", "parent_field_internal_name",
		"translated_language", "value",
	}, shown[0].keys())
	require.Equal(t, []string{"standard", "standard", "custom", "standard"}, texts(shown, "parent_field_source"))
	id := made.id()
	for _, r := range []entity{
		d.get(200, id, "expand=translated_fields"), d.search(object{"expand": []string{"translated_fields"}}).Results[0],
		d.list("expand=translated_fields").Results[0], d.put(200, id, object{"capacity": 1}, "expand=translated_fields"),
	} {
		require.Equal(t, made["translated_fields"], r["translated_fields"])
		require.Equal(t, "Opening", r["title"], "the title stays in the event's language")
	}
	require.NotContains(t, d.get(200, id), "translated_fields")
	changed := d.put(200, id, object{"translations": object{"de": object{"description": nil}, "fr": nil}}, "expand=translated_fields")
	require.Equal(t, []string{"Eröffnung"}, texts(changed.list("translated_fields"), "value"), "null clears, the rest stays")
	plain := d.titled("Plain")[0]
	require.Equal(t, []any{}, d.get(200, plain, "expand=translated_fields")["translated_fields"])
	for field, translations := range map[string]object{
		"translations.de." + size: {"de": object{size: "3"}}, "translations.de.nothing": {"de": object{"nothing": "x"}},
		"translations.german!": {"german!": object{"title": "x"}}, "translations.de.title": {"de": object{"title": 1}},
		"translations.de": {"de": "Eröffnung"},
	} {
		isInvalid(t, d.put(400, id, object{"translations": translations}), field)
	}
	isInvalid(t, d.put(400, id, object{"translations": nil}), "translations")
}
