package metadata

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/wire"
)

// Create is the body of a create: a draft, whose properties are the body's, with
// a name.
type Create[D Change] struct{ Draft D }

// UnmarshalJSON reads the draft.
func (c *Create[D]) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &c.Draft) }

// Schema is the draft's, with name required.
func (Create[D]) Schema(r huma.Registry) *huma.Schema {
	schema := loose[D](r)
	schema.Required = []string{"name"}
	return schema
}

// Update is the body of an update: a draft, whose properties are the body's, and
// the updated_at last seen.
type Update[D Change] struct {
	Draft     D
	UpdatedAt wire.Opt[wire.Time]
}

// UnmarshalJSON reads both from one object.
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

// Schema is the draft's, with updated_at.
func (Update[D]) Schema(r huma.Registry) *huma.Schema {
	schema := loose[D](r)
	seen := wire.Time{}.Schema(r)
	seen.Description = "The entry's updated_at as last fetched; a stale one is a 409."
	schema.Properties["updated_at"] = seen
	return schema
}

// loose is the schema of D, with any other property ignored.
func loose[D any](r huma.Registry) *huma.Schema {
	schema := huma.SchemaFromType(r, reflect.TypeFor[D]())
	schema.AdditionalProperties = true
	return schema
}
