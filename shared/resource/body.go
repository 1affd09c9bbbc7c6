package resource

import (
	"lectern/shared/api"
	"lectern/shared/apierr"
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
	WithinID string `path:"withinId" format:"uuid" doc:"The id of the record that the records are below."`
}

// Owner returns the owner that the path names, in the caller's organization. The pipeline
// has checked the event and the organization. A caller who is limited to events gets a 403 for
// the records of the organization (gaps.md 1).
func (a At) Owner(c *auth.Caller) (Owner, error) {
	if _, limited := c.Events(); limited && a.EventID == 0 {
		return Owner{}, apierr.Forbidden("", "This needs a token that is not limited to events.")
	}
	return Owner{Org: c.Org.ID, Event: a.EventID, Parent: a.ParentID, Within: a.WithinID}, nil
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
	Body wire.Create[D]
}

type updateInput[D any] struct {
	In
	api.Revision
	Body wire.Update[D]
}

func (in *updateInput[D]) guard() write.Guard {
	return write.Guard{UpdatedAt: in.Body.UpdatedAt, IfMatch: in.IfMatch}
}

type removeInput struct {
	In
	api.Revision
}

type forceInput struct{ Forced }

// Forced is the part of an input of a deletion that a client can force.
type Forced struct {
	In
	api.Revision
	Force bool `query:"force" doc:"Whether to delete the record although others depend on it; without it that is a 409 CONFIRMATION_REQUIRED."`
}
