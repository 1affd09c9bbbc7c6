package sessions_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func TestAbstractsNeedTheirFeature(t *testing.T) {
	d := it.NewClient(t)
	abstract := object{"title": "A", "is_abstract": true}
	it.RequireFeatureDisabled(t, d.Create(403, abstract))
	it.RequireInvalid(t, d.Create(400, it.Merged(abstract, object{"title": ""})), "title")
	it.RequireInvalid(t, d.Create(400, it.Merged(abstract, object{"parent_session_id": uuid.NewString()})), "parent_session_id")
	it.RequireInvalid(t, d.Create(400, it.Merged(abstract, object{"parent_session_id": d.NewSessions("Plain")[0]})), "is_abstract")
	require.Equal(t, false, d.Create(200, object{"title": "B", "is_abstract": false})["is_abstract"])
	d.SetFeature("sessions_2_0", true)
	made := d.Create(200, abstract)
	require.Equal(t, true, made["is_abstract"])
	it.RequireInvalid(t, d.Put(400, made.ID(), object{"is_abstract": false}), "is_abstract")
	require.Equal(t, true, d.Put(200, made.ID(), object{"is_abstract": true})["is_abstract"])
	plain := d.NewSessions("C")[0]
	it.RequireInvalid(t, d.Put(400, plain, object{"is_abstract": true}), "is_abstract")
	require.Equal(t, false, d.Put(200, plain, object{"is_abstract": false})["is_abstract"])
	it.RequireInvalid(t, d.Put(400, plain, object{"is_abstract": nil}), "is_abstract")
	d.SetFeature("sessions_2_0", false)
	it.RequireFeatureDisabled(t, d.Create(403, abstract))
	it.RequireFeatureDisabled(t, d.Create(403, object{"title": "Part", "parent_session_id": made.ID()}))
	require.Equal(t, "D", d.Put(200, made.ID(), object{"title": "D"})["title"], "those that are there are still changed")
	require.Equal(t, true, d.Get(200, made.ID())["is_abstract"])
}

func TestTranslationsNeedTheirFeature(t *testing.T) {
	d := it.NewClient(t)
	german := object{"translations": object{"de": object{"title": "Eröffnung"}}}
	it.RequireFeatureDisabled(t, d.Create(403, it.Merged(object{"title": "Opening"}, german)))
	id := d.NewSessions("Opening")[0]
	it.RequireFeatureDisabled(t, d.Put(403, id, german))
	d.SetFeature("translated_fields", true)
	d.Put(200, id, german)
	require.Len(t, d.Get(200, id, "expand=translated_fields").List("translated_fields"), 1)
}

func TestTranslatedFields(t *testing.T) {
	d := it.NewClient(t, "translated_fields")
	note, size := d.NewField("Note", "text"), d.NewField("Size", "number")
	body := object{"title": "Opening", "translations": object{
		"fr": object{"title": "Ouverture", note: "Attention"}, "de": object{"title": "Eröffnung", "description": "Willkommen"},
	}}
	made := d.Create(200, body, "expand=translated_fields")
	shown := made.List("translated_fields")
	require.Equal(t, []string{"de", "de", "fr", "fr"}, it.Texts(shown, "translated_language"))
	require.Equal(t, []string{"Willkommen", "Eröffnung", "Attention", "Ouverture"}, it.Texts(shown, "value"))
	require.Equal(t, []string{"description", "title", note, "title"}, it.Texts(shown, "parent_field_internal_name"))
	require.ElementsMatch(t, []string{
		"id", "name", "type", "parent_field_id", "parent_field_source", "parent_field_name", "parent_field_internal_name",
		"translated_language", "value",
	}, shown[0].Keys())
	require.Equal(t, []string{"standard", "standard", "custom", "standard"}, it.Texts(shown, "parent_field_source"))
	id := made.ID()
	for _, r := range []entity{
		d.Get(200, id, "expand=translated_fields"), d.Search(object{"expand": []string{"translated_fields"}}).Results[0],
		d.List("expand=translated_fields").Results[0], d.Put(200, id, object{"capacity": 1}, "expand=translated_fields"),
	} {
		require.Equal(t, made["translated_fields"], r["translated_fields"])
		require.Equal(t, "Opening", r["title"], "the title stays in the event's language")
	}
	require.NotContains(t, d.Get(200, id), "translated_fields")
	changed := d.Put(200, id, object{"translations": object{"de": object{"description": nil}, "fr": nil}}, "expand=translated_fields")
	require.Equal(t, []string{"Eröffnung"}, it.Texts(changed.List("translated_fields"), "value"), "null clears, the rest stays")
	plain := d.NewSessions("Plain")[0]
	require.Equal(t, []any{}, d.Get(200, plain, "expand=translated_fields")["translated_fields"])
	for field, translations := range map[string]object{
		"translations.de." + size: {"de": object{size: "3"}}, "translations.de.nothing": {"de": object{"nothing": "x"}},
		"translations.german!": {"german!": object{"title": "x"}}, "translations.de.title": {"de": object{"title": 1}},
		"translations.de": {"de": "Eröffnung"},
	} {
		it.RequireInvalid(t, d.Put(400, id, object{"translations": translations}), field)
	}
	it.RequireInvalid(t, d.Put(400, id, object{"translations": nil}), "translations")
}
