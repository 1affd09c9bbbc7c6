package field

import (
	"context"
	"fmt"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/keys"
	"lectern/shared/record"
	"lectern/shared/settings/item"
	"lectern/shared/write"
)

// Keys are the patterns of the items of fields.
var Keys = slices.Concat(
	keys.Both("setting: "+Kind, "#M", Kind+"#<id>", keys.Outside),
	keys.Both("unique value", "#Q#"+Kind+"#<value>", "-", keys.Nothing),
)

// Store writes the definitions of the caller's event and organization.
type Store struct {
	item.Store
	Caller *auth.Caller
	// Fields are the definitions before the write.
	Fields *Set
	// Connectors has Update and Delete take the fields that connectors own, and only
	// these fields. Without it they refuse the fields of connectors.
	Connectors bool
}

// definitions declares the definitions. No two of a place share module and internal name.
var definitions = &item.Kind[Definition, *Definition]{
	Name: Kind, Title: "Field", Many: "fields", Most: 500, Unique: (*Definition).held, Taken: (*Definition).taken,
}

// held returns the value that no two definitions of a place share.
func (d *Definition) held() string { return string(d.Module) + "#" + d.InternalName }

// taken returns the 409 of an internal name that another definition has.
func (d *Definition) taken() error {
	message := fmt.Sprintf("There is a field with the internal name %q already.", d.InternalName)
	return apierr.Conflict("DUPLICATE_INTERNAL_NAME", message).Field("name")
}

// Create defines a field for the event, or for the organization with a global scope. It
// returns a 400 for a draft that contradicts itself, a 403 for a global field by a caller
// limited to events, and a 409 for a name that is taken.
func (s Store) Create(ctx context.Context, draft Draft) (*Definition, error) {
	d, err := draft.definition(s.NewID())
	if err != nil {
		return nil, err
	}
	if was, err := s.records(d).Replay(ctx); was != nil || err != nil {
		return was, err
	}
	if err := s.mayWrite(d); err != nil {
		return nil, err
	}
	if _, ok := NewSet().Named(d.Module, d.InternalName); ok {
		return nil, d.taken()
	}
	return s.records(d).Create(ctx, d)
}

// mayWrite refuses a caller who is limited to events the fields of the organization (gaps.md
// section 1).
func (s Store) mayWrite(d *Definition) error {
	if _, limited := s.Caller.Events(); limited && d.Scope == ScopeGlobal {
		return apierr.Forbidden("", "A field of the organization needs a token that is not limited to events.")
	}
	return nil
}

// Update changes the definition of an id.
func (s Store) Update(ctx context.Context, id string, c Change, ifMatch string) (*Definition, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	seen := c.SeenAt
	if !seen.Sent {
		seen = c.SeenAtToo
	}
	return s.change(ctx, id, record.Change[Definition]{
		Verb: record.Updated, Guard: write.Guard{UpdatedAt: seen, IfMatch: ifMatch}, Edit: c.apply,
	})
}

// Delete removes the definition of an id and frees the internal name. Records do not show
// values of the field any more.
func (s Store) Delete(ctx context.Context, id, ifMatch string) error {
	_, err := s.change(ctx, id, record.Change[Definition]{Verb: record.Deleted, Guard: write.Guard{IfMatch: ifMatch}})
	return err
}

// change changes a definition. It returns a 404 for an unknown id, a 403 for a definition that
// the caller may not change, a 409 for a standard field, and a 400 for a connector's field
// unless the store is for these fields.
func (s Store) change(ctx context.Context, id string, c record.Change[Definition]) (*Definition, error) {
	d, ok := s.Fields.Get(id)
	if !ok || d.Module == Metadata {
		return nil, apierr.NotFound("Field")
	}
	if err := s.mayWrite(d); err != nil {
		return nil, err
	}
	switch {
	case d.IsStandard():
		return nil, apierr.Conflict("BUILT_IN", "A standard field cannot be changed or deleted.")
	case s.Connectors && !d.IsReadOnly():
		return nil, apierr.NotFound("Connector field")
	case !s.Connectors && d.IsReadOnly():
		return nil, apierr.ReadOnly(d.InternalName)
	}
	return s.records(d).Change(ctx, id, c)
}

// records returns the definitions of the place that d belongs to.
func (s Store) records(d *Definition) record.Records[Definition] {
	return definitions.In(s.Store, d.place(s.Caller.Org.ID, s.Caller.Event.ID))
}
