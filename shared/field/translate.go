package field

import (
	"cmp"
	"maps"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/settings/item"
	"lectern/shared/wire"
)

// Translations are the translated texts of a record: language, field id, text.
type Translations map[string]map[string]string

// TranslationDraft has the translations that a client sends: language, internal
// name, text. null clears a text, or all texts of a language; an absent text
// stays.
type TranslationDraft = map[string]wire.Opt[map[string]wire.Opt[string]]

// maxLanguages is how many languages a record is translated into, so that an
// entry of metadata stays far below the size of an item.
const maxLanguages = 100

// Translate writes the sent translations into a record's translations. It returns the new
// translations, by language codes in canonical case; the old map stays unchanged. Errors: 400
// VALIDATION_ERROR for a wrong or repeated language, a field without texts, or a text that is too long,
// and FIELD_READ_ONLY for a connector's field; each naming
// translations.<language>.<field>.
func (s *Set) Translate(module Module, old Translations, sent TranslationDraft) (Translations, error) {
	all := maps.Clone(old)
	if all == nil {
		all = Translations{}
	}
	seen := map[string]bool{}
	for _, lang := range slices.Sorted(maps.Keys(sent)) {
		at, code := "translations."+lang, canonical(lang)
		switch {
		case !isLanguage(lang):
			return nil, apierr.Invalid(at, "%q is not a BCP 47 language code.", lang)
		case seen[code]:
			return nil, apierr.Invalid(at, "translations has the language %s twice.", code)
		}
		seen[code] = true
		texts, err := s.translate(module, at, all[code], sent[lang].Value)
		if err != nil {
			return nil, err
		}
		all[code] = texts
		if sent[lang].Null || len(texts) == 0 {
			delete(all, code)
		}
	}
	if len(all) > maxLanguages {
		return nil, apierr.Invalid("translations", "A record has translations into at most %d languages.", maxLanguages)
	}
	return all, nil
}

// translate writes the texts of a language; at is the field of the request.
func (s *Set) translate(
	module Module, at string, old map[string]string, sent map[string]wire.Opt[string],
) (map[string]string, error) {
	texts := maps.Clone(old)
	if texts == nil {
		texts = map[string]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		d, ok := s.Named(module, name)
		if !ok || !d.translatable() {
			return nil, apierr.Invalid(at+"."+name, "There is no text %q that could be translated.", name)
		}
		if d.IsReadOnly() {
			return nil, apierr.ReadOnly(at + "." + name)
		}
		text := sent[name]
		if limit := limits[d.Type]; limit.length(text.Value) > limit.most {
			return nil, apierr.Invalid(at+"."+name, "%s must not be longer than %d %s.", name, limit.most, limit.unit)
		}
		if texts[d.ID] = text.Value; !text.Has() {
			delete(texts, d.ID)
		}
	}
	return texts, nil
}

// translatable reports whether the field's values are texts for people.
func (d *Definition) translatable() bool {
	_, ok := limits[d.Type]
	return ok
}

// Translated is a translated text in an answer: the TranslatedField
// of gaps.md section 2.1.
type Translated struct {
	ID                 string `json:"id" format:"uuid" doc:"The translation's id."`
	Name               string `json:"name" doc:"The public name of the field."`
	Type               Type   `json:"type" doc:"The type of the field."`
	ParentID           string `json:"parent_field_id" format:"uuid" doc:"The field that is translated."`
	ParentSource       string `json:"parent_field_source" doc:"Its source."`
	ParentName         string `json:"parent_field_name" doc:"Its public name."`
	ParentInternalName string `json:"parent_field_internal_name" doc:"Its internal name."`
	Language           string `json:"translated_language" doc:"The language of value."`
	Value              string `json:"value" doc:"The text."`
}

// Translated shows the translations of the record with the given id, ordered by
// language and field; never nil.
func (s *Set) Translated(record string, texts Translations) []Translated {
	shown := []Translated{}
	for lang, byField := range texts {
		for id, text := range byField {
			d, ok := s.byID[id]
			if !ok {
				continue
			}
			shown = append(shown, Translated{
				ID: item.DerivedID(record, lang, id), Name: d.PublicName, Type: d.Type, ParentID: id, ParentSource: d.Source,
				ParentName: d.PublicName, ParentInternalName: d.InternalName, Language: lang, Value: text,
			})
		}
	}
	slices.SortFunc(shown, func(a, b Translated) int {
		return cmp.Or(cmp.Compare(a.Language, b.Language), cmp.Compare(a.ParentInternalName, b.ParentInternalName))
	})
	return shown
}
