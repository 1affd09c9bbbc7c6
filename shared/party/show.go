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
	// slim is what is shown without what was added on request; nil where that is
	// the same.
	slim *wire.Object
}

// Revision is the version the answer shows, for its ETag.
func (s *Shown) Revision() int64 { return s.version }

// RecordID is the id of the record shown.
func (s *Shown) RecordID() string { return s.id }

// Slim leaves out what was added on request. It is false when there was nothing.
func (s *Shown) Slim() bool {
	if s.slim == nil {
		return false
	}
	s.Object, s.slim = *s.slim, nil
	return true
}

// Collapse is Slim: a party shows nothing else that can be left out.
func (s *Shown) Collapse() bool { return s.Slim() }

// Append adds a property at the end.
func (s *Shown) Append(name string, value any) {
	s.Add(name, value)
	if s.slim != nil {
		slim := s.slim.With(name, value)
		s.slim = &slim
	}
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

// Finish adds what every party ends with: translations where they are asked for,
// custom fields, what follows, the deep link, and when its role was deleted.
func (v *Viewer) Finish(o wire.Object, p Party, role string, follows func(*wire.Object)) Shown {
	end := func(o wire.Object) wire.Object {
		if follows != nil {
			follows(&o)
		}
		o.Add("admin_url", v.admin(p))
		if p.Here != nil {
			if at := p.Here.Roles[role].DeletedAt; at != nil {
				o.Add("deleted_at", at)
			}
		}
		return o
	}
	custom := v.CustomFields(p)
	slim := end(o.With("custom_fields", custom))
	shown := Shown{Object: slim, id: p.ID, version: p.Revision()}
	switch {
	case !v.Translated:
		return shown
	case v.CustomFirst:
		o = o.With("custom_fields", custom).With("translated_fields", v.Translations(p))
	default:
		o = o.With("translated_fields", v.Translations(p)).With("custom_fields", custom)
	}
	shown.Object, shown.slim = end(o), &slim
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
