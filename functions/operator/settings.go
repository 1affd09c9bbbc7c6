package operator

import (
	"context"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/participant"
	"lectern/shared/programme"
	"lectern/shared/settings"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// caller stands for the operator where a store wants to know whose event it is
// about. It has neither token nor member.
func (s *Service) caller(ctx context.Context, in InEvent) (*auth.Caller, error) {
	o, err := tenancy.Organizations.Get(ctx, s.tenancy, table.Org(in.OrgID))
	if err != nil {
		return nil, err
	}
	e, err := programme.Events.Get(ctx, s.tenancy, table.Event(in.OrgID, in.EventID))
	if err != nil {
		return nil, err
	}
	return &auth.Caller{Org: *o, Event: e}, nil
}

// roles gives the roles of an event, with a caller and a store to change them.
func (s *Service) roles(ctx context.Context, in InEvent) (*auth.Caller, *participant.Roles, participant.Store, error) {
	store := participant.Store{Table: s.env.Table, Now: s.env.Now, NewID: s.env.NewID}
	c, set, err := s.snapshot(ctx, in)
	if err != nil {
		return nil, nil, store, err
	}
	store.Used = set.Used
	return c, set.Roles, store, nil
}

type roleCreate struct {
	InEvent
	participant.Draft
}

func (s *Service) createRole(ctx context.Context, in *roleCreate) (*participant.Role, error) {
	c, roles, store, err := s.roles(ctx, in.InEvent)
	if err != nil {
		return nil, err
	}
	return store.Create(ctx, c, roles, in.Draft)
}

// InRole is the part of an input that names a participant role.
type InRole struct {
	InEvent
	RoleID string `json:"role_id" format:"uuid"`
}

type roleUpdate struct {
	InRole
	participant.Draft
}

func (s *Service) updateRole(ctx context.Context, in *roleUpdate) (*participant.Role, error) {
	c, roles, store, err := s.roles(ctx, in.InEvent)
	if err != nil {
		return nil, err
	}
	return store.Update(ctx, c, roles, in.RoleID, in.Draft)
}

// deleted is the answer of a deletion.
type deleted struct {
	ID string `json:"id"`
}

func (s *Service) deleteRole(ctx context.Context, in *InRole) (deleted, error) {
	c, roles, store, err := s.roles(ctx, in.InEvent)
	if err != nil {
		return deleted{}, err
	}
	return deleted{in.RoleID}, store.Delete(ctx, c, roles, in.RoleID)
}

func (s *Service) listRoles(ctx context.Context, in *InEvent) (results[*participant.Role], error) {
	_, roles, _, err := s.roles(ctx, *in)
	if err != nil {
		return results[*participant.Role]{}, err
	}
	return results[*participant.Role]{roles.All()}, nil
}

type connectorField struct {
	InEvent
	Name        string       `json:"name" minLength:"1" maxLength:"255"`
	Type        field.Type   `json:"type" enum:"text,textarea,wysiwyg,dropdown,checkbox,date,datetime,number,currency,email,phone,file,countries,languages,user"`
	Module      field.Module `json:"module_id" enum:"session,contact,account"`
	Source      string       `json:"source" pattern:"^[a-z][a-z0-9_]*$" maxLength:"64"`
	Scope       field.Scope  `json:"scope,omitempty" enum:"event,global"`
	Options     []string     `json:"options,omitempty" nullable:"false" uniqueItems:"true" minLength:"1" maxLength:"255" maxItems:"1000"`
	Multiple    bool         `json:"multiple,omitempty"`
	ContainsPII bool         `json:"contains_pii,omitempty"`
}

// createField defines a field that a connector owns: writes through the API
// cannot change its values.
func (s *Service) createField(ctx context.Context, in *connectorField) (*field.Definition, error) {
	if in.Source == field.SourceStandard || in.Source == field.SourceCustom {
		return nil, apierr.Invalid("source", "source must be the key of a connector, not %s.", in.Source)
	}
	c, set, err := s.snapshot(ctx, in.InEvent)
	if err != nil {
		return nil, err
	}
	return s.fieldStore(set).Create(ctx, c, field.Draft{
		Name: in.Name, Type: in.Type, Module: in.Module, Scope: in.Scope, Options: in.Options,
		Multiple: in.Multiple, ContainsPII: in.ContainsPII, Connector: in.Source,
	})
}

// fieldStore returns the store of the fields that connectors own, for an event whose
// settings are set.
func (s *Service) fieldStore(set *settings.Snapshot) field.Store {
	return field.Store{Table: s.env.Table, Now: s.env.Now, NewID: s.env.NewID, Connectors: true, Used: set.Used}
}

// InField is the part of an input that names a field.
type InField struct {
	InEvent
	FieldID string `json:"field_id" format:"uuid"`
}

// snapshot returns the settings of an event, with a caller to change them.
func (s *Service) snapshot(ctx context.Context, in InEvent) (*auth.Caller, *settings.Snapshot, error) {
	c, err := s.caller(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	set, err := s.settings.Load(ctx, c)
	return c, set, err
}

type connectorFieldUpdate struct {
	InField
	Name        wire.Opt[string]   `json:"name,omitzero" nullable:"false" minLength:"1" maxLength:"255" pattern:"\\S"`
	Options     wire.Opt[[]string] `json:"options,omitzero" nullable:"false" uniqueItems:"true" minLength:"1" maxLength:"255" maxItems:"1000"`
	ContainsPII wire.Opt[bool]     `json:"contains_pii,omitzero" nullable:"false"`
}

func (s *Service) updateField(ctx context.Context, in *connectorFieldUpdate) (*field.Definition, error) {
	c, set, err := s.snapshot(ctx, in.InEvent)
	if err != nil {
		return nil, err
	}
	change := field.Change{Name: in.Name, Options: in.Options, ContainsPII: in.ContainsPII}
	return s.fieldStore(set).Update(ctx, c, set.Fields, in.FieldID, change, "")
}

func (s *Service) deleteField(ctx context.Context, in *InField) (deleted, error) {
	c, set, err := s.snapshot(ctx, in.InEvent)
	if err != nil {
		return deleted{}, err
	}
	return deleted{in.FieldID}, s.fieldStore(set).Delete(ctx, c, set.Fields, in.FieldID, "")
}
