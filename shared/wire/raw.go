package wire

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// Raw is a JSON object that is answered as stored.
type Raw struct{ json.RawMessage }

// Schema describes an object of any form.
func (Raw) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}
