package field

import (
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/wire"
)

// Draft is the body of a create.
type Draft struct {
	Name        string   `json:"name" minLength:"1" maxLength:"255" pattern:"\\S" doc:"The public name. The internal name is derived from it."`
	Type        Type     `json:"type" enum:"text,textarea,wysiwyg,dropdown,checkbox,date,datetime,number,currency,email,phone,file,countries,languages,user" doc:"What values it takes; never changes."`
	Module      Module   `json:"module_id" enum:"session,contact,account" doc:"The kind of record it belongs to."`
	Scope       Scope    `json:"scope,omitempty" enum:"event,global" default:"event" doc:"Whether it belongs to the event or to the organization. Fields of sessions belong to the event."`
	Options     []string `json:"options,omitempty" minLength:"1" maxLength:"255" maxItems:"1000" uniqueItems:"true" nullable:"false" doc:"What a dropdown accepts."`
	Multiple    bool     `json:"multiple,omitempty" doc:"Whether a value is a list: for dropdown, countries and languages."`
	ContainsPII bool     `json:"contains_pii,omitempty" doc:"Whether its values are personal data."`
	// Connector is the key of the connector that owns the field; only the
	// operator sets it.
	Connector string   `json:"-"`
	_         struct{} `json:"-" additionalProperties:"true"`
}

// Change is the body of an update; an absent property stays. A property that never changes may
// be sent with the stored value.
type Change struct {
	Name        wire.Opt[string]   `json:"name,omitzero" minLength:"1" maxLength:"255" pattern:"\\S" nullable:"false" doc:"The public name; the internal name stays."`
	Options     wire.Opt[[]string] `json:"options,omitzero" minLength:"1" maxLength:"255" maxItems:"1000" uniqueItems:"true" nullable:"false" doc:"What a dropdown accepts from now on. Values stored before stay readable."`
	ContainsPII wire.Opt[bool]     `json:"contains_pii,omitzero" nullable:"false" doc:"Whether its values are personal data."`

	// PublicName and FieldType are Name and Type as a definition is read.
	PublicName wire.Opt[string] `json:"public_name,omitzero" minLength:"1" maxLength:"255" pattern:"\\S" nullable:"false" doc:"The same as name."`
	FieldType  wire.Opt[string] `json:"field_type,omitzero" nullable:"false" doc:"Cannot change."`

	Type         wire.Opt[string] `json:"type,omitzero" nullable:"false" doc:"Cannot change."`
	Module       wire.Opt[string] `json:"module_id,omitzero" nullable:"false" doc:"Cannot change."`
	Scope        wire.Opt[string] `json:"scope,omitzero" nullable:"false" doc:"Cannot change."`
	InternalName wire.Opt[string] `json:"internal_name,omitzero" nullable:"false" doc:"Cannot change."`
	Multiple     wire.Opt[bool]   `json:"multiple,omitzero" nullable:"false" doc:"Cannot change."`

	SeenAt wire.Opt[wire.Time] `json:"updated_at,omitzero" nullable:"false" doc:"The field's updatedAt as last fetched; a stale one is a 409. updatedAt is taken as well."`
	// SeenAtToo is the same under the name in a definition.
	SeenAtToo wire.Opt[wire.Time] `json:"updatedAt,omitzero" nullable:"false" doc:"The same as updated_at."`
	_         struct{}            `json:"-" additionalProperties:"true"`
}

// definition returns the definition that the draft describes.
func (draft Draft) definition(id string) (*Definition, error) {
	d := &Definition{
		ID: id, PublicName: draft.Name, Type: draft.Type, Source: SourceCustom, ContainsPII: draft.ContainsPII,
		Scope: draft.Scope, Module: draft.Module, Options: append([]string{}, draft.Options...), Multiple: draft.Multiple,
	}
	if d.Scope == "" {
		d.Scope = ScopeEvent
	}
	if draft.Connector != "" {
		d.Source = draft.Connector
	}
	if d.InternalName = internalName(d.PublicName, d.Scope); d.InternalName == "" {
		return nil, apierr.Invalid("name", "name must have a letter or a digit.")
	}
	if d.Scope == ScopeGlobal && d.Module == Session {
		return nil, apierr.Invalid("scope", "Fields of sessions belong to the event; scope must be %q.", ScopeEvent)
	}
	if d.Multiple && !slices.Contains([]Type{Dropdown, Countries, Languages}, d.Type) {
		return nil, apierr.Invalid("multiple", "A field of type %s cannot have several values.", d.Type)
	}
	return d, d.checkOptions()
}

// maxOptions is how many bytes all options may have together, so that a
// definition stays far below the size of an item.
const maxOptions = 64 << 10

func (d *Definition) checkOptions() error {
	if len(d.Options) > 0 && d.Type != Dropdown {
		return apierr.Invalid("options", "Only a dropdown has options.")
	}
	return checkLength(d.Options)
}

func checkLength(options []string) error {
	total := 0
	for _, option := range options {
		total += len(option)
	}
	if total > maxOptions {
		return apierr.Invalid("options", "options must not be longer than %d bytes together.", maxOptions)
	}
	return nil
}

// apply writes the change into d. It returns a 400 for a property that cannot change.
func (c Change) apply(d *Definition) error {
	for _, fixed := range []struct {
		name string
		sent wire.Opt[string]
		has  string
	}{
		{"type", c.Type, string(d.Type)},
		{"field_type", c.FieldType, string(d.Type)},
		{"module_id", c.Module, string(d.Module)},
		{"scope", c.Scope, string(d.Scope)},
		{"internal_name", c.InternalName, d.InternalName},
	} {
		if fixed.sent.Sent && fixed.sent.Value != fixed.has {
			return apierr.Invalid(fixed.name, "%s of a field cannot change; it is %q.", fixed.name, fixed.has)
		}
	}
	if c.Multiple.Sent && c.Multiple.Value != d.Multiple {
		return apierr.Invalid("multiple", "multiple of a field cannot change; it is %t.", d.Multiple)
	}
	c.rename(d)
	if c.Options.Has() {
		d.Options = append([]string{}, c.Options.Value...)
	}
	if c.ContainsPII.Has() {
		d.ContainsPII = c.ContainsPII.Value
	}
	return d.checkOptions()
}

// check returns the 400 of a change that no field could have.
func (c Change) check() error {
	if c.Name.Has() && c.PublicName.Has() && c.Name.Value != c.PublicName.Value {
		return apierr.Invalid("public_name", "public_name and name must be the same when both are sent.")
	}
	return checkLength(c.Options.Value)
}

// rename sets the public name from Name or PublicName.
func (c Change) rename(d *Definition) {
	for _, name := range []wire.Opt[string]{c.Name, c.PublicName} {
		if name.Has() {
			d.PublicName = name.Value
		}
	}
}
