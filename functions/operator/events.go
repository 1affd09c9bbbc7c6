package operator

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/field"
	"lectern/shared/programme"
	"lectern/shared/settings/item"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// EventOptions has the properties that create and update of an event share. A sent list
// replaces the stored list; features that are not sent stay.
type EventOptions struct {
	Timezone            wire.Opt[string]               `json:"timezone,omitzero" nullable:"false"`
	DefaultLanguage     wire.Opt[string]               `json:"default_language,omitzero" nullable:"false"`
	Features            map[string]bool                `json:"features,omitempty"`
	CustomFields        wire.Opt[[]customField]        `json:"custom_fields,omitzero" nullable:"false" maxItems:"100"`
	IntegrationMappings wire.Opt[[]integrationMapping] `json:"integration_mappings,omitzero" nullable:"false" maxItems:"100"`
}

// customField is a custom field of the event itself with its value.
type customField struct {
	Name         string     `json:"name" minLength:"1" maxLength:"255"`
	InternalName string     `json:"internal_name,omitempty" maxLength:"255"`
	Type         field.Type `json:"type" enum:"text,textarea,wysiwyg,dropdown,checkbox,date,datetime,number,currency,email,phone,file,countries,languages,user"`
	Options      []string   `json:"options,omitempty" nullable:"false"`
	Multiple     bool       `json:"multiple,omitempty"`
	Value        any        `json:"value"`
}

// integrationMapping is the event's counterpart in a connected system.
type integrationMapping struct {
	Source       string           `json:"source" minLength:"1" maxLength:"255"`
	ExternalID   wire.Opt[string] `json:"external_id,omitzero" maxLength:"255"`
	ExternalName wire.Opt[string] `json:"external_name,omitzero" maxLength:"255"`
	CampaignID   wire.Opt[string] `json:"campaign_id,omitzero" maxLength:"255"`
}

type eventCreate struct {
	InOrganization
	Name     string    `json:"name"`
	StartsAt wire.Time `json:"starts_at"`
	EndsAt   wire.Time `json:"ends_at"`
	EventOptions
}

// defaultLanguage is the language of a new event without a language.
const defaultLanguage = "en"

func (s *Service) createEvent(ctx context.Context, in *eventCreate) (*programme.Event, error) {
	if err := s.haveOrganization(ctx, in.OrgID); err != nil {
		return nil, err
	}
	e := &programme.Event{OrgID: in.OrgID, Name: in.Name, StartsAt: in.StartsAt, EndsAt: in.EndsAt,
		DefaultLanguage: defaultLanguage}
	if err := s.applyEvent(in.EventOptions, e); err != nil {
		return nil, err
	}
	return e, programme.Events.Create(ctx, s.tenancy, e)
}

type eventUpdate struct {
	InEvent
	Name     wire.Opt[string]    `json:"name,omitzero" nullable:"false"`
	StartsAt wire.Opt[wire.Time] `json:"starts_at,omitzero" nullable:"false"`
	EndsAt   wire.Opt[wire.Time] `json:"ends_at,omitzero" nullable:"false"`
	EventOptions
}

func (s *Service) updateEvent(ctx context.Context, in *eventUpdate) (*programme.Event, error) {
	return programme.Events.Update(ctx, s.tenancy, table.Event(in.OrgID, in.EventID), func(e *programme.Event) error {
		in.Name.Into(&e.Name)
		in.StartsAt.Into(&e.StartsAt)
		in.EndsAt.Into(&e.EndsAt)
		return s.applyEvent(in.EventOptions, e)
	})
}

func (s *Service) showEvent(ctx context.Context, in *InEvent) (*programme.Event, error) {
	return programme.Events.Get(ctx, s.tenancy, table.Event(in.OrgID, in.EventID))
}

// applyEvent sets the properties that were sent. The timezone comes first, since values of the
// custom fields may be times in the timezone.
func (s *Service) applyEvent(in EventOptions, e *programme.Event) error {
	in.Timezone.Into(&e.Timezone)
	in.DefaultLanguage.Into(&e.DefaultLanguage)
	if err := switchFeatures(in.Features, &e.Features); err != nil {
		return err
	}
	if in.IntegrationMappings.Sent {
		e.IntegrationMappings = s.mappings(in.IntegrationMappings.Value, e.IntegrationMappings)
	}
	if !in.CustomFields.Sent {
		return nil
	}
	fields, err := s.customFields(in.CustomFields.Value, e)
	e.CustomFields = fields
	return err
}

// switchFeatures sets the named features; the other features stay.
func switchFeatures(sent map[string]bool, features *programme.Features) error {
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if !features.Switch(name, sent[name]) {
			return apierr.Invalid("features."+name, "There is no feature %q.", name)
		}
	}
	return nil
}

// customFields returns the list that replaces the event's. A field of the same
// internal name keeps the id and the creation time.
func (s *Service) customFields(sent []customField, e *programme.Event) ([]programme.CustomField, error) {
	var all []programme.CustomField
	for i, f := range sent {
		at := element("custom_fields", i)
		f.InternalName = cmp.Or(f.InternalName, item.Slug(f.Name))
		if f.InternalName != item.Slug(f.InternalName) {
			return nil, apierr.Invalid(at+".internal_name", "%s.internal_name must have small letters, digits and underscores only.", at)
		}
		value, err := f.value(at, e)
		if err != nil {
			return nil, err
		}
		kept := programme.CustomField{ID: s.env.NewID(), CreatedAt: wire.At(s.env.Now())}
		for _, was := range e.CustomFields {
			if was.InternalName == f.InternalName {
				kept = was
			}
		}
		all = append(all, programme.CustomField{
			ID: kept.ID, Name: f.Name, InternalName: f.InternalName, Type: string(f.Type),
			Options: f.Options, Multiple: f.Multiple, Value: value, CreatedAt: kept.CreatedAt,
		})
	}
	return all, nil
}

// value returns the field's value in the form to store. at names the
// field in an error.
func (f customField) value(at string, e *programme.Event) (any, error) {
	if f.Value == nil {
		return nil, apierr.Invalid(at+".value", "%s.value is required.", at)
	}
	d := field.Definition{InternalName: at + ".value", Type: f.Type, Options: f.Options, Multiple: f.Multiple}
	return d.Accept(f.Value, e.Location())
}

// mappings returns the list that replaces the event's. A mapping of the same
// counterpart keeps the id and the creation time.
func (s *Service) mappings(sent []integrationMapping, old []programme.IntegrationMapping) []programme.IntegrationMapping {
	var all []programme.IntegrationMapping
	for _, m := range sent {
		next := programme.IntegrationMapping{
			ID: s.env.NewID(), Source: m.Source, ExternalID: pointer(m.ExternalID), ExternalName: pointer(m.ExternalName),
			CampaignID: m.CampaignID.Value, CreatedAt: wire.At(s.env.Now()),
		}
		for _, was := range old {
			if was.Source == next.Source && was.CampaignID == next.CampaignID && equal(was.ExternalID, next.ExternalID) {
				next.ID, next.CreatedAt = was.ID, was.CreatedAt
			}
		}
		all = append(all, next)
	}
	return all
}

// equal reports whether both are nil or both point to the same text.
func equal(a, b *string) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// pointer returns nil for a missing value.
func pointer(o wire.Opt[string]) *string {
	if !o.Has() {
		return nil
	}
	return &o.Value
}
