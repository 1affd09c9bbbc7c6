package metadatawrites

import (
	"lectern/shared/api"
	"lectern/shared/metadata"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Expand is what the answer of a write can add.
type Expand struct {
	Expand api.Strings `query:"expand" enum:"translated_fields" doc:"What to add to the answer."`
}

// InEntry names the entry of the path and the version the client has seen.
type InEntry struct {
	api.InEvent
	ID string `path:"id" format:"uuid" doc:"The entry's id."`
	api.Revision
}

type createInput[D metadata.Change] struct {
	api.InEvent
	Expand
	Body wire.Create[D]
}

type updateInput[D metadata.Change] struct {
	InEntry
	Expand
	Body metadata.Update[D]
}

func (in *updateInput[D]) guard() write.Guard {
	return write.Guard{UpdatedAt: in.Body.UpdatedAt, IfMatch: in.IfMatch}
}
