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
	"lectern/shared/settings"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// The verbs of writes: the second word of actions and published kinds.
const (
	created       = "created"
	updated       = "updated"
	deleted       = "deleted"
	restored      = "restored"
	associated    = "associated"
	onEvent       = ".event."
	disassociated = "disassociated"
)

// step is the change of one party in a write. before has no Body for a new party, and
// no Association for a party that was never associated with the event.
type step struct {
	Request
	set           *settings.Snapshot
	before, after Party
	// verb is the second word of the action, and now the time of the write.
	verb string
	now  wire.Time
	// published are the kinds of change that do not follow from values.
	published []string
	// edits reports whether a client sent values.
	edits bool
}

// take gives the role. The role is published as created if the party holds it on no other
// event.
func (s *step) take(role Role) {
	if s.after.Active[s.Role] == 0 {
		s.published = []string{s.Role + "." + created}
	}
	s.after.count(s.Role, 1)
	s.published = append(s.published, s.Role+onEvent+associated)
	s.after.Association.Roles[s.Role] = role
}

// leave takes the role away. The role is published as deleted if the party holds it on no
// other event.
func (s *step) leave(role Role) {
	s.published = []string{s.Role + onEvent + disassociated}
	if s.after.count(s.Role, -1); s.after.Active[s.Role] == 0 {
		s.published = append(s.published, s.Role+"."+deleted)
	}
	s.after.Association.Roles[s.Role] = role
}

// writes completes the items of the step and returns the transaction: record, row and
// shard, the same of a changed association, and the change record.
func (s *step) writes(ctx context.Context) ([]table.Write, error) {
	b, org, kind := s.after.Body, s.Caller.Org.ID, s.store.Kind
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
	values := s.values()
	kinds := s.kinds(values)
	b.Version = was + 1
	local, err := s.local()
	if err != nil {
		return nil, err
	}
	writes, err := stored(kind.Rows(org, 0), table.Item{Key: kind.Body(org, b.ID), Version: was}, b.ID, b, kind.rowOf(b))
	if err != nil {
		return nil, err
	}
	record := change.New(ctx, change.Record{
		At: s.now, Org: org, Event: s.Caller.Event.ID, Action: s.Role + "." + s.verb, Type: kind.Name,
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
	return s.verb == updated && equal(s.before.Association, s.after.Association)
}

// own returns the values of a record, without times and counts of its changes.
func (b *Body) own() Body {
	return Body{ID: b.ID, Values: b.Values, CustomFields: b.CustomFields, Translations: b.Translations}
}

// local returns the writes of the association, and adds them to the record's Recent. An
// unchanged association needs no condition: each write of an association changes the record
// too, and the record has a condition already. If record and association may come from
// different writes, local adds a condition on the version that was read.
func (s *step) local() ([]table.Write, error) {
	org, event, kind := s.Caller.Org.ID, s.Caller.Event.ID, s.store.Kind
	a, was := s.after.Association, int64(0)
	if s.before.Association != nil {
		if equal(s.before.Association, a) {
			if !s.store.mayBeTorn(s.before) {
				return nil, nil
			}
			return []table.Write{table.Version(kind.OnEvent(org, event, a.ID), a.Version)}, nil
		}
		was = s.before.Association.Version
	} else {
		a.CreatedAt, a.RecordCreatedAt = s.now, s.after.CreatedAt
	}
	a.UpdatedAt, a.Version, a.With = s.now, was+1, s.after.Version
	s.after.wrote(Recent{event, a.Version, a.With, s.now.UnixMilli()})
	return stored(kind.Rows(org, event), table.Item{Key: kind.OnEvent(org, event, a.ID), Version: was}, a.ID, a, associationRow(a))
}

// wrote adds the write of an association to Recent.
func (b *Body) wrote(r Recent) {
	b.Recent = append([]Recent{r}, b.Recent...)
	b.Recent = b.Recent[:min(len(b.Recent), maxRecent)]
}

// stored returns the writes of an item with its row. was has the item's key and the version
// to replace, 0 for a new item.
func stored(src catalogue.Source, was table.Item, id string, item, row any) ([]table.Write, error) {
	text, err := wire.Encode(item)
	if err != nil {
		return nil, fmt.Errorf("party: encode %s: %w", was.PK, err)
	}
	if len(text) > maxRecordBytes {
		return nil, apierr.Invalid("", "The record as a whole must not be larger than %d bytes.", maxRecordBytes)
	}
	small, err := wire.Encode(row)
	if err != nil {
		return nil, fmt.Errorf("party: encode row %s: %w", was.PK, err)
	}
	return catalogue.Write(src, id, table.Item{Key: was.Key, Version: was.Version + 1, Data: text}, was.Version, small), nil
}

// roles is the property of a change record for roles.
const roles = "roles"

// customPrefix goes before the name of a custom field in a change record.
const customPrefix = "custom_fields."

// values returns the changed fields of a step; those of an erasure without the values before.
func (s *step) values() (values []change.Value) {
	before, after := s.before.facets(), s.after.facets()
	values = change.Diff(before, after)
	was, is := s.before.Custom(), s.after.Custom()
	for _, id := range slices.Sorted(maps.Keys(joint(was, is))) {
		if d, ok := s.set.Fields.Get(id); ok && !equal(was[id].V, is[id].V) {
			values = append(values, change.Value{Field: customPrefix + d.InternalName, Old: was[id].V, New: is[id].V})
		}
	}
	if s.verb == Erased {
		return change.Named(values)
	}
	return values
}

// equal reports whether two values have the same stored form.
func equal(a, b any) bool {
	before, err := wire.Encode(a)
	after, err2 := wire.Encode(b)
	return err == nil && err2 == nil && string(before) == string(after)
}

// Custom returns all custom values of a party, of the organization and of the event.
func (p Party) Custom() map[string]field.Value {
	switch {
	case p.Body == nil:
		return nil
	case p.Association == nil:
		return p.CustomFields
	}
	return joint(p.CustomFields, p.Association.CustomFields)
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
	if p.Association == nil {
		return all
	}
	if len(p.Association.Relations) > 0 {
		all["contacts"] = p.Association.Relations
	}
	all[roles] = p.Association.held()
	return all
}

// kinds returns the published kinds of a step, each with the record's next number. An
// update publishes updated once for each group of changed fields: standard and custom. An update or
// erasure that changes no field publishes updated without fields.
func (s *step) kinds(values []change.Value) (kinds []change.Kind) {
	plain, custom := grouped(values)
	for _, name := range s.published {
		kinds = append(kinds, s.after.kind(name, slices.Concat(plain, custom)))
	}
	if !s.edits || s.before.Body == nil {
		return kinds
	}
	groups := [][]string{plain, custom}
	if s.verb != updated { // Taking a role is published already.
		groups[0] = slices.DeleteFunc(plain, isRoles)
	}
	groups = slices.DeleteFunc(groups, isEmpty)
	if len(groups) == 0 && (s.verb == updated || s.verb == Erased) {
		groups = [][]string{nil}
	}
	for _, role := range s.after.Association.held() {
		for _, fields := range groups {
			kinds = append(kinds, s.after.kind(role+"."+updated, fields))
		}
	}
	return kinds
}

func isRoles(field string) bool    { return field == roles }
func isEmpty(fields []string) bool { return len(fields) == 0 }

// kind numbers a published kind of change.
func (b *Body) kind(name string, fields []string) change.Kind {
	b.Sequence++
	return change.Kind{Name: name, Sequence: b.Sequence, Fields: fields}
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
