package people_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func TestAccountCustomFields(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		local, global := s.field("Booth", "text"), s.field("Size", "number", object{"scope": "global"})
		require.Equal(t, []string{"booth", "org_size"}, []string{local, global})
		made := s.create(200, object{"name": "A", "custom_fields": object{local: "B1", global: 3}})
		shown := made.List("custom_fields")
		require.Equal(t, []string{local, global}, it.Texts(shown, "internal_name"))
		require.ElementsMatch(t, []string{"id", "name", "type", "internal_name", "value", "created_at"}, shown[0].Keys())
		require.Equal(t, []any{"B1", 3.0}, it.Column(shown, "value"))
		require.Equal(t, []any{made["created_at"], made["created_at"]}, it.Column(shown, "created_at"))
		other := s.other().takes(200, made.ID(), object{"custom_fields": object{global: 4}})
		require.Equal(t, []any{"B1", 4.0}, it.Column(other.List("custom_fields"), "value"), "both roles have the same values")
		require.Equal(t, made["created_at"], other.List("custom_fields")[1]["created_at"], "when it was first set")
		changed := s.bulk(it.Updating(made.ID(), object{"custom_fields": object{local: nil}})).Data(t, 0)
		require.Equal(t, []string{global}, it.Texts(changed.List("custom_fields"), "internal_name"))
		require.Equal(t, changed["custom_fields"], s.search(object{}).Results[0]["custom_fields"])
		require.Empty(t, s.put(200, made.ID(), object{"custom_fields": object{global: nil}}).List("custom_fields"))
	})
}

// TestAccountValuesOfEveryType writes what a type takes and what it refuses, of the
// organization's field and of the event's.
func TestAccountValuesOfEveryType(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id := s.named("A")[0]
		for i, c := range it.ValueCases {
			scope := []string{"event", "global"}[i%2]
			name := s.field("Field "+string(rune('a'+i)), c.Kind, c.More, object{"scope": scope})
			for j, good := range c.Good {
				want := c.Reads(j)
				require.Equal(t, want, s.put(200, id, object{"custom_fields": object{name: good}}).FieldValue(name), "%s %v", c.Kind, good)
			}
			kept := s.get(200, id)
			for _, wrong := range c.Wrong {
				body := object{"name": "B", "custom_fields": object{name: wrong}}
				it.RequireError(t, s.put(400, id, body), "TYPE_MISMATCH", name)
				it.RequireError(t, s.create(400, body), "TYPE_MISMATCH", name)
			}
			require.Equal(t, kept, s.get(200, id))
		}
	})
}

func TestUnknownAndReadOnlyFieldsOfAccounts(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		mine := s.field("Mine", "text")
		owned := s.NewConnectorField("Theirs", object{"module_id": "account"})
		foreign := s.NewField("Session", "text")
		id := s.named("A")[0]
		for name, code := range map[string]string{"nothing": "FIELD_NOT_FOUND", "name": "FIELD_NOT_FOUND", foreign: "FIELD_NOT_FOUND", owned: "FIELD_READ_ONLY"} {
			for _, value := range []any{"x", nil} {
				body := object{"name": "B", "custom_fields": object{mine: "x", name: value}}
				it.RequireError(t, s.put(400, id, body), code, name)
				it.RequireError(t, s.create(400, body), code, name)
				it.RequireError(t, s.other().takes(400, id, lacking(entity(body), "name")), code, name)
				require.NotContains(t, s.bulk(it.Updating(id, body)).Failed(t, 0, code, name), "valid_options")
			}
		}
		require.Equal(t, "A", s.get(200, id)["name"], "nothing else in the request was written")
		require.Empty(t, s.get(200, id).List("custom_fields"))
		require.Equal(t, 1, s.search(object{}).Pagination.TotalResults)
		it.RequireError(t, s.elsewhere().create(400, object{"name": "B", "custom_fields": object{mine: "x"}}), "FIELD_NOT_FOUND", mine)
		for _, wrong := range []any{nil, "x", []any{}} {
			it.RequireInvalid(t, s.put(400, id, object{"custom_fields": wrong}), "custom_fields")
		}
	})
}

func TestAccountTranslations(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		local, global := s.field("Slogan", "text"), s.field("Motto", "text", object{"scope": "global"})
		made := s.create(200, object{"name": "Acme", "description": "Hello", "translations": object{
			"fr": object{"description": "Bonjour"}, "de": object{"description": "Hallo", local: "Eins", global: "Zwei"},
		}}, "expand=translated_fields")
		shown := made.List("translated_fields")
		require.Equal(t, []string{"description", global, local, "description"}, it.Texts(shown, "parent_field_internal_name"))
		require.Equal(t, []string{"Hallo", "Zwei", "Eins", "Bonjour"}, it.Texts(shown, "value"))
		require.Equal(t, []string{"de", "de", "de", "fr"}, it.Texts(shown, "translated_language"))
		require.Equal(t, "Hello", made["description"], "the values are of the event's language")
		id := made.ID()
		for _, r := range []entity{
			s.get(200, id, "expand=translated_fields"), s.search(object{"expand": []string{"translated_fields"}}).Results[0],
			s.other().create(200, object{"account_id": id}, "expand=translated_fields"), s.put(200, id, object{"phone": nil}, "expand=translated_fields"),
			record(entity(s.call(200, "POST", "/bulk?expand=translated_fields", object{"operations": []object{it.Updating(id, object{})}}).JSON(t)).List("results")[0], "data"),
			s.Do(200, "DELETE", s.path("/"+id+"?expand=translated_fields"), nil), s.Do(200, "POST", s.path("/"+id+"/restore?expand=translated_fields"), nil),
		} {
			require.Equal(t, made["translated_fields"], r["translated_fields"])
		}
		require.NotContains(t, s.get(200, id), "translated_fields")
		there := s.elsewhere("translated_fields")
		far := there.create(200, object{"account_id": id}, "expand=translated_fields")
		require.Equal(t, []string{"Hallo", "Zwei", "Bonjour"}, it.Texts(far.List("translated_fields"), "value"), "a text of the event's field stays on it")
		less := s.put(200, id, object{"translations": object{"fr": nil, "de": object{local: nil}}}, "expand=translated_fields")
		require.Equal(t, []string{"Hallo", "Zwei"}, it.Texts(less.List("translated_fields"), "value"))
		it.RequireInvalid(t, s.put(400, id, object{"translations": object{"de": object{"nothing": "x"}}}), "translations.de.nothing")
		it.RequireInvalid(t, s.put(400, id, object{"translations": nil}), "translations")
	}, "translated_fields")
}

// record is a property that is an object.
func record(r entity, name string) entity {
	inner, _ := r[name].(object)
	return inner
}

func TestAccountTranslationsNeedTheirFeature(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id := s.named("A")[0]
		german := object{"translations": object{"de": object{"description": "Hallo"}}}
		it.RequireFeatureDisabled(t, s.create(403, it.Merged(german, object{"name": "B"})))
		it.RequireFeatureDisabled(t, s.put(403, id, german))
		it.RequireFeatureDisabled(t, s.other().takes(403, id, german))
		s.bulk(it.Updating(id, german)).Failed(t, 0, "FEATURE_NOT_ENABLED", "")
		s.SetFeature("translated_fields", true)
		require.Len(t, s.put(200, id, german, "expand=translated_fields").List("translated_fields"), 1)
	})
}
