package party

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/search"
	"lectern/shared/settings"
	"lectern/shared/size"
	"lectern/shared/wire"
)

// Shown is a party as shown to a client.
type Shown struct {
	wire.Object
	id      string
	version int64
	// reductions are the properties to shorten in a long answer, in order. omitted are the
	// paths of the parts left out.
	reductions []reduction
	omitted    []string
}

// reduction is a property to shorten from a Detail on.
type reduction struct {
	from       size.Detail
	name, path string
	// value returns the shorter value; nil for a property that is left out.
	value func() any
}

func nothing() any { return nil }

// Revision returns the version of the answer, for the ETag.
func (s *Shown) Revision() int64 { return s.version }

// RecordID returns the id of the record.
func (s *Shown) RecordID() string { return s.id }

// omitted is the property that lists the paths left out of a long answer.
const omitted = "omitted"

// Reduce shortens the party to a Detail (size.Reducer).
func (s *Shown) Reduce(to size.Detail) (less bool) {
	for len(s.reductions) > 0 && s.reductions[0].from <= to {
		next := s.reductions[0]
		s.reductions, s.omitted, less = s.reductions[1:], append(s.omitted, next.path), true
		s.Object = s.Edit(func(name string, value any) any {
			switch name {
			case omitted:
				return nil
			case next.name:
				return next.value()
			}
			return value
		})
		s.Add(omitted, s.omitted)
	}
	return less
}

// Expand reports whether an answer has translated_fields.
type Expand bool

const translated = "translated_fields"

// Expanding is the part of an input that asks for translated_fields.
type Expanding struct {
	Expand api.Strings `query:"expand" enum:"translated_fields" doc:"What to add to the answer."`
}

// Translated reports whether the client asks for translated_fields.
func (x Expanding) Translated() Expand { return Expand(x.Expand.Has(translated)) }

// SearchBody is the body of a search of people or accounts; F are its filters.
type SearchBody[F any] struct {
	Filters F                           `json:"filters,omitzero" doc:"All of them must match."`
	Sort    search.Sort[search.ByTimes] `json:"sort,omitzero"`
	Expand  api.Strings                 `json:"expand,omitempty" enum:"translated_fields" doc:"What to add to each result."`
	_       struct{}                    `json:"-" additionalProperties:"true"`
}

// Translated reports whether the client asks for translated_fields.
func (b *SearchBody[F]) Translated() Expand { return Expand(b.Expand.Has(translated)) }

// Viewer shows parties of a kind to a caller.
type Viewer struct {
	Kind   *Kind
	Caller *auth.Caller
	Set    *settings.Snapshot
	// Translated adds translated_fields, after the custom fields if CustomFirst is set.
	Translated, CustomFirst bool
	// AdminURL is that of the store, Collection the name that the kind has there.
	AdminURL, Collection string
}

// Standard adds standard fields to an object, in the order given: null for an unset field.
func Standard(o *wire.Object, b *Body, names []string) {
	for _, name := range names {
		o.Add(name, Optional(b, name))
	}
}

// Optional returns a standard field as shown: nil for an unset field.
func Optional(b *Body, name string) any {
	if value, ok := b.Values[name]; ok {
		return value
	}
	return nil
}

// ContactList has the contacts that an account shows. Brief returns them without about.
type ContactList interface {
	Len() int
	Brief() any
}

// Finish returns the party that begins with o and ends with the common properties:
// translations, custom fields, the contacts of an account, the deep link, and the time when
// the role was deleted. contacts is nil for a party that shows none.
func (v *Viewer) Finish(o wire.Object, p Party, role string, contacts ContactList) Shown {
	shown := Shown{Object: o, id: p.ID, version: p.Revision()}
	if v.CustomFirst || !v.Translated {
		shown.Add("custom_fields", v.CustomFields(p))
	}
	if v.Translated {
		shown.Add(translated, v.Translations(p))
		shown.reductions = []reduction{{size.Unexpanded, translated, translated, nothing}}
	}
	if v.Translated && !v.CustomFirst {
		shown.Add("custom_fields", v.CustomFields(p))
	}
	if contacts != nil {
		shown.Add("contacts", contacts)
		if contacts.Len() > 0 {
			shown.reductions = slices.Insert(shown.reductions, 0, reduction{size.Brief, "contacts", "contacts.about", contacts.Brief})
		}
	}
	shown.Add("admin_url", v.admin(p))
	if p.Association != nil {
		if at := p.Association.Roles[role].DeletedAt; at != nil {
			shown.Add("deleted_at", at)
		}
	}
	return shown
}

// CustomFields returns the values of the event's and the organization's fields.
func (v *Viewer) CustomFields(p Party) []field.Shown {
	return v.Set.Fields.Show(v.Kind.Module, p.Custom(), Location(v.Caller))
}

// Translations returns the translated texts of a party.
func (v *Viewer) Translations(p Party) []field.Translated {
	return v.Set.Fields.Translated(p.ID, texts(p))
}

// admin returns the deep link to the party, null without an admin application.
func (v *Viewer) admin(p Party) *string {
	if v.AdminURL == "" {
		return nil
	}
	owner := fmt.Sprintf("organization/%d", v.Caller.Org.ID)
	if p.Association != nil {
		owner = fmt.Sprintf("event/%d", p.Association.Event)
	}
	link := fmt.Sprintf("%s/%s/%s/%s", v.AdminURL, owner, v.Collection, p.ID)
	return &link
}

// DescribeDraft adds the standard fields under all their names to the schema of a draft.
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

// describe returns the schema of a standard field.
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
		AnyOf: []*huma.Schema{text, {Type: huma.TypeInteger}},
		Description: d.PublicName + ": its code of ISO 3166-1, as a number or in digits, " +
			"two or three letters, or its English name. It is kept and shown as three digits.",
	}
}
