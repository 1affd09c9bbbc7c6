package agenda

import (
	"fmt"

	"lectern/shared/apierr"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

// Draft is an agenda beside the live one. Its placements say where sessions would be.
type Draft struct {
	resource.Header
	EventID     int64   `json:"event_id" doc:"The event's id."`
	Name        string  `json:"name" doc:"The draft's name."`
	Description *string `json:"description" doc:"What the draft tries."`
	Status      string  `json:"status" enum:"draft,committed" doc:"Whether the draft was put live; then nothing in it changes any more."`
	AdminURL    *string `json:"admin_url" doc:"The draft in the admin application, where one is configured."`
}

// SessionsOfDraft is the name of the kind of the placements of a draft (package draft).
const SessionsOfDraft = "draft_session"

// The statuses of a draft.
const (
	StatusDraft     = "draft"
	StatusCommitted = "committed"
)

// DraftEdit has the properties of a draft that a client may write.
type DraftEdit struct {
	Name        wire.Opt[string] `json:"name,omitzero" create:"required" maxLength:"255" pattern:"\\S" nullable:"false" doc:"The draft's name."`
	Description wire.Opt[string] `json:"description,omitzero" maxLength:"2000" doc:"What the draft tries."`
}

// Drafts is the kind of the drafts.
var Drafts = &resource.Kind[Draft, *Draft, DraftEdit]{
	Name: "agenda_draft", Title: "Agenda draft", Many: "agenda drafts", Max: 100, Children: []string{SessionsOfDraft},
	MayDelete: keepCommitted, Show: (*Draft).link,
}

// Apply writes the properties into the draft. A committed draft is closed.
func (d DraftEdit) Apply(e resource.Edit[*Draft]) error {
	if e.New {
		e.Record.EventID, e.Record.Status = e.Event, StatusDraft
	}
	if e.Record.Status == StatusCommitted {
		return Closed()
	}
	d.Name.Into(&e.Record.Name)
	d.Description.IntoPointer(&e.Record.Description)
	return nil
}

// Closed returns the 409 of a write to a committed draft.
func Closed() error {
	return apierr.Conflict("DRAFT_COMMITTED", "The draft is committed and cannot change any more. Create another one.")
}

// keepCommitted refuses to delete a committed draft without force, since the draft is the record of what
// was put live.
func keepCommitted(d resource.Deletion[*Draft]) error {
	if d.Record.Status != StatusCommitted {
		return nil
	}
	return resource.Confirm("committed", d.Children[SessionsOfDraft], "The draft is committed, and the only record of what it changed.")
}

// link sets the address in the admin application.
func (d *Draft) link(s resource.Store, o resource.Owner) {
	if s.AdminURL != "" {
		at := fmt.Sprintf("%s/event/%d/agenda-drafts/%s", s.AdminURL, o.Event, d.ID)
		d.AdminURL = &at
	}
}
