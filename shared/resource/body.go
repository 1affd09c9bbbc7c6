package resource

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/page"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// At is the part of an input that names the owner of records.
type At struct {
	EventID  int64  `path:"eventId" minimum:"1" doc:"The event's id."`
	OrgID    int64  `path:"orgId" minimum:"1" doc:"The organization's id, the caller's own."`
	ParentID string `path:"parentId" format:"uuid" doc:"The id of the record that the records belong to."`
}

// owner returns the owner that the path names, in the caller's organization. The pipeline
// has checked the event and the organization.
func (a At) owner(ctx context.Context) Owner {
	return Owner{Org: auth.From(ctx).Org.ID, Event: a.EventID, Parent: a.ParentID}
}

// In is the part of an input that names a record.
type In struct {
	At
	ID string `path:"id" format:"uuid" doc:"The record's id."`
}

type listInput struct{ At }

type pageInput struct {
	At
	page.Query
}

type getInput struct{ In }

type createInput[D any] struct {
	At
	Body Create[D]
}

type updateInput[D any] struct {
	In
	api.Revision
	Body Update[D]
}

func (in *updateInput[D]) guard() write.Guard {
	return write.Guard{UpdatedAt: in.Body.UpdatedAt, IfMatch: in.IfMatch}
}

type removeInput struct {
	In
	api.Revision
}

type forceInput struct {
	In
	api.Revision
	Force bool `query:"force" doc:"Whether to delete the record although others depend on it; without it that is a 409 CONFIRMATION_REQUIRED."`
}

// Create is the body of a create: a draft. The properties of D with the tag
// create:"required" must be there.
type Create[D any] struct{ Draft D }

// UnmarshalJSON reads the draft.
func (c *Create[D]) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &c.Draft) }

// Schema returns the schema of the draft.
func (Create[D]) Schema(r huma.Registry) *huma.Schema {
	schema := loose[D](r)
	for _, field := range reflect.VisibleFields(reflect.TypeFor[D]()) {
		if field.Tag.Get("create") == "required" {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			schema.Required = append(schema.Required, name)
		}
	}
	return schema
}

// Update is the body of an update: a draft, and the updated_at last seen.
type Update[D any] struct {
	Draft     D
	UpdatedAt wire.Opt[wire.Time]
}

// UnmarshalJSON reads both from the same object.
func (u *Update[D]) UnmarshalJSON(data []byte) error {
	var seen struct {
		UpdatedAt wire.Opt[wire.Time] `json:"updated_at"`
	}
	if err := json.Unmarshal(data, &seen); err != nil {
		return err
	}
	u.UpdatedAt = seen.UpdatedAt
	return json.Unmarshal(data, &u.Draft)
}

// Schema returns the schema of the draft, with updated_at.
func (Update[D]) Schema(r huma.Registry) *huma.Schema {
	schema := loose[D](r)
	seen := wire.Time{}.Schema(r)
	seen.Description = "The record's updated_at as last fetched; a stale one is a 409."
	schema.Properties["updated_at"] = seen
	return schema
}

// loose returns the schema of D, with any other property ignored.
func loose[D any](r huma.Registry) *huma.Schema {
	schema := huma.SchemaFromType(r, reflect.TypeFor[D]())
	schema.AdditionalProperties = true
	return schema
}
