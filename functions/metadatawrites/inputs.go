package metadatawrites

import (
	"lectern/shared/api"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/settings/handler"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Expand names the additions to the answer of a write.
type Expand struct {
	Expand api.Strings `query:"expand" enum:"translated_fields" doc:"What to add to the answer."`
}

// texts returns the fields that show translations, nil without the expand.
func (x Expand) texts(s *handler.Settings) *field.Set {
	if x.Expand.Has("translated_fields") {
		return s.Fields
	}
	return nil
}

// InEntry names the entry of the path and the version that the client has seen.
type InEntry struct {
	api.InEvent
	ID string `path:"id" format:"uuid" doc:"The entry's id."`
	api.Revision
}

func (in InEntry) guard() write.Guard { return write.Guard{IfMatch: in.IfMatch} }

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

type restoreInput struct {
	InEntry
	Expand
}
