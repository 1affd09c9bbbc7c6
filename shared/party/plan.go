package party

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/catalogue"
	"lectern/shared/change"
	"lectern/shared/field"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// step is the change of one party in a write. before has no Body for a new party, and
// no Here for a party that was never associated with the event.
type step struct {
	before, after Party
	// verb is the second word of the action, and now the time of the write.
	verb string
	now  wire.Time
	// published are the kinds of change that do not follow from values.
	published []string
	// edits reports whether a client sent values.
	edits bool
}

// writes completes the items of the step and returns the transaction: record, row and
// shard, the same of a changed association, and the change record.
func (w *Writing) writes(ctx context.Context, s *step) ([]table.Write, error) {
	b, org, kind := s.after.Body, w.Caller.Org.ID, w.store.Kind
	was := int64(0)
	if s.before.Body == nil {
		b.CreatedAt = s.now
	} else {
		was = s.before.Version
	}
	b.WrittenAt = s.now
	if s.touches() {
		b.UpdatedAt, b.Edited = s.now, was+1
	}
	values := w.values(s)
	kinds := s.kinds(b, values)
	b.Version = was + 1
	local, err := w.local(s)
	if err != nil {
		return nil, err
	}
	writes, err := stored(kind.Rows(org, 0), kind.Body(org, b.ID), b.ID, was, b, kind.rowOf(b))
	if err != nil {
		return nil, err
	}
	record := change.New(ctx, change.Record{
		At: s.now, Org: org, Event: w.Caller.Event.ID, Action: w.Role + "." + s.verb, Type: kind.Name,
		RecordID: b.ID, Version: b.Version, Values: values, Kinds: kinds,
	})
	return slices.Concat(writes, local, record.PersonalWrites(kind.PK(org, b.ID))), nil
}

// touches reports whether the record itself changes, not the association alone. An
// update that changes nothing counts as a change of the record.
func (s *step) touches() bool {
	if s.before.Body == nil || !equal(s.before.own(), s.after.own()) {
		return true
	}
	return s.verb == updated && equal(s.before.Here, s.after.Here)
}

// own returns the values of a record, without times and counts of its changes.
func (b *Body) own() Body {
	return Body{ID: b.ID, Values: b.Values, CustomFields: b.CustomFields, Translations: b.Translations}
}

// local returns the writes of the association, which the record then remembers. An
// unchanged association needs no condition: each of its writes changes the record too,
// whose version is a condition already. Only where the two may come from different
// writes, local asks for the version that was read.
func (w *Writing) local(s *step) ([]table.Write, error) {
	org, event, kind := w.Caller.Org.ID, w.Caller.Event.ID, w.store.Kind
	a, was := s.after.Here, int64(0)
	if s.before.Here != nil {
		if equal(s.before.Here, a) {
			if !w.store.MayBeTorn(s.before) {
				return nil, nil
			}
			return []table.Write{table.Version(kind.OnEvent(org, event, a.ID), a.Version)}, nil
		}
		was = s.before.Here.Version
	} else {
		a.CreatedAt, a.RecordCreatedAt = s.now, s.after.CreatedAt
	}
	a.UpdatedAt, a.Version, a.With = s.now, was+1, s.after.Version
	s.after.wrote(Recent{event, a.Version, a.With, s.now.UnixMilli()})
	return stored(kind.Rows(org, event), kind.OnEvent(org, event, a.ID), a.ID, was, a, placeOf(a))
}

// wrote adds the write of an association to Recent.
func (b *Body) wrote(r Recent) {
	b.Recent = append([]Recent{r}, b.Recent...)
	b.Recent = b.Recent[:min(len(b.Recent), maxRecent)]
}

