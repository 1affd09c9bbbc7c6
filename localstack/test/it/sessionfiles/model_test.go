package sessionfiles_test

import (
	"slices"
	"strings"
	"time"

	"lectern/localstack/test/it"
)

const (
	// modelRoom is the number of files that the slot of the model takes. The slot takes PDFs alone.
	modelRoom = 2
	// modelLife, modelGrace and modelKeep are the times of decision 41: for an upload, for a request that
	// began before the end of an upload, and for the bytes of a deleted or replaced file.
	modelLife, modelGrace, modelKeep = 24 * time.Hour, time.Hour, 30 * 24 * time.Hour
)

// shelf is the model of the files of a session.
type shelf struct {
	*it.State
	// files are the visible files, in the order in which they were completed first.
	files []*volume
	// parcels are all uploads that have begun, oldest first.
	parcels []*parcel
}

// volume is a file.
type volume struct {
	id, title, filename, kind string
	inSlot                    bool
	version                   int
	// bytes is the upload that the bytes came with.
	bytes *parcel
}

// parcel is an upload with the file as it is to be, and with its bytes.
type parcel struct {
	volume
	// key names the bytes in the bucket.
	key string
	// text is what the client has announced. stored is what the bucket has; empty for nothing.
	text, stored string
	// replaces reports whether the upload has other bytes for a file, and retitles whether it has a title too.
	replaces, retitles bool
	// open reports whether the upload can be completed until it ends. why says why an upload is not open.
	open bool
	why  string
	// ends is the time after which the bytes go; zero if they stay.
	ends time.Time
	// purged reports whether record and bytes have gone.
	purged bool
	begun  entity
}

// choice is what a client sends of a slot.
type choice int

const (
	unsent choice = iota
	thatSlot
	noSlot
)

// plan is what a client sends to begin an upload.
type plan struct {
	filename, kind, text string
	// title is empty if it is not sent.
	title string
	slot  choice
	// stale reports whether the client has seen an earlier version of the file.
	stale bool
}

// verdict is the answer that the model expects. field is the field of a refusal.
type verdict struct {
	status int
	field  string
}

// begin begins an upload: of a new file without an id, otherwise of other bytes of the file.
func (m *shelf) begin(p plan, id string) (verdict, *parcel) {
	stored := m.file(id)
	switch {
	case strings.HasSuffix(p.filename, ".exe"):
		return verdict{400, "filename"}, nil
	case m.Deleted || id != "" && stored == nil:
		return verdict{status: 404}, nil
	}
	made := &parcel{
		volume: volume{id: id, title: p.filename, filename: p.filename, kind: p.kind, version: 1}, text: p.text, open: true,
		ends: m.Now.Add(modelLife), replaces: id != "", retitles: p.title != "",
	}
	if stored != nil {
		made.inSlot, made.version = stored.inSlot, stored.version
		if stored.title != stored.filename {
			made.title = stored.title
		}
	}
	if p.title != "" {
		made.title = p.title
	}
	if p.slot != unsent {
		made.inSlot = p.slot == thatSlot
	}
	if made.inSlot && (p.kind != "application/pdf" || p.slot == thatSlot && m.taken(id) >= modelRoom) {
		return verdict{400, "content_slot_id"}, nil
	}
	if id != "" && p.stale {
		return verdict{status: 409}, nil
	}
	m.close(id, "replaced")
	m.parcels = append(m.parcels, made)
	if id == "" {
		return verdict{status: 201}, made
	}
	return verdict{status: 200}, made
}

// form uploads a new file in one request; add makes it visible. With wrong bytes nothing is stored. A form that
// the slot refuses leaves an upload without bytes, since the bytes come before the rest.
func (m *shelf) form(p plan, wrong bool) (verdict, *parcel) {
	switch {
	case m.Deleted:
		return verdict{status: 404}, nil
	case wrong || strings.HasSuffix(p.filename, ".exe"):
		return verdict{400, "file"}, nil
	}
	made := &parcel{
		volume: volume{title: p.filename, filename: p.filename, kind: p.kind, version: 1, inSlot: p.slot == thatSlot}, text: p.text, stored: p.text,
	}
	if p.title != "" {
		made.title = p.title
	}
	m.parcels = append(m.parcels, made)
	if made.inSlot && (p.kind != "application/pdf" || m.taken("") >= modelRoom) {
		made.stored, made.ends, made.why = "", m.Now.Add(modelLife), "refused"
		return verdict{400, "content_slot_id"}, made
	}
	return verdict{status: 201}, made
}

// add makes the file of a form visible.
func (m *shelf) add(p *parcel) {
	f := p.volume
	f.bytes = p
	m.files = append(m.files, &f)
}

