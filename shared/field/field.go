// Package field owns the definitions of fields, the values of custom fields and
// the translations of texts: the form of a value by the type of the field, stored and shown
// (gaps.md section 7, spec.md 2.1). The records keep the values; this package reads no record.
package field

import (
	"strings"

	"lectern/shared/record"
	"lectern/shared/settings/item"
	"lectern/shared/wire"
)

// Module is the kind of record that a field belongs to.
type Module string

// The modules that have fields. A client cannot name Metadata, which has the text of the
// entries of metadata.
const (
	Session  Module = "session"
	Contact  Module = "contact"
	Account  Module = "account"
	Metadata Module = "metadata"
)

// Type is the kind of value that a field accepts; the type of a field never changes.
type Type string

// The types with their values (gaps.md section 7).
const (
	Text      Type = "text"      // up to 255 characters
	Textarea  Type = "textarea"  // up to 5,000 characters
	Wysiwyg   Type = "wysiwyg"   // HTML, up to 64 KB
	Dropdown  Type = "dropdown"  // an option; a list when multiple
	Checkbox  Type = "checkbox"  // true or false
	Date      Type = "date"      // YYYY-MM-DD
	Datetime  Type = "datetime"  // RFC 3339; without offset in the event's zone
	Number    Type = "number"    // a JSON number
	Currency  Type = "currency"  // a JSON number
	Email     Type = "email"     // up to 255 characters
	Phone     Type = "phone"     // up to 255 characters
	File      Type = "file"      // an http or https address, up to 255 characters
	Countries Type = "countries" // an ISO 3166-1 code; a list when multiple
	Languages Type = "languages" // a BCP 47 code; a list when multiple
	User      Type = "user"      // the id of a member
)

// Scope says who defines a field.
type Scope string

// A field of the event, or of the organization for all its events.
const (
	ScopeEvent  Scope = "event"
	ScopeGlobal Scope = "global"
)

// The sources of a field. A field owned by a connector has the connector's key
// as the source and is read only.
const (
	SourceStandard = "standard"
	SourceCustom   = "custom"
)

// Kind names definitions in the keys of settings.
const Kind = "field"

// Definition is a field, as stored and as shown (spec.md 2.7; module_id,
// options and multiple are ours).
type Definition struct {
	ID           string     `json:"id" format:"uuid" doc:"The field's id."`
	InternalName string     `json:"internal_name" doc:"The key of the field's values in requests."`
	PublicName   string     `json:"public_name" doc:"The name for people."`
	Type         Type       `json:"field_type" enum:"text,textarea,wysiwyg,dropdown,checkbox,date,datetime,number,currency,email,phone,file,countries,languages,user" doc:"What values it takes; never changes."`
	Source       string     `json:"field_source" doc:"standard, custom, or the key of the connector that owns the field."`
	ContainsPII  bool       `json:"contains_pii" doc:"Whether its values are personal data."`
	Scope        Scope      `json:"scope" enum:"event,global" doc:"Whether the event defines it or the organization."`
	Module       Module     `json:"module_id" enum:"session,contact,account" doc:"The kind of record it belongs to."`
	Options      []string   `json:"options" nullable:"false" doc:"What a dropdown accepts; empty for other types."`
	Multiple     bool       `json:"multiple" doc:"Whether a value is a list."`
	CreatedAt    wire.Time  `json:"createdAt"`
	UpdatedAt    wire.Time  `json:"updatedAt"`
	DeletedAt    *wire.Time `json:"deleted_at,omitempty" hidden:"true"`
	Version      int64      `json:"-"`
}

// Head points to the fields that every setting has.
func (d *Definition) Head() record.Head {
	return record.Head{
		ID: &d.ID, Version: &d.Version, CreatedAt: &d.CreatedAt, UpdatedAt: &d.UpdatedAt, DeletedAt: &d.DeletedAt,
	}
}

// RecordID returns the field's id.
func (d *Definition) RecordID() string { return d.ID }

// Remains returns the content of a deleted definition, whose values no record shows.
func (d *Definition) Remains() any { return item.Tombstone{ID: d.ID, DeletedAt: d.DeletedAt} }

// Revision returns the version that an ETag names.
func (d *Definition) Revision() int64 { return d.Version }

// IsStandard reports whether the field is part of the record itself; the values are
// properties of the record, not custom fields.
func (d *Definition) IsStandard() bool { return d.Source == SourceStandard }

// IsReadOnly reports whether a connector owns the field.
func (d *Definition) IsReadOnly() bool { return d.Source != SourceStandard && d.Source != SourceCustom }

// place returns the owner of the definition.
func (d *Definition) place(org, event int64) item.Place {
	if d.Scope == ScopeGlobal {
		return item.Place{Org: org}
	}
	return item.Place{Org: org, Event: event}
}

// globalPrefix begins the internal name of every global field and of no field
// of an event, so that both can stand in one object of values.
const globalPrefix = "org_"

// plainPrefix goes before a name that would otherwise begin like a global field.
const plainPrefix = "field_"

// internalName derives a field's internal name from its name; empty when the
// name has neither letter nor digit.
func internalName(name string, scope Scope) string {
	slug := item.Slug(name)
	switch {
	case slug == "":
		return ""
	case scope == ScopeGlobal:
		return globalPrefix + slug
	case strings.HasPrefix(slug, globalPrefix):
		return plainPrefix + slug
	}
	return slug
}
