package contact

import (
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/party"
	"lectern/shared/settings"
	"lectern/shared/wire"
)

// Contact is a contact as every operation on contacts answers: the record of gaps.md section
// 2.1, in order.
type Contact struct{ party.Shown }

// Profile is a contact as a session shows it.
type Profile struct{ wire.Object }

// The fields shown after the names, in order.
var (
	ofName    = strings.Fields(names)
	ofRecord  = strings.Fields(profile + " " + background + " " + social)
	ofProfile = strings.Fields(profile + " " + social)
	ofBrief   = slices.DeleteFunc(slices.Clone(ofProfile), func(name string) bool { return slices.Contains(Longest, name) })
)

// viewer returns a viewer of contacts for a caller.
func (st *Store) viewer(c *auth.Caller, set *settings.Snapshot, translated bool) *party.Viewer {
	return &party.Viewer{Kind: Kind, Caller: c, Set: set, Translated: translated, AdminURL: st.AdminURL, Collection: "contacts"}
}

// Show shows a contact to a caller.
func (st *Store) Show(c *auth.Caller, set *settings.Snapshot, translated bool, p party.Party) *Contact {
	o := head(p, ofRecord)
	return &Contact{st.viewer(c, set, translated).Finish(o, p, Role, nil)}
}

// Longest are the properties of people that a session leaves out first if the answer is too
// long (gaps.md section 1).
var Longest = []string{"about", "custom_fields"}

// Parts says which parts of a contact a session shows: Translated adds translated_fields,
// Brief leaves out Longest.
type Parts struct{ Translated, Brief bool }

// Profile shows a contact as part of a session.
func (st *Store) Profile(c *auth.Caller, set *settings.Snapshot, parts Parts, p party.Party) Profile {
	fields := ofProfile
	if parts.Brief {
		fields = ofBrief
	}
	v, o := st.viewer(c, set, parts.Translated), head(p, fields)
	if parts.Translated {
		o.Add("translated_fields", v.Translations(p))
	}
	if !parts.Brief {
		o.Add("custom_fields", v.CustomFields(p))
	}
	return Profile{o}
}

// head returns the beginning of every shape of a contact, up to the standard fields.
func head(p party.Party, fields []string) (o wire.Object) {
	o.Add("id", p.ID)
	o.Add("friendly_id", Kind.FriendlyID(p.Body))
	o.Add("full_name", FullName(p.Body))
	party.Standard(&o, p.Body, ofName)
	o.Add("created_at", p.CreatedAt)
	o.Add("updated_at", p.Changed())
	party.Standard(&o, p.Body, fields)
	return o
}

// TransformSchema describes the record.
func (Contact) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	party.Describe[described](r, s, Kind, slices.Concat(ofName, ofRecord))
	return s
}

// TransformSchema describes the profile.
func (Profile) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	party.Describe[described](r, s, Kind, slices.Concat(ofName, ofProfile))
	delete(s.Properties, "deleted_at")
	delete(s.Properties, "omitted")
	delete(s.Properties, "admin_url")
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return name == "admin_url" })
	return s
}

// described are the parts of a contact beside the standard fields.
type described struct {
	ID               string             `json:"id" format:"uuid"`
	FriendlyID       string             `json:"friendly_id" doc:"CONT-12."`
	FullName         string             `json:"full_name" nullable:"true" doc:"First and last name."`
	CreatedAt        wire.Time          `json:"created_at"`
	UpdatedAt        wire.Time          `json:"updated_at"`
	TranslatedFields []field.Translated `json:"translated_fields,omitempty" doc:"Only with expand=translated_fields."`
	CustomFields     []field.Shown      `json:"custom_fields" doc:"The fields that have a value."`
	AdminURL         string             `json:"admin_url" nullable:"true" doc:"The record in the admin application, where one is configured."`
	DeletedAt        wire.Time          `json:"deleted_at,omitzero" doc:"Only where the contact is deleted from the event."`
	Omitted          []string           `json:"omitted,omitempty" doc:"Paths of properties that are left out because the answer would be too long; absent otherwise."`
}
