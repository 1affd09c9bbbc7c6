package party

import (
	"fmt"
	"slices"

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
	// less are the properties that a long answer shows less of, in this order. omitted are
	// the paths of all that was left out.
	less    []less
	omitted []string
}

// less is a property that a long answer shows less of.
type less struct {
	name, path string
	// value returns the shorter value; nil for a property that is left out.
	value func() any
}

// Revision is the version the answer shows, for its ETag.
func (s *Shown) Revision() int64 { return s.version }

// RecordID is the id of the record shown.
func (s *Shown) RecordID() string { return s.id }

// omitted is the property that lists the paths of what a long answer leaves out.
const omitted = "omitted"

// Shrink shows less of the next property and lists it in the property omitted
// (size.Shrinker). It reports whether there was one.
func (s *Shown) Shrink() bool {
	if len(s.less) == 0 {
		return false
	}
	next := s.less[0]
	s.less, s.omitted = s.less[1:], append(s.omitted, next.path)
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
	return true
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
// deep link, and when its role was deleted. contacts shows those, without about where brief
// is set; nil for a party without.
func (v *Viewer) Finish(o wire.Object, p Party, role string, contacts func(brief bool) any) Shown {
	shown := Shown{Object: o, id: p.ID, version: p.Revision()}
	if v.CustomFirst || !v.Translated {
		shown.Add("custom_fields", v.CustomFields(p))
	}
	if v.Translated {
		shown.Add(translated, v.Translations(p))
		shown.less = []less{{translated, translated, func() any { return nil }}}
	}
	if v.Translated && !v.CustomFirst {
		shown.Add("custom_fields", v.CustomFields(p))
	}
	if contacts != nil {
		shown.Add("contacts", contacts(false))
		shown.less = slices.Insert(shown.less, 0, less{"contacts", "contacts.about", func() any { return contacts(true) }})
	}
	shown.Add("admin_url", v.admin(p))
	if p.Here != nil {
		if at := p.Here.Roles[role].DeletedAt; at != nil {
			shown.Add("deleted_at", at)
		}
	}
	return shown
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
