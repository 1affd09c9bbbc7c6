package view

import (
	"context"
	"strings"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/session"
	"lectern/shared/wire"
)

// Content is a file of a session (spec.md section 2.7, gaps.md section 6.1).
type Content struct {
	ID            string    `json:"id" format:"uuid"`
	URL           string    `json:"url" doc:"The address of the bytes, for everyone who knows it. Other bytes have another address; the address of a deleted file is a 404."`
	Title         string    `json:"title"`
	Filename      string    `json:"filename"`
	Size          int64     `json:"size" doc:"The number of bytes."`
	MIMEType      string    `json:"mimetype" example:"application/pdf"`
	Type          string    `json:"type" example:"presentation" doc:"The content_type of the slot; other for a file outside any slot."`
	Label         string    `json:"label" example:"Presentation" doc:"The type in words."`
	ContentSlotID *string   `json:"content_slot_id" format:"uuid" doc:"Null for a file outside any slot."`
	AssignedID    *string   `json:"assigned_participant_id" format:"uuid" doc:"The contact whose file it is, one of the session's participants."`
	AssignedEmail *string   `json:"assigned_participant_email" doc:"Null for a caller without read:contacts."`
	AssignedName  *string   `json:"assigned_participant_name"`
	ScanStatus    string    `json:"scan_status" enum:"clean,not_scanned" doc:"Whether a scanner found no malware in the bytes, or did not scan them."`
	CreatedAt     wire.Time `json:"created_at"`
	UpdatedAt     wire.Time `json:"updated_at"`
	version       int64
}

// RecordID returns the file's id.
func (c *Content) RecordID() string { return c.ID }

// Revision returns the version of the file, for the ETag.
func (c *Content) Revision() int64 { return c.version }

// Files renders files of the session b.
func Files(ctx context.Context, r Request, b *session.Body, files []session.File) ([]Content, error) {
	r.address = api.Address(ctx)
	if r.People == nil {
		r.People = r.Parties.People(r.Caller, false)
	}
	var assigned []string
	for _, f := range files {
		if f.AssignedTo != nil {
			assigned = append(assigned, *f.AssignedTo)
		}
	}
	if err := r.People.Load(ctx, distinct(assigned), nil); err != nil {
		return nil, err
	}
	return r.content(b, files), nil
}

// content renders files of the session b. The contact of a file is shown as long as the contact is a
// participant of the session on the event.
func (r *Request) content(b *session.Body, files []session.File) []Content {
	all := make([]Content, len(files))
	for i, f := range files {
		all[i] = Content{
			ID: f.ID, URL: r.address + "/files/" + f.Link, Title: f.Title, Filename: f.Filename, Size: f.Size, MIMEType: f.MIMEType,
			Type: f.Type, Label: label(f.Type), ScanStatus: f.ScanStatus(),
			CreatedAt: f.CreatedAt, UpdatedAt: f.UpdatedAt, version: f.Version,
		}
		if r.Caller.Event.Features.ContentSlots {
			all[i].ContentSlotID = f.SlotID
		}
		if f.AssignedTo == nil || !b.HasContact(*f.AssignedTo) {
			continue
		}
		if p, ok := r.People.Contacts.Holder(*f.AssignedTo, contact.Role); ok {
			all[i].AssignedID, all[i].AssignedName = f.AssignedTo, contact.FullName(p.Body)
			if email := p.Value("email"); email != "" && r.Caller.May(auth.Scopes{auth.ReadContacts}) == nil {
				all[i].AssignedEmail = &email
			}
		}
	}
	return all
}

// label returns a type in words: Holding slide for holding_slide.
func label(kind string) string {
	words := strings.ReplaceAll(kind, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}
