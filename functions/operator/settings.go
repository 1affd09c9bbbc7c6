package operator

import (
	"context"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/participant"
	"lectern/shared/programme"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/sessionfile"
	"lectern/shared/settings/handler"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// caller returns a caller for an event, without token and member.
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

// onEvent returns the command that calls do with a caller for the event of the input.
func onEvent[I, O any, L located[I]](do func(*Service, context.Context, *auth.Caller, *I) (O, error)) method[I, O] {
	return func(s *Service, ctx context.Context, in *I) (answer O, err error) {
		c, err := s.caller(ctx, L(in).event())
		if err != nil {
			return answer, err
		}
		return do(s, ctx, c, in)
	}
}

// onSettings returns the command that calls do with the settings of the event of the input.
func onSettings[I, O any, L located[I]](do func(context.Context, *handler.Settings, *I) (O, error)) method[I, O] {
	return onEvent[I, O, L](func(s *Service, ctx context.Context, c *auth.Caller, in *I) (answer O, err error) {
		set, err := s.settings.Of(ctx, c)
		if err != nil {
			return answer, err
		}
		return do(ctx, set, in)
	})
}

type roleCreate struct {
	InEvent
	participant.Draft
}

func createRole(ctx context.Context, s *handler.Settings, in *roleCreate) (*participant.Role, error) {
	return s.RoleStore().Create(ctx, in.Draft)
}

// InRole names a participant role.
type InRole struct {
	InEvent
	RoleID string `json:"role_id" format:"uuid"`
}

type roleUpdate struct {
	InRole
	participant.Draft
}

func updateRole(ctx context.Context, s *handler.Settings, in *roleUpdate) (*participant.Role, error) {
	return s.RoleStore().Update(ctx, in.RoleID, in.Draft)
}

// deleted is the answer of a deletion.
type deleted struct {
	ID string `json:"id"`
}

func deleteRole(ctx context.Context, s *handler.Settings, in *InRole) (deleted, error) {
	return deleted{in.RoleID}, s.RoleStore().Delete(ctx, in.RoleID)
}

func listRoles(_ context.Context, s *handler.Settings, _ *InEvent) (results[*participant.Role], error) {
	return results[*participant.Role]{s.Roles.All()}, nil
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

// createConnectorField defines a field that a connector owns: the API cannot change its
// values.
func (s *Service) createConnectorField(ctx context.Context, in *connectorField) (*field.Definition, error) {
	if in.Source == field.SourceStandard || in.Source == field.SourceCustom {
		return nil, apierr.Invalid("source", "source must be the key of a connector, not %s.", in.Source)
	}
	return onSettings(createField)(s, ctx, in)
}

func createField(ctx context.Context, s *handler.Settings, in *connectorField) (*field.Definition, error) {
	return s.ConnectorFieldStore().Create(ctx, field.Draft{
		Name: in.Name, Type: in.Type, Module: in.Module, Scope: in.Scope, Options: in.Options,
		Multiple: in.Multiple, ContainsPII: in.ContainsPII, Connector: in.Source,
	})
}

// InField names a field.
type InField struct {
	InEvent
	FieldID string `json:"field_id" format:"uuid"`
}

type connectorFieldUpdate struct {
	InField
	Name        wire.Opt[string]   `json:"name,omitzero" nullable:"false" minLength:"1" maxLength:"255" pattern:"\\S"`
	Options     wire.Opt[[]string] `json:"options,omitzero" nullable:"false" uniqueItems:"true" minLength:"1" maxLength:"255" maxItems:"1000"`
	ContainsPII wire.Opt[bool]     `json:"contains_pii,omitzero" nullable:"false"`
}

func updateField(ctx context.Context, s *handler.Settings, in *connectorFieldUpdate) (*field.Definition, error) {
	change := field.Change{Name: in.Name, Options: in.Options, ContainsPII: in.ContainsPII}
	return s.ConnectorFieldStore().Update(ctx, in.FieldID, change, "")
}

func deleteField(ctx context.Context, s *handler.Settings, in *InField) (deleted, error) {
	return deleted{in.FieldID}, s.ConnectorFieldStore().Delete(ctx, in.FieldID, "")
}

// slots returns the slots of the caller's event.
func (s *Service) slots(c *auth.Caller) resource.Collection[sessionfile.StoredSlot, *sessionfile.StoredSlot, sessionfile.SlotDraft] {
	return sessionfile.Slots.Of(resource.NewStore(s.env), resource.Owner{Org: c.Org.ID, Event: c.Event.ID})
}

type slotCreate struct {
	InEvent
	sessionfile.SlotDraft
}

func (s *Service) createSlot(ctx context.Context, c *auth.Caller, in *slotCreate) (*sessionfile.StoredSlot, error) {
	if err := s.checkMetadata(ctx, c, &in.SlotDraft); err != nil {
		return nil, err
	}
	if err := c.Event.AllowsContentSlots(); err != nil {
		return nil, err
	}
	return s.slots(c).Create(ctx, in.SlotDraft)
}

type slotUpdate struct {
	InEvent
	SlotID string `json:"slot_id" format:"uuid"`
	sessionfile.SlotDraft
}

func (s *Service) updateSlot(ctx context.Context, c *auth.Caller, in *slotUpdate) (*sessionfile.StoredSlot, error) {
	if err := s.checkMetadata(ctx, c, &in.SlotDraft); err != nil {
		return nil, err
	}
	change := resource.Change[sessionfile.SlotDraft]{Verb: record.Updated, Draft: &in.SlotDraft}
	return s.slots(c).Change(ctx, in.SlotID, change)
}

func (s *Service) listSlots(ctx context.Context, c *auth.Caller, _ *InEvent) (results[*sessionfile.StoredSlot], error) {
	all, err := s.slots(c).List(ctx)
	slices.SortFunc(all, sessionfile.BySpeakerOrder)
	return results[*sessionfile.StoredSlot]{all}, err
}

// checkMetadata returns the 400 that names the first format or track that the event does not have.
func (s *Service) checkMetadata(ctx context.Context, c *auth.Caller, d *sessionfile.SlotDraft) error {
	set, err := s.settings.Of(ctx, c)
	if err != nil {
		return err
	}
	for _, list := range []struct {
		name, thing string
		kind        metadata.Kind
		ids         []string
	}{
		{"format_ids", "format", metadata.Formats, d.FormatIDs.Value}, {"track_ids", "track", metadata.Tracks, d.TrackIDs.Value},
	} {
		for i, id := range list.ids {
			if _, ok := set.Metadata[list.kind].Get(id); !ok {
				return apierr.Invalid(element(list.name, i), "There is no such %s on this event.", list.thing)
			}
		}
	}
	return nil
}
