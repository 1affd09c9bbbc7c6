// Package participant owns the roles that people can have on the sessions of an
// event: three built-in ones and custom ones, each of which stands for one of
// the three (gaps.md section 2.5, spec.md section 2.4). Who has a role is stored
// in the session.
package participant

import (
	"cmp"
	"slices"

	"lectern/shared/settings/item"
	"lectern/shared/wire"
)

// The core roles: the built-in roles' own, and what every custom role stands for
// in the legacy arrays of a session.
const (
	Speaker     = "speaker"
	Chairperson = "chairperson"
	Moderator   = "moderator"
)

// Kind is the kind of setting a role is stored as.
const Kind = "participant_role"

// Role is a role of an event.
type Role struct {
	ID         string `json:"id"`
	Slug       string `json:"slug"`
	Name       string `json:"name"`
	NamePlural string `json:"name_plural"`
	// CoreRole is one of the core roles.
	CoreRole string `json:"core_role"`
	IsCustom bool   `json:"is_custom"`
	// Order is where the role stands on the settings page, and among the people
	// of a session.
	Order     int        `json:"order"`
	CreatedAt wire.Time  `json:"created_at"`
	UpdatedAt wire.Time  `json:"updated_at"`
	DeletedAt *wire.Time `json:"deleted_at,omitempty"`
	Version   int64      `json:"-"`
}

// Head is the hold that package item needs.
func (r *Role) Head() item.Head {
	return item.Head{
		ID: &r.ID, Version: &r.Version, CreatedAt: &r.CreatedAt, UpdatedAt: &r.UpdatedAt, DeletedAt: &r.DeletedAt,
	}
}

// remains is what is stored of a deleted role: sessions keep its id and show its
// people in the core role (Roles.Standing).
type remains struct {
	item.Tombstone
	CoreRole string `json:"core_role"`
}

// Remains returns what is stored of a deleted role.
func (r *Role) Remains() any {
	return remains{item.Tombstone{ID: r.ID, DeletedAt: r.DeletedAt}, r.CoreRole}
}

// builtIns are the roles that every event has, in their order.
var builtIns = []struct{ slug, name, plural string }{
	{Speaker, "Speaker", "Speakers"},
	{Chairperson, "Chairperson", "Chairpersons"},
	{Moderator, "Moderator", "Moderators"},
}

// Roles are the roles of one event. It is read only.
type Roles struct {
	all []*Role
	// standing are the roles by id, with what stands for each deleted one.
	standing map[string]*Role
}

// NewRoles makes the roles of an event, which has existed since then, from its
// stored custom ones.
func NewRoles(event int64, since wire.Time, stored []*Role) *Roles {
	roles := &Roles{standing: map[string]*Role{}}
	for i, b := range builtIns {
		roles.all = append(roles.all, &Role{
			ID: item.DerivedID("participant role", event, b.slug), Slug: b.slug, Name: b.name, NamePlural: b.plural,
			CoreRole: b.slug, Order: i + 1, CreatedAt: since, UpdatedAt: since,
		})
	}
	for _, r := range stored {
		if r.DeletedAt == nil {
			roles.all = append(roles.all, r)
		}
	}
	slices.SortStableFunc(roles.all, func(a, b *Role) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), a.CreatedAt.Compare(b.CreatedAt.Time), cmp.Compare(a.ID, b.ID))
	})
	roles.stand(stored)
	return roles
}

// stand fills standing; stored are the custom roles, deleted ones among them.
func (rs *Roles) stand(stored []*Role) {
	for _, r := range rs.all {
		rs.standing[r.ID] = r
	}
	for _, r := range stored {
		if core, ok := rs.ByCore(r.CoreRole); ok && r.DeletedAt != nil {
			rs.standing[r.ID] = core
		}
	}
}

// All gives the roles in their order.
func (rs *Roles) All() []*Role { return rs.all }

// Standing gives the role that people with the role of an id are shown in: that
// role, or the built-in one of its core role where it is deleted.
func (rs *Roles) Standing(id string) (*Role, bool) {
	role, ok := rs.standing[id]
	return role, ok
}

// ByID gives the role with an id.
func (rs *Roles) ByID(id string) (*Role, bool) {
	return rs.find(func(r *Role) bool { return r.ID == id })
}

// BySlug gives the role with a slug.
func (rs *Roles) BySlug(slug string) (*Role, bool) {
	return rs.find(func(r *Role) bool { return r.Slug == slug })
}

// ByCore gives the built-in role of a core role.
func (rs *Roles) ByCore(core string) (*Role, bool) {
	return rs.find(func(r *Role) bool { return !r.IsCustom && r.CoreRole == core })
}

func (rs *Roles) find(is func(*Role) bool) (*Role, bool) {
	i := slices.IndexFunc(rs.all, is)
	if i < 0 {
		return nil, false
	}
	return rs.all[i], true
}
