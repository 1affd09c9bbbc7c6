package party

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/apierr"
	"lectern/shared/field"
	"lectern/shared/wire"
)

// Draft is what a client may write of a party, on create, update and bulk. The
// standard fields, which have no place in the struct, are read by Decode. An absent
// property leaves what is stored; null clears.
type Draft struct {
	UpdatedAt    wire.Opt[wire.Time]              `json:"updated_at,omitzero" nullable:"false" doc:"On an update, the record's updated_at as last fetched; a stale one is a 409."`
	CustomFields wire.Opt[map[string]any]         `json:"custom_fields,omitzero" nullable:"false" doc:"Values by the field's internal name; null clears one."`
	Translations wire.Opt[field.TranslationDraft] `json:"translations,omitzero" nullable:"false" doc:"Texts by language and field; needs the translated_fields feature."`

	values map[string]sent
	// refused is why the standard fields contradict each other; nil when they do not.
	refused error
	_       struct{} `json:"-" additionalProperties:"true"`
}

// sent is a standard field as the client sent it, under the name it used.
type sent struct {
	wire.Opt[string]
	name string
}

// Text gives what was sent for a standard field.
func (d *Draft) Text(name string) wire.Opt[string] { return d.values[name].Opt }

// SetText replaces what was sent for a standard field.
func (d *Draft) SetText(name, text string) {
	d.values[name] = sent{wire.Some(text), d.values[name].name}
}

// Decode reads the standard fields out of a body that has passed its schema. Two
// names of one field with different values are refused when the draft is checked:
// an error while decoding would be told without its field.
func (d *Draft) Decode(k *Kind, body []byte) error {
	var properties map[string]json.RawMessage
	if err := json.Unmarshal(body, &properties); err != nil {
		return err
	}
	d.values = map[string]sent{}
	for _, name := range k.Fields {
		if err := d.decode(name, name, properties); err != nil {
			return err
		}
	}
	for _, alias := range slices.Sorted(maps.Keys(k.Aliases)) {
		if err := d.decode(alias, k.Aliases[alias], properties); err != nil {
			return err
		}
	}
	return nil
}

func (d *Draft) decode(name, of string, properties map[string]json.RawMessage) error {
	text, ok := properties[name]
	if !ok {
		return nil
	}
	value := sent{name: name}
	if number, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		value.Opt = wire.Some(strconv.FormatInt(number, 10)) // A country by its number.
	} else if err := json.Unmarshal(text, &value.Opt); err != nil {
		return fmt.Errorf("party: decode %s: %w", name, err)
	}
	if before, both := d.values[of]; both && before.Opt != value.Opt {
		d.refused = apierr.Invalid(name, "%s and %s must be the same when both are sent.", name, of)
	}
	d.values[of] = value
	return nil
}

// DescribeDraft adds the standard fields, under every name that they may be written
// by, to the schema of a draft.
func (k *Kind) DescribeDraft(s *huma.Schema) {
	for _, name := range k.Fields {
		s.Properties[name] = k.describe(name)
	}
	for alias, name := range k.Aliases {
		s.Properties[alias] = k.describe(name)
		s.Properties[alias].Description = "The same as " + name + "."
	}
}

// Describe adds the properties of T, and then the standard fields named, to the
// schema of a shown party.
func Describe[T any](r huma.Registry, s *huma.Schema, k *Kind, names []string) {
	own := huma.SchemaFromType(r, reflect.TypeFor[T]())
	s.Properties, s.Required = own.Properties, own.Required
	for _, name := range names {
		d, _ := standard.Named(k.Module, name)
		s.Properties[name] = &huma.Schema{Type: huma.TypeString, Nullable: true, Description: d.PublicName + "."}
		s.Required = append(s.Required, name)
	}
}

var standard = field.NewSet()

// describe is the schema of one standard field.
func (k *Kind) describe(name string) *huma.Schema {
	d, ok := standard.Named(k.Module, name)
	if !ok {
		panic(fmt.Sprintf("party: %s has no standard field %s", k.Name, name))
	}
	length := field.MaxLength(d.Type)
	text := &huma.Schema{Type: huma.TypeString, Nullable: true, MaxLength: &length, Description: d.PublicName + "."}
	if d.Type != field.Countries {
		return text
	}
	text.Description, text.MaxLength = "", nil
	return &huma.Schema{
		AnyOf:       []*huma.Schema{text, {Type: huma.TypeInteger}},
		Description: d.PublicName + ": its code of ISO 3166-1, as a number or in digits, two or three letters, or its English name. It is kept and shown as three digits.",
	}
}