// file returns the visible file of an id; nil without one.
func (m *shelf) file(id string) *volume {
	for _, f := range m.files {
		if f.id == id {
			return f
		}
	}
	return nil
}

// upload returns the upload of a file that can be completed; nil without one.
func (m *shelf) upload(id string) *parcel {
	for _, p := range m.parcels {
		if p.id == id && p.open && m.Now.Before(p.ends) {
			return p
		}
	}
	return nil
}

// close ends the upload of a file.
func (m *shelf) close(id, why string) {
	if p := m.upload(id); p != nil && id != "" {
		p.open, p.why = false, why
	}
}

// taken returns the number of files that have room in the slot, without the file of an id.
func (m *shelf) taken(id string) int {
	in := map[string]bool{}
	for _, f := range m.files {
		if f.inSlot {
			in[f.id] = true
		}
	}
	for _, p := range m.parcels {
		if p.inSlot && m.upload(p.id) == p {
			in[p.id] = true
		}
	}
	delete(in, id)
	return len(in)
}

// complete makes an upload visible if the bytes are what the client has announced.
func (m *shelf) complete(id string) verdict {
	f, p := m.file(id), m.upload(id)
	switch {
	case m.Deleted || f == nil && p == nil:
		return verdict{status: 404}
	case p == nil:
		return verdict{status: 200}
	case p.stored == "":
		return verdict{status: 400}
	case p.stored != p.text:
		p.stored = ""
		m.close(id, "refused")
		return verdict{400, "content_type"}
	}
	p.open, p.ends, p.why = false, time.Time{}, ""
	fresh := p.volume
	fresh.bytes = p
	if f == nil {
		m.files = append(m.files, &fresh)
		return verdict{status: 200}
	}
	fresh.version = f.version + 1
	if !p.retitles {
		if fresh.title = f.title; f.title == f.filename {
			fresh.title = fresh.filename
		}
	}
	f.bytes.ends, f.bytes.why = m.Now.Add(modelKeep), "replaced"
	*f = fresh
	return verdict{status: 200}
}

// update changes the title of a file. The name of the file is a title, too.
func (m *shelf) update(id, title string, stale bool) verdict {
	f := m.file(id)
	switch {
	case title == "":
		return verdict{400, "title"}
	case m.Deleted || f == nil:
		return verdict{status: 404}
	case stale:
		return verdict{status: 409}
	}
	f.title = title
	f.version++
	return verdict{status: 200}
}

// remove deletes a file with its upload, or ends the upload of a new file.
func (m *shelf) remove(id string, stale bool) verdict {
	f := m.file(id)
	switch {
	case m.Deleted || f == nil && m.upload(id) == nil:
		return verdict{status: 404}
	case f != nil && stale:
		return verdict{status: 409}
	}
	m.close(id, "deleted")
	if f != nil {
		f.bytes.ends, f.bytes.why = m.Now.Add(modelKeep), "deleted"
		m.files = slices.DeleteFunc(m.files, func(other *volume) bool { return other == f })
	}
	return verdict{status: 204}
}

// follow asks for the address of bytes.
func (m *shelf) follow(p *parcel) verdict {
	if m.Deleted || !slices.ContainsFunc(m.files, func(f *volume) bool { return f.bytes == p }) {
		return verdict{status: 404}
	}
	return verdict{status: 302}
}

// sweep removes the uploads that ended an hour ago, with their bytes, and returns their number.
func (m *shelf) sweep() (n int64) {
	for _, p := range m.parcels {
		if !p.purged && !p.ends.IsZero() && p.ends.Before(m.Now.Add(-modelGrace)) {
			p.purged, p.stored = true, ""
			n++
		}
	}
	return n
}

// keys returns the keys of the uploads that keep holds for, sorted.
func (m *shelf) keys(keep func(*parcel) bool) []string {
	all := []string{}
	for _, p := range m.parcels {
		if keep(p) {
			all = append(all, p.key)
		}
	}
	slices.Sort(all)
	return all
}

// state returns the state of a file for the count of what was tried.
func (m *shelf) state(id string) string {
	f, p := m.file(id), m.upload(id)
	name := "unknown"
	switch {
	case f != nil && p != nil:
		name = "replacing"
	case f != nil:
		name = "complete"
	case p != nil:
		name = "pending"
	default:
		for _, was := range m.parcels {
			if was.id == id {
				name = was.state(m.Now)
			}
		}
	}
	if p != nil && p.stored != "" {
		name += ", sent"
	}
	if m.Deleted {
		name += ", session deleted"
	}
	return name
}

// state returns the state of an upload.
func (p *parcel) state(now time.Time) string {
	switch {
	case p.open && now.Before(p.ends):
		return "open"
	case p.open:
		return "ended"
	case p.ends.IsZero():
		return "kept"
	}
	return p.why
}
