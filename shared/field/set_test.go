package field_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/field"
	"lectern/shared/wire"
)

func fields() *field.Set {
	owned, gone := custom("4", "crm_id", field.Text), custom("5", "gone", field.Text)
	owned.Source, gone.DeletedAt = "salesforce", &noon
	other := custom("6", "a", field.Number)
	other.Module = field.Contact
	return field.NewSet(custom("2", "b", field.Number), custom("1", "a", field.Text), owned, gone, other, custom("7", "at", field.Datetime))
}

func TestApplyKeepsWhenAValueWasFirstSet(t *testing.T) {
	set := fields()
	old := map[string]field.Value{"1": {V: "x", At: noon}, "2": {V: 5.0, At: noon}, "5": {V: "kept", At: noon}}
	got, changed, err := set.Apply(field.Session, old, map[string]any{"a": "y", "b": nil}, nil, evening)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, changed)
	require.Equal(t, map[string]field.Value{"1": {V: "y", At: noon}, "5": {V: "kept", At: noon}}, got)
	require.Len(t, old, 3, "the values given stay as they are")

	got, changed, err = set.Apply(field.Session, got, map[string]any{"a": "y", "b": 6.0}, nil, evening)
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, changed, "a value sent unchanged is no change")
	require.Equal(t, field.Value{V: 6.0, At: evening}, got["2"])

	_, changed, err = set.Apply(field.Session, nil, map[string]any{"a": nil}, nil, evening)
	require.NoError(t, err)
	require.Empty(t, changed)
}

func TestApplyRefuses(t *testing.T) {
	for name, code := range map[string]string{
		"nothing": "FIELD_NOT_FOUND", "gone": "FIELD_NOT_FOUND", "title": "FIELD_NOT_FOUND", "crm_id": "FIELD_READ_ONLY", "b": "TYPE_MISMATCH",
	} {
		_, _, err := fields().Apply(field.Session, nil, map[string]any{"a": "fine", name: "x"}, nil, noon)
		refused := refusal(t, err)
		require.Equal(t, code, refused.Code, name)
		require.Equal(t, name, refused.Details["field"])
	}
}

func TestShowListsValuesInTheOrderOfTheFields(t *testing.T) {
	set := fields()
	values := map[string]field.Value{
		"7": {V: "2027-05-11T14:30:00.000Z", At: noon}, "2": {V: 5.0, At: noon}, "1": {V: "x", At: evening}, "5": {V: "gone", At: noon},
	}
	shown := set.Show(field.Session, values, chicago(t))
	require.Equal(t, []field.Shown{
		{ID: "1", Name: "A", Type: field.Text, InternalName: "a", Value: "x", CreatedAt: evening},
		{ID: "2", Name: "B", Type: field.Number, InternalName: "b", Value: 5.0, CreatedAt: noon},
		{ID: "7", Name: "AT", Type: field.Datetime, InternalName: "at", Value: "2027-05-11T09:30:00-05:00", CreatedAt: noon},
	}, shown)
	require.NotNil(t, set.Show(field.Contact, nil, nil))
	require.Empty(t, set.Show(field.Contact, values, nil))
}

func TestStandardFieldsAreThere(t *testing.T) {
	set := field.NewSet()
	for module, name := range map[field.Module]string{field.Session: "title", field.Contact: "email", field.Account: "name"} {
		d, ok := set.Named(module, name)
		require.True(t, ok, name)
		require.True(t, d.IsStandard())
		found, ok := set.Get(d.ID)
		require.True(t, ok)
		require.Same(t, d, found)
	}
	for _, d := range set.List() {
		require.NotEqual(t, field.Metadata, d.Module)
		require.NotNil(t, d.Options)
	}
}

func TestTranslations(t *testing.T) {
	set := fields()
	type sent = map[string]wire.Opt[string]
	null, some := wire.Null[string](), wire.Some[string]
	texts, err := set.Translate(field.Session, nil, field.TranslationDraft{
		"fr":    wire.Some(sent{"title": some("Bonjour"), "a": some("un")}),
		"de":    wire.Some(sent{"title": some("Hallo")}),
		"pt-BR": wire.Some(sent{"title": null}),
	})
	require.NoError(t, err)
	shown := set.Translated("record", texts)
	require.Len(t, shown, 3)
	require.Equal(t, "de", shown[0].Language)
	require.Equal(t, field.Translated{
		ID: shown[1].ID, Name: "A", Type: field.Text, ParentID: "1", ParentSource: "custom", ParentName: "A",
		ParentInternalName: "a", Language: "fr", Value: "un",
	}, shown[1])
	require.Equal(t, "standard", shown[2].ParentSource)
	require.Equal(t, shown, set.Translated("record", texts), "ids stay")
	require.NotEqual(t, shown[0].ID, set.Translated("other", texts)[0].ID)

	less, err := set.Translate(field.Session, texts, field.TranslationDraft{
		"fr": wire.Some(sent{"title": null}), "de": wire.Null[sent](),
	})
	require.NoError(t, err)
	require.Len(t, set.Translated("record", less), 1)
	require.Len(t, set.Translated("record", texts), 3, "the texts given stay as they are")
	require.NotNil(t, set.Translated("record", nil))
}

func TestTranslationsRefused(t *testing.T) {
	long := strings.Repeat("x", 256)
	for _, c := range []struct{ lang, name, at, code string }{
		{"french language", "title", "translations.french language", "VALIDATION_ERROR"},
		{"fr", "nothing", "translations.fr.nothing", "VALIDATION_ERROR"},
		{"fr", "b", "translations.fr.b", "VALIDATION_ERROR"},
		{"fr", "crm_id", "translations.fr.crm_id", "FIELD_READ_ONLY"},
		{"fr", "title", "translations.fr.title", "VALIDATION_ERROR"},
	} {
		_, err := fields().Translate(field.Session, nil, field.TranslationDraft{
			c.lang: wire.Some(map[string]wire.Opt[string]{c.name: wire.Some(long)}),
		})
		refused := refusal(t, err)
		require.Equal(t, c.code, refused.Code, c.at)
		require.Equal(t, c.at, refused.Details["field"])
	}
}

func TestALanguageIsKeptInOneCase(t *testing.T) {
	set := fields()
	in := func(codes ...string) field.TranslationDraft {
		draft := field.TranslationDraft{}
		for _, code := range codes {
			draft[code] = wire.Some(map[string]wire.Opt[string]{"title": wire.Some(code)})
		}
		return draft
	}
	texts, err := set.Translate(field.Session, nil, in("PT-br", "zh-hant-tw", "SL-ROZAJ"))
	require.NoError(t, err)
	texts, err = set.Translate(field.Session, texts, in("pt-br"))
	require.NoError(t, err)
	require.Equal(t, []string{"pt-BR", "sl-rozaj", "zh-Hant-TW"}, slices.Sorted(maps.Keys(texts)))
	require.Equal(t, "pt-br", set.Translated("record", texts)[0].Value)
	_, err = set.Translate(field.Session, nil, in("pt-BR", "pt-br"))
	require.Equal(t, "translations.pt-br", refusal(t, err).Details["field"])
}