// stored returns the writes of an item with its row over version was, 0 for a new item.
func stored(src catalogue.Source, key table.Key, id string, was int64, item, row any) ([]table.Write, error) {
	text, err := wire.Encode(item)
	if err != nil {
		return nil, fmt.Errorf("party: encode %s: %w", key.PK, err)
	}
	if len(text) > maxRecordBytes {
		return nil, apierr.Invalid("", "The record as a whole must not be larger than %d bytes.", maxRecordBytes)
	}
	small, err := wire.Encode(row)
	if err != nil {
		return nil, fmt.Errorf("party: encode row %s: %w", key.PK, err)
	}
	return catalogue.Write(src, id, table.Item{Key: key, Version: was + 1, Data: text}, was, small), nil
}

// customPrefix goes before the name of a custom field in a change record.
const customPrefix = "custom_fields."

// values returns the changed fields of a step.
func (w *Writing) values(s *step) (values []change.Value) {
	before, after := s.before.facets(), s.after.facets()
	values = change.Diff(before, after)
	was, is := s.before.customFields(), s.after.customFields()
	for _, id := range slices.Sorted(maps.Keys(joint(was, is))) {
		if d, ok := w.Set.Fields.Get(id); ok && !equal(was[id].V, is[id].V) {
			values = append(values, change.Value{Field: customPrefix + d.InternalName, Old: was[id].V, New: is[id].V})
		}
	}
	return values
}

// equal reports whether two values have the same stored form.
func equal(a, b any) bool {
	before, err := wire.Encode(a)
	after, err2 := wire.Encode(b)
	return err == nil && err2 == nil && string(before) == string(after)
}

// customFields returns all custom values of a party.
func (p Party) customFields() map[string]field.Value {
	switch {
	case p.Body == nil:
		return nil
	case p.Here == nil:
		return p.CustomFields
	}
	return joint(p.CustomFields, p.Here.CustomFields)
}

// facets returns the rest of a party that a change record compares: standard fields,
// translations, relations and roles.
func (p Party) facets() map[string]any {
	all := map[string]any{}
	if p.Body == nil {
		return all
	}
	for name, value := range p.Values {
		all[name] = value
	}
	if texts := texts(p); len(texts) > 0 {
		all["translations"] = texts
	}
	if p.Here == nil {
		return all
	}
	if len(p.Here.Relations) > 0 {
		all["contacts"] = p.Here.Relations
	}
	all["roles"] = p.Here.held()
	return all
}

// kinds returns the published kinds of a step, each with the record's next number. An
// update publishes updated once for each group of changed fields: standard and custom.
func (s *step) kinds(b *Body, values []change.Value) (kinds []change.Kind) {
	add := func(name string, fields []string) {
		b.Sequence++
		kinds = append(kinds, change.Kind{Name: name, Sequence: b.Sequence, Fields: fields})
	}
	plain, custom := grouped(values)
	for _, name := range s.published {
		add(name, slices.Concat(plain, custom))
	}
	if !s.edits || s.before.Body == nil {
		return kinds
	}
	groups := [][]string{plain, custom}
	if s.verb != updated { // Taking a role is told already.
		groups[0] = slices.DeleteFunc(plain, func(name string) bool { return name == "roles" })
	}
	groups = slices.DeleteFunc(groups, func(fields []string) bool { return len(fields) == 0 })
	if len(groups) == 0 && s.verb == updated {
		groups = [][]string{nil}
	}
	for _, role := range s.after.Here.held() {
		for _, fields := range groups {
			add(role+"."+updated, fields)
		}
	}
	return kinds
}

// grouped splits the names of changed fields into standard and custom fields.
func grouped(values []change.Value) (plain, custom []string) {
	for _, v := range values {
		if strings.HasPrefix(v.Field, customPrefix) {
			custom = append(custom, v.Field)
		} else {
			plain = append(plain, v.Field)
		}
	}
	return plain, custom
}

// count adds to the number of events on which the record has a role.
func (b *Body) count(role string, by int) {
	if b.Active == nil {
		b.Active = map[string]int{}
	}
	if b.Active[role] += by; b.Active[role] <= 0 {
		delete(b.Active, role)
	}
}
