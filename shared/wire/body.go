package wire

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

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
	UpdatedAt Opt[Time]
}

// UnmarshalJSON reads both from the same object.
func (u *Update[D]) UnmarshalJSON(data []byte) error {
	var seen struct {
		UpdatedAt Opt[Time] `json:"updated_at"`
	}
	if err := json.Unmarshal(data, &seen); err != nil {
		return err
	}
	u.UpdatedAt = seen.UpdatedAt
	return json.Unmarshal(data, &u.Draft)
}

// Schema returns the schema of the draft, with updated_at.
func (Update[D]) Schema(r huma.Registry) *huma.Schema { return UpdateSchema[D](r, "record") }

// UpdateSchema returns the schema of an Update of D. noun names the record in the document.
func UpdateSchema[D any](r huma.Registry, noun string) *huma.Schema {
	schema := loose[D](r)
	seen := Time{}.Schema(r)
	seen.Description = "The " + noun + "'s updated_at as last fetched; a stale one is a 409."
	schema.Properties["updated_at"] = seen
	return schema
}

// loose returns the schema of D, with any other property ignored.
func loose[D any](r huma.Registry) *huma.Schema {
	schema := huma.SchemaFromType(r, reflect.TypeFor[D]())
	schema.AdditionalProperties = true
	return schema
}
