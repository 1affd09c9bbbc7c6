package metadata

import (
	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/wire"
)

// Update is the body of an update: the properties of a draft, and the updated_at that the
// client has seen.
type Update[D Change] wire.Update[D]

// UnmarshalJSON reads both from the same object.
func (u *Update[D]) UnmarshalJSON(data []byte) error {
	return (*wire.Update[D])(u).UnmarshalJSON(data)
}

// Schema returns the schema of the draft, with updated_at.
func (Update[D]) Schema(r huma.Registry) *huma.Schema { return wire.UpdateSchema[D](r, "entry") }
