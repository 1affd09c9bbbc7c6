package datarequest

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"lectern/shared/resource"
	"lectern/shared/wire"
)

// Draft is the body of a new request.
type Draft struct {
	Type         wire.Opt[string] `json:"requestType,omitzero" create:"required" enum:"erasure,access" nullable:"false" doc:"What is asked for."`
	IdentityType wire.Opt[string] `json:"identityType,omitzero" create:"required" enum:"email" nullable:"false" doc:"What names the person."`
	Identity     wire.Opt[string] `json:"identityValue,omitzero" create:"required" pattern:"\\S" maxLength:"255" nullable:"false" example:"ada@example.org" doc:"The person's address, whatever its case."`
}

// address returns the address as contacts keep it.
func (d Draft) address() string { return strings.TrimSpace(d.Identity.Value) }

// edit is a change of a request: opening, finding, ending, masking or removing.
type edit interface {
	Apply(e resource.Edit[*Request]) error
}

// opening makes a new request.
type opening struct {
	draft    Draft
	identity string
	found    Found
	// adopted are the contacts of failed erasures, with the times of the requests.
	adopted map[string]wire.Time
}

func (o opening) Apply(e resource.Edit[*Request]) error {
	r := e.Record
	r.OrgID, r.Type, r.IdentityType, r.IdentityValue = e.Org, o.draft.Type.Value, byEmail, o.draft.address()
	r.Status = Pending
	r.find(o.found)
	return r.hide(private{Identity: o.identity, Adopted: o.adopted})
}

// find notes the members and contacts of the request.
func (r *Request) find(found Found) {
	r.Response = found
	r.Exists = len(found.Users)+len(found.ContactRecord) > 0
}

// errEnded is the error of a change of a request after its end: another worker was faster, or
// the person is erased.
var errEnded = errors.New("datarequest: the request has ended")

// finding begins the work on a request, with who has the address now.
type finding struct {
	found  Found
	status string
}

func (f finding) Apply(e resource.Edit[*Request]) error {
	if e.Record.ended() {
		return errEnded
	}
	if e.Record.Status == Pending { // Another worker may have begun.
		e.Record.find(f.found)
	}
	e.Record.Status = f.status
	return nil
}

// ending ends the work on a request, and masks the address of an erased person.
type ending struct {
	status  string
	archive *Archive
	// claim names the parts of the archive.
	claim int64
	at    wire.Time
}

func (d ending) Apply(e resource.Edit[*Request]) error {
	r := e.Record
	if r.ended() {
		return errEnded
	}
	r.Status, r.Archive = d.status, d.archive
	if r.Type == Erasure && d.status == Completed {
		r.IdentityValue = Mask(r.IdentityValue)
	}
	return r.keep(func(p *private) { p.Claim, p.EndedAt = d.claim, d.at })
}

// masking hides the address of an erased person in another request. An open request fails, because
// the data is gone.
type masking struct{}

func (masking) Apply(e resource.Edit[*Request]) error {
	r := e.Record
	r.IdentityValue, r.Archive = Mask(r.IdentityValue), nil
	if r.Open() {
		r.Status = Failed
	}
	return r.keep(func(p *private) { p.Erased = true })
}

// errOpen is the error of the deletion of an open request.
var errOpen = errors.New("datarequest: the request is open")

// removing hides the address in a request that is deleted, since the deleted record is kept for a while.
type removing struct{}

func (removing) Apply(e resource.Edit[*Request]) error {
	if e.Record.Open() {
		return errOpen
	}
	e.Record.IdentityValue, e.Record.Archive = Mask(e.Record.IdentityValue), nil
	return nil
}

// keepArchive is how long an archive can be read.
const keepArchive = 30 * 24 * time.Hour

// hidden stands for the masked part of an address.
const hidden = "***"

// Mask returns an address of which the first letters of name and host, and the end of the host, are
// left: a***@e***.org for ada@example.org. Mask does not change a masked address.
func Mask(address string) string {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return initial(address) + hidden
	}
	name, host := address[:at], address[at+1:]
	end := ""
	if dot := strings.LastIndexByte(host, '.'); dot > 0 {
		end = host[dot:]
	}
	return initial(name) + hidden + "@" + initial(host) + hidden + end
}

// initial returns the first letter of a text.
func initial(text string) string {
	_, size := utf8.DecodeRuneInString(text)
	return text[:size]
}
