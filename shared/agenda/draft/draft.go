// Package draft owns the drafts of an agenda and the places of sessions in them (gaps.md section 4,
// docs/decisions/0049). Both are small records (package resource). Read the files in this order:
//
//	draft.go    a draft
//	session.go  the place of a session in a draft
//	changes.go  the changes of a draft, before and after the commit
//	lock.go     the hidden part of a draft, and the lock of a proposal
//	commit.go   the first half of a commit: the checks and the claim
//	apply.go    the second half: the sessions, and the end
//	propose.go  the proposal of a whole agenda into a draft
//	wanted.go   the body of a proposal, and the problem of the solver
package draft

import (
	"fmt"

	"lectern/shared/agenda"
	"lectern/shared/apierr"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

// Draft is an agenda beside the live agenda, made of placements.
type Draft struct {
	resource.Header
	EventID     int64   `json:"event_id" doc:"The event's id."`
	Name        string  `json:"name" doc:"The draft's name."`
	Description *string `json:"description" doc:"What the draft tries."`
	Status      string  `json:"status" enum:"draft,committed" doc:"Whether the draft was put live; then nothing in it changes any more."`
	Applied     *int    `json:"applied" doc:"How many sessions the commit has changed; null before it."`
	AdminURL    *string `json:"admin_url" doc:"The draft in the admin application, where one is configured."`
}

// The acts of a commit: committed begins the commit, appliedAct does a placement, and ends the commit. A proposal locks
// the draft and unlocks it.
const (
	committed  record.Verb = "committed"
	appliedAct record.Verb = "applied"
	locked     record.Verb = "locked"
	unlocked   record.Verb = "unlocked"
)

// The statuses of a draft.
const (
	StatusDraft     = "draft"
	StatusCommitted = "committed"
)

// begun reports whether a commit of the draft has begun and not ended.
func (d *Draft) begun() bool { return d.Status == StatusCommitted && d.Applied == nil }

// Edit has the properties of a draft that a client may write.
type Edit struct {
	Name        wire.Opt[string] `json:"name,omitzero" create:"required" maxLength:"255" pattern:"\\S" nullable:"false" doc:"The draft's name."`
	Description wire.Opt[string] `json:"description,omitzero" maxLength:"2000" doc:"What the draft tries."`
}

// names are the names of the kind of the drafts.
var names = resource.ParentNames{Name: "agenda_draft", Title: "Agenda draft"}

// Drafts is the kind of the drafts.
var Drafts = &resource.Kind[Draft, *Draft, Edit]{
	Name: names.Name, Title: names.Title, Many: "agenda drafts", Max: 100, Children: []string{Sessions.Name},
	Publishes: map[record.Verb]string{committed: agenda.KindCommitted}, MayDelete: keepCommitted, Show: (*Draft).link, Finish: finish,
}

// drafts are the drafts of an event.
type drafts = resource.Collection[Draft, *Draft, Edit]

// Apply writes the properties into the draft. A committed draft is closed.
func (e Edit) Apply(to resource.Edit[*Draft]) error {
	if to.New {
		to.Record.EventID, to.Record.Status = to.Event, StatusDraft
	}
	if to.Record.Status == StatusCommitted {
		return closed()
	}
	e.Name.Into(&to.Record.Name)
	e.Description.IntoPointer(&to.Record.Description)
	return nil
}

// closed returns the 409 of a write to a committed draft.
func closed() error {
	return apierr.Conflict("DRAFT_COMMITTED", "The draft is committed and cannot change any more. Create another one.")
}

// keepCommitted refuses to delete a committed draft without force, since the draft keeps the changes of the commit.
func keepCommitted(d resource.Deletion[*Draft]) error {
	if d.Record.Status != StatusCommitted {
		return nil
	}
	return resource.Confirm("committed", d.Children[Sessions.Name], "The draft is committed, and the only record of what it changed.")
}

// link sets the address in the admin application.
func (d *Draft) link(s resource.Store, o resource.Owner) {
	if s.AdminURL != "" {
		at := fmt.Sprintf("%s/event/%d/agenda-drafts/%s", s.AdminURL, o.Event, d.ID)
		d.AdminURL = &at
	}
}
