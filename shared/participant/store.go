package participant

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/record"
	"lectern/shared/settings/item"
	"lectern/shared/wire"
)

// custom declares the custom roles. No two roles of an event share a slug.
var custom = &item.Kind[Role, *Role]{
	Name: Kind, Title: "Participant role", Many: "participant_roles", Most: 200,
	Unique: (*Role).held, Taken: (*Role).taken,
}

// held returns the value that no two roles share.
func (r *Role) held() string { return r.Slug }

// taken returns the 409 of a slug that another role has.
func (r *Role) taken() error {
	return apierr.Conflict("DUPLICATE_SLUG", fmt.Sprintf("There is a role with the slug %q already.", r.Slug)).Field("name")
}

// Store writes the custom roles of the caller's event; only the operator does. Roles are the
// roles of the event before the write.
type Store struct {
	item.Store
	Caller *auth.Caller
	Roles  *Roles
}

// Draft has the properties of a custom role. A create needs name and core role. The slug comes
// from the first name; slug and core role never change.
type Draft struct {
	Name       wire.Opt[string] `json:"name,omitzero"`
	NamePlural wire.Opt[string] `json:"name_plural,omitzero"`
	CoreRole   wire.Opt[string] `json:"core_role,omitzero"`
	Order      wire.Opt[int]    `json:"order,omitzero"`
}

const (
	maxName  = 255
	maxOrder = 1_000_000
)

// Create adds a custom role. It returns a 400 for a draft that breaks a rule, a 403 without
// the Sessions 2.0 feature, and a 409 for a name that is taken.
func (s Store) Create(ctx context.Context, draft Draft) (*Role, error) {
	r := &Role{ID: s.NewID(), IsCustom: true, Order: min(s.Roles.all[len(s.Roles.all)-1].Order+1, maxOrder), CoreRole: draft.CoreRole.Value}
	if !slices.Contains([]string{Speaker, Chairperson, Moderator}, r.CoreRole) {
		return nil, apierr.Invalid("core_role", "core_role must be %s, %s or %s.", Speaker, Chairperson, Moderator)
	}
	if err := draft.apply(r); err != nil {
		return nil, err
	}
	if r.Slug = item.Slug(r.Name); r.Slug == "" {
		return nil, apierr.Invalid("name", "name must have a letter or a digit.")
	}
	if err := s.Caller.Event.AllowsCustomRoles(); err != nil {
		return nil, err
	}
	if _, ok := s.Roles.BySlug(r.Slug); ok {
		return nil, r.taken()
	}
	return s.records().Create(ctx, r)
}

// Update changes a custom role. It returns a 404 for an unknown role, a 409 for a built-in
// role, and a 400 for another core role.
func (s Store) Update(ctx context.Context, id string, draft Draft) (*Role, error) {
	return s.change(ctx, id, record.Change[Role]{Verb: record.Updated, Edit: draft.apply})
}

// Delete removes a custom role and frees the slug. Its errors are those of Update.
func (s Store) Delete(ctx context.Context, id string) error {
	_, err := s.change(ctx, id, record.Change[Role]{Verb: record.Deleted})
	return err
}

func (s Store) change(ctx context.Context, id string, c record.Change[Role]) (*Role, error) {
	if r, ok := s.Roles.ByID(id); ok && !r.IsCustom {
		return nil, apierr.Conflict("BUILT_IN", "A built-in role cannot be changed or deleted.")
	}
	return s.records().Change(ctx, id, c)
}

func (s Store) records() record.Records[Role] {
	return custom.In(s.Store, item.Place{Org: s.Caller.Org.ID, Event: s.Caller.Event.ID})
}

// apply writes the draft into r. A role without a plural gets the name with an s.
func (d Draft) apply(r *Role) error {
	if d.CoreRole.Sent && d.CoreRole.Value != r.CoreRole {
		return apierr.Invalid("core_role", "core_role of a role cannot change; it is %q.", r.CoreRole)
	}
	d.Order.Into(&r.Order)
	d.Name.Into(&r.Name)
	d.NamePlural.Into(&r.NamePlural)
	if r.NamePlural == "" && !d.NamePlural.Sent {
		r.NamePlural = r.Name + "s"
	}
	switch {
	case d.Order.Null || r.Order < 0 || r.Order > maxOrder:
		return apierr.Invalid("order", "order must be 0 to %d.", maxOrder)
	case !isName(r.Name):
		return apierr.Invalid("name", "name must have 1 to %d characters.", maxName)
	case !isName(r.NamePlural):
		return apierr.Invalid("name_plural", "name_plural must have 1 to %d characters.", maxName)
	}
	return nil
}

func isName(s string) bool { return strings.TrimSpace(s) != "" && utf8.RuneCountInString(s) <= maxName }
