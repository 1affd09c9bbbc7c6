package field

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/wire"
)

// Set has the fields of an event's records: the standard fields, and the fields of the event and
// the organization. A Set is read only.
type Set struct {
	byID   map[string]*Definition
	byName map[Module]map[string]*Definition
	list   []*Definition
	// custom has the fields by module whose values are custom fields.
	custom map[Module][]*Definition
}

// NewSet returns the set of the definitions that are not deleted and of the standard fields.
func NewSet(defs ...*Definition) *Set {
	s := &Set{
		byID: map[string]*Definition{}, byName: map[Module]map[string]*Definition{}, custom: map[Module][]*Definition{},
	}
	all := slices.Concat(standard, defs)
	slices.SortStableFunc(all, func(a, b *Definition) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt.Time), cmp.Compare(a.ID, b.ID))
	})
	for _, d := range all {
		if d.DeletedAt != nil {
			continue
		}
		if s.byName[d.Module] == nil {
			s.byName[d.Module] = map[string]*Definition{}
		}
		s.byID[d.ID], s.byName[d.Module][d.InternalName] = d, d
		if d.Module != Metadata {
			s.list = append(s.list, d)
		}
		if !d.IsStandard() {
			s.custom[d.Module] = append(s.custom[d.Module], d)
		}
	}
	return s
}

// List gives every definition a client may see, oldest first.
func (s *Set) List() []*Definition { return s.list }

// Get gives a definition by id.
func (s *Set) Get(id string) (*Definition, bool) {
	d, ok := s.byID[id]
	return d, ok
}

// Named returns a module's definition by internal name, standard fields included.
func (s *Set) Named(module Module, name string) (*Definition, bool) {
	d, ok := s.byName[module][name]
	return d, ok
}

// Value is the value of a custom field in a record, kept under the field's id.
type Value struct {
	// V is a string, a number, a boolean, or a list of strings. A datetime is
	// kept in UTC.
	V any `json:"v"`
	// At is when the value was first set.
	At wire.Time `json:"at"`
}

// Apply writes the values sent, by internal name, into the values of a record. It returns the
// new values, and the internal names of the changed values in order. nil clears a value; an
// absent value stays. loc is the event's zone, for a datetime without offset; nil for an event
// without a zone. The old map stays unchanged. Errors: 400 FIELD_NOT_FOUND, FIELD_READ_ONLY,
// TYPE_MISMATCH or VALIDATION_ERROR, naming the field (spec.md 4.5).
func (s *Set) Apply(
	module Module, old map[string]Value, sent map[string]any, loc *time.Location, now wire.Time,
) (values map[string]Value, changed []string, err error) {
	values = maps.Clone(old)
	if values == nil {
		values = map[string]Value{}
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		d, ok := s.Named(module, name)
		if !ok || d.IsStandard() {
			return nil, nil, apierr.FieldNotFound(name)
		}
		if d.IsReadOnly() {
			return nil, nil, apierr.ReadOnly(name)
		}
		v, err := d.Accept(sent[name], loc)
		if err != nil {
			return nil, nil, err
		}
		if d.store(values, v, now) {
			changed = append(changed, name)
		}
	}
	return values, changed, nil
}

// store puts a value, nil for no value, and reports whether the values changed.
func (d *Definition) store(values map[string]Value, v any, now wire.Time) bool {
	was, had := values[d.ID]
	switch {
	case v == nil:
		delete(values, d.ID)
		return had
	case !had:
		values[d.ID] = Value{V: v, At: now}
		return true
	}
	values[d.ID] = Value{V: v, At: was.At}
	return !reflect.DeepEqual(was.V, v)
}

// Shown is a custom field's value as a client reads it: the CustomFieldValue of
// spec.md 2.7.
type Shown struct {
	ID           string    `json:"id" format:"uuid" doc:"The field's id."`
	Name         string    `json:"name" doc:"The field's public name."`
	Type         Type      `json:"type" doc:"The field's type."`
	InternalName string    `json:"internal_name" doc:"The field's key in requests."`
	Value        any       `json:"value" doc:"A string, number, boolean or list of strings, by the field's type."`
	CreatedAt    wire.Time `json:"created_at" doc:"When the value was first set."`
}

// Show gives the values that a record has, in the order of the fields; never
// nil. A datetime is shown in loc with its offset, and in UTC with a trailing Z
// when loc is nil.
func (s *Set) Show(module Module, values map[string]Value, loc *time.Location) []Shown {
	shown := make([]Shown, 0, len(values))
	for _, d := range s.custom[module] {
		v, ok := values[d.ID]
		if !ok {
			continue
		}
		shown = append(shown, Shown{
			ID: d.ID, Name: d.PublicName, Type: d.Type, InternalName: d.InternalName,
			Value: d.Render(v.V, loc), CreatedAt: v.At,
		})
	}
	return shown
}
