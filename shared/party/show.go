package party

import (
	"fmt"

	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/settings"
	"lectern/shared/wire"
)

// Shown is a party as a client reads it.
type Shown struct {
	wire.Object
	id      string
	version int64
	// less are the shorter forms of a long answer, the longest first.
	less []shorter
	// added are the properties that Append has added.
	added   []string
	values  []any
	omitted []string
}

// detail is how much a form shows: translated_fields, and contacts without about.
type detail struct{ translated, brief bool }

// shorter is a form of a party that leaves out the properties at the paths.
type shorter struct {
	show    func() wire.Object
	omitted []string
}

// Revision is the version the answer shows, for its ETag.
func (s *Shown) Revision() int64 { return s.version }

// RecordID is the id of the record shown.
func (s *Shown) RecordID() string { return s.id }

// Shrink shows the next shorter form and lists what it leaves out in the property omitted
// (size.Shrinker). It reports whether there was one.
func (s *Shown) Shrink() bool {
	if len(s.less) == 0 {
		return false
	}
	s.Object, s.omitted = s.less[0].show(), append(s.omitted, s.less[0].omitted...)
	s.less = s.less[1:]
	for i, name := range s.added {
		s.Add(name, s.values[i])
	}
	s.Add(omitted, s.omitted)
	return true
}

// omitted is the property that lists the paths of what a long answer leaves out.
const omitted = "omitted"

// Append adds a property at the end.
func (s *Shown) Append(name string, value any) {
	s.Add(name, value)
	s.added, s.values = append(s.added, name), append(s.values, value)
}

// Viewer shows parties of a kind to a caller.
type Viewer struct {
	Kind   *Kind
	Caller *auth.Caller
	Set    *settings.Snapshot
	// Translated adds translated_fields, behind the custom fields where CustomFirst
	// is set.
	Translated, CustomFirst bool
	// AdminURL is that of the store, Collection the name that the kind has there.
	AdminURL, Collection string
}

// Standard adds standard fields to an object, in the order given: null where they
// are not set.
func Standard(o *wire.Object, b *Body, names []string) {
	for _, name := range names {
		o.Add(name, Optional(b, name))
	}
}

// Optional is a standard field as it is shown: nil where it is not set.
func Optional(b *Body, name string) any {
	if value, ok := b.Values[name]; ok {
		return value
	}
	return nil
}

// Finish returns the party that begins with o and ends with what every party has:
// translations where they are asked for, custom fields, the contacts of an account, the
// deep link, and when its role was deleted. contacts adds those, without about where brief
// is set; nil for a party without.
func (v *Viewer) Finish(o wire.Object, p Party, role string, contacts func(o *wire.Object, brief bool)) Shown {
	form := func(d detail) func() wire.Object {
		return func() wire.Object { return v.form(o, p, role, d, contacts) }
	}
	shown := Shown{Object: form(detail{translated: v.Translated})(), id: p.ID, version: p.Revision()}
	if contacts != nil {
		shown.less = append(shown.less, shorter{form(detail{v.Translated, true}), []string{"contacts.about"}})
	}
	if v.Translated {
		shown.less = append(shown.less, shorter{form(detail{brief: true}), []string{"translated_fields"}})
	}
	return shown
}

// form returns one form of a party.
func (v *Viewer) form(o wire.Object, p Party, role string, d detail, contacts func(o *wire.Object, brief bool)) wire.Object {
	custom := v.CustomFields(p)
	switch {
	case !d.translated:
		o = o.With("custom_fields", custom)
	case v.CustomFirst:
		o = o.With("custom_fields", custom).With("translated_fields", v.Translations(p))
	default:
		o = o.With("translated_fields", v.Translations(p)).With("custom_fields", custom)
	}
	if contacts != nil {
		contacts(&o, d.brief)
	}
	o.Add("admin_url", v.admin(p))
	if p.Here != nil {
		if at := p.Here.Roles[role].DeletedAt; at != nil {
			o.Add("deleted_at", at)
		}
	}
	return o
}

// CustomFields are the values that the party has of the event's fields and of the
// organization's.
func (v *Viewer) CustomFields(p Party) []field.Shown {
	return v.Set.Fields.Show(v.Kind.Module, p.customFields(), Location(v.Caller))
}

// Translations are the translated texts of a party.
func (v *Viewer) Translations(p Party) []field.Translated {
	return v.Set.Fields.Translated(p.ID, texts(p))
}

// admin is the deep link to the party, null where no admin application is
// configured.
func (v *Viewer) admin(p Party) *string {
	if v.AdminURL == "" {
		return nil
	}
	place := fmt.Sprintf("organization/%d", v.Caller.Org.ID)
	if p.Here != nil {
		place = fmt.Sprintf("event/%d", p.Here.Event)
	}
	link := fmt.Sprintf("%s/%s/%s/%s", v.AdminURL, place, v.Collection, p.ID)
	return &link
}
