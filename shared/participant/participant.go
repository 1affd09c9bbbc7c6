// Package participant owns the roles of people on the sessions of an event: three built-in
// roles, and custom roles that each extend a built-in role (gaps.md section 2.5, spec.md
// section 2.4). The session stores the people and their roles.
package participant

import (
	"cmp"
	"slices"

	"lectern/shared/keys"
	"lectern/shared/record"
	"lectern/shared/settings/item"
	"lectern/shared/wire"
)

// The core roles. Every role has a core role, in which the people of the role are shown in the
// legacy arrays of a session.
const (
	Speaker     = "speaker"
	Chairperson = "chairperson"
	Moderator   = "moderator"
)

// Kind names roles in the keys of settings.
const Kind = "participant_role"

// Keys are the patterns of the items of roles.
var Keys = []keys.Pattern{
	{Name: "setting: " + Kind, PK: "e#M", SK: Kind + "#<id>", Personal: keys.Outside},
	{Name: "unique value", PK: "e#Q#" + Kind + "#<value>", SK: "-", Personal: keys.Outside},
}

// Role is a role of an event.
type Role struct {
	ID         string `json:"id"`
	Slug       string `json:"slug"`
	Name       string `json:"name"`
	NamePlural string `json:"name_plural"`
	CoreRole   string `json:"core_role"`
	IsCustom   bool   `json:"is_custom"`
	// Order sorts the roles on the settings page, and among the people
	// of a session.
	Order     int        `json:"order"`
	CreatedAt wire.Time  `json:"created_at"`
	UpdatedAt wire.Time  `json:"updated_at"`
	DeletedAt *wire.Time `json:"deleted_at,omitempty"`
	Version   int64      `json:"-"`
}

// IsSpeaker reports whether a role is the built-in role of speakers. Custom roles in place
// of that role are roles of their own.
func (r *Role) IsSpeaker() bool { return !r.IsCustom && r.Slug == Speaker }

// Head points to the fields that every setting has.
func (r *Role) Head() record.Head {
	return record.Head{
		ID: &r.ID, Version: &r.Version, CreatedAt: &r.CreatedAt, UpdatedAt: &r.UpdatedAt, DeletedAt: &r.DeletedAt,
	}
}

// remains is the content of a deleted role: sessions keep the id of the role and show the
// people in the core role (Roles.Standing).
type remains struct {
	item.Tombstone
	CoreRole string `json:"core_role"`
}

// Remains returns the content that a deleted role keeps.
func (r *Role) Remains() any {
	return remains{item.Tombstone{ID: r.ID, DeletedAt: r.DeletedAt}, r.CoreRole}
}

// builtIns are the roles that every event has, in their order.
var builtIns = []struct{ slug, name, plural string }{
	{Speaker, "Speaker", "Speakers"},
	{Chairperson, "Chairperson", "Chairpersons"},
	{Moderator, "Moderator", "Moderators"},
}

// Roles has the roles of an event, read only.
type Roles struct {
	all []*Role
	// standing has the roles by id; a deleted role has the built-in role of its core role.
	standing map[string]*Role
}

// NewRoles returns the roles of an event from the stored custom roles. since is the creation of
// the event.
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

// stand fills standing. stored has the custom roles, deleted roles included.
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

// All returns the roles in their order.
func (rs *Roles) All() []*Role { return rs.all }

// Standing returns the role in which a session shows the people of a role: the role itself, or
// the built-in role of the core role if the role is deleted.
func (rs *Roles) Standing(id string) (*Role, bool) {
	role, ok := rs.standing[id]
	return role, ok
}

// ByID returns the role with an id.
func (rs *Roles) ByID(id string) (*Role, bool) {
	r, ok := rs.standing[id]
	return r, ok && r.ID == id
}

// BySlug returns the role with a slug.
func (rs *Roles) BySlug(slug string) (*Role, bool) {
	for _, r := range rs.all {
		if r.Slug == slug {
			return r, true
		}
	}
	return nil, false
}

// ByCore returns the built-in role of a core role.
func (rs *Roles) ByCore(core string) (*Role, bool) {
	for _, r := range rs.all {
		if !r.IsCustom && r.CoreRole == core {
			return r, true
		}
	}
	return nil, false
}
