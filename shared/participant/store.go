package participant

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/settings/item"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Store writes custom roles, which only the operator does, as settings of their
// event (package item); a slug is held by a unique item.
type Store struct {
	Table *table.Table
	Now   func() time.Time
	NewID func() string
	// Used is what there is of settings, as the caller's snapshot has it.
	Used item.Used
}

// Draft is what can be said about a custom role. On create, name and core role
// are needed; the slug is derived from the name and stays. The core role stays
// as well.
type Draft struct {
	Name       wire.Opt[string] `json:"name,omitzero"`
	NamePlural wire.Opt[string] `json:"name_plural,omitzero"`
	CoreRole   wire.Opt[string] `json:"core_role,omitzero"`
	Order      wire.Opt[int]    `json:"order,omitzero"`
}

const (
	// maxRoles is how many custom roles an event has.
	maxRoles = 200
	maxName  = 255
	maxOrder = 1_000_000
)

// Create adds a custom role to the caller's event, whose roles are given. Errors:
// 400 for a draft that says too little or too much, 403 without the Sessions 2.0
// feature, 409 for a name that is taken.
func (s Store) Create(ctx context.Context, c *auth.Caller, roles *Roles, draft Draft) (*Role, error) {
	r := &Role{ID: s.NewID(), IsCustom: true, Order: roles.all[len(roles.all)-1].Order + 1, CoreRole: draft.CoreRole.Value}
	if !slices.ContainsFunc(builtIns, func(b struct{ slug, name, plural string }) bool { return b.slug == r.CoreRole }) {
		return nil, apierr.Invalid("core_role", "core_role must be %s, %s or %s.", Speaker, Chairperson, Moderator)
	}
	if err := draft.apply(r); err != nil {
		return nil, err
	}
	if r.Slug = item.Slug(r.Name); r.Slug == "" {
		return nil, apierr.Invalid("name", "name must have a letter or a digit.")
	}
	if err := c.Event.AllowsCustomRoles(); err != nil {
		return nil, err
	}
	taken := apierr.Conflict("DUPLICATE_SLUG", fmt.Sprintf("There is a role with the slug %q already.", r.Slug)).Field("name")
	if _, ok := roles.BySlug(r.Slug); ok {
		return nil, taken
	}
	place := item.Place{Org: c.Org.ID, Event: c.Event.ID}
	return item.Create(ctx, s.items(), place, r, same, place.Hold(Kind, r.Slug, r.ID).Or(taken))
}

// Update changes a custom role of the caller's event, whose roles are given: 404
// when there is none, 409 for a built-in one, 400 for another core role.
func (s Store) Update(ctx context.Context, c *auth.Caller, roles *Roles, id string, draft Draft) (*Role, error) {
	return s.do(ctx, c, roles, id, item.Change[*Role]{Verb: item.Updated, Edit: draft.apply})
}

// Delete removes a custom role; its slug is free then. Errors are those of
// Update.
func (s Store) Delete(ctx context.Context, c *auth.Caller, roles *Roles, id string) error {
	_, err := s.do(ctx, c, roles, id, item.Change[*Role]{Verb: item.Deleted})
	return err
}

func (s Store) do(ctx context.Context, c *auth.Caller, roles *Roles, id string, change item.Change[*Role]) (*Role, error) {
	r, ok := roles.ByID(id)
	switch {
	case !ok:
		return nil, apierr.NotFound("Participant role")
	case !r.IsCustom:
		return nil, apierr.Conflict("BUILT_IN", "A built-in role cannot be changed or deleted.")
	}
	place := item.Place{Org: c.Org.ID, Event: c.Event.ID}
	var also []table.Write
	if change.Verb == item.Deleted {
		also = append(also, table.Remove(place.Unique(Kind, r.Slug), 1))
	}
	return item.Do(ctx, s.items(), place, id, change, same, also...)
}

// same is the answer of a write: the role itself.
func same(r *Role) *Role { return r }

func (s Store) items() item.Store {
	limit := item.Limit{Name: "participant_roles", Most: maxRoles}
	return item.Store{Table: s.Table, Now: s.Now, Kind: Kind, Title: "Participant role", Limit: limit, Used: s.Used}
}

// apply writes the draft into r. A role that has no plural gets its name with an s.
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
