// Package fieldwrites is the Field Writes tag group: defining custom fields.
package fieldwrites

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/ratelimit"
	"lectern/shared/settings"
	"lectern/shared/settings/item"
	"lectern/shared/stores"
)

const fields = "/v1/event/{eventId}/fields"

// Group declares every route of the tag group.
var Group = api.NewGroup("Field Writes", start, []api.Route[service]{
	api.Post("createField", fields+"/create", (*service).create, writers, ratelimit.SchemaWrites, api.Fails(409)),
	api.Put("updateField", fields+"/{fieldId}", (*service).update, writers, ratelimit.SchemaWrites),
	api.Delete("deleteField", fields+"/{fieldId}", (*service).delete, writers, ratelimit.SchemaWrites),
})

var writers = auth.Scopes{auth.WriteFields}

type service struct {
	store    field.Store
	settings *settings.Cache
}

func start(env api.Env) *service {
	return &service{
		store:    field.Store{Table: env.Table, Now: env.Now, NewID: env.NewID},
		settings: stores.Settings(env),
	}
}

type createInput struct {
	api.InEvent
	Body field.Draft
}

// create defines a field of the event, or of its organization.
func (s *service) create(ctx context.Context, in *createInput) (*field.Definition, error) {
	caller := auth.From(ctx)
	set, err := s.settings.Load(ctx, caller)
	if err != nil {
		return nil, err
	}
	return s.store.Within(set.Used).Create(ctx, caller, in.Body)
}

// InField names the field of the path and the version the client has seen.
type InField struct {
	api.InEvent
	FieldID string `path:"fieldId" format:"uuid" doc:"The field's id."`
	api.Revision
}

type updateInput struct {
	InField
	Body field.Change
}

// update changes what is sent of a definition; its type never changes.
func (s *service) update(ctx context.Context, in *updateInput) (*field.Definition, error) {
	caller := auth.From(ctx)
	set, err := s.settings.Load(ctx, caller)
	if err != nil {
		return nil, err
	}
	return s.store.Within(set.Used).Update(ctx, caller, set.Fields, in.FieldID, in.Body, in.IfMatch)
}

// delete removes a definition; its values are not shown any more.
func (s *service) delete(ctx context.Context, in *InField) (*item.Removed, error) {
	caller := auth.From(ctx)
	set, err := s.settings.Load(ctx, caller)
	if err != nil {
		return nil, err
	}
	return &item.Removed{ID: in.FieldID}, s.store.Delete(ctx, caller, set.Fields, in.FieldID, in.IfMatch)
}
