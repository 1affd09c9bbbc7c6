// Package fieldwrites is the Field Writes tag group, which defines custom fields.
package fieldwrites

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/ratelimit"
	"lectern/shared/settings/handler"
	"lectern/shared/settings/item"
)

const fields = "/v1/event/{eventId}/fields"

// Group declares every route of the tag group.
var Group = api.NewGroup("Field Writes", handler.Start, []api.Route[handler.Service]{
	api.Post("createField", fields+"/create", handler.With(create), writers, limit),
	api.Put("updateField", fields+"/{fieldId}", handler.With(update), writers, limit),
	api.Delete("deleteField", fields+"/{fieldId}", handler.With(remove), writers, limit),
})

var (
	writers = auth.Scopes{auth.WriteFields}
	limit   = api.Limit(ratelimit.SchemaWrites)
)

type createInput struct {
	api.InEvent
	Body field.Draft
}

// create defines a field of the event, or of its organization.
func create(ctx context.Context, s *handler.Settings, in *createInput) (*field.Definition, error) {
	return s.FieldStore().Create(ctx, in.Body)
}

// InField names the field of the path and the version that the client has seen.
type InField struct {
	api.InEvent
	FieldID string `path:"fieldId" format:"uuid" doc:"The field's id."`
	api.Revision
}

type updateInput struct {
	InField
	Body field.Change
}

// update changes the properties that are sent of a definition.
func update(ctx context.Context, s *handler.Settings, in *updateInput) (*field.Definition, error) {
	return s.FieldStore().Update(ctx, in.FieldID, in.Body, in.IfMatch)
}

// remove deletes a definition.
func remove(ctx context.Context, s *handler.Settings, in *InField) (*item.Removed, error) {
	return &item.Removed{ID: in.FieldID}, s.FieldStore().Delete(ctx, in.FieldID, in.IfMatch)
}
