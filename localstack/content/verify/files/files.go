// Package files checks the files of the sessions of an event, their bytes and their open uploads against
// each other.
package files

import (
	"maps"
	"slices"
	"time"

	"lectern/localstack/content/verify/raw"
	"lectern/shared/session"
	"lectern/shared/sessionfile"
	"lectern/shared/slide"
	"lectern/shared/table"
	"lectern/shared/upload"
)

// Items are the items of an event. Add the items in any order, then call Check.
type Items struct {
	problem func(format string, args ...any)
	// open are by session, bytes by id.
	open  map[string]*sessionfile.Open
	bytes map[string]*sessionfile.Bytes
	// slides is the setup of holding slides, or nil; parts are the parts of the pictures by sort key.
	slides *slide.Config
	parts  map[string][]byte
}

// New returns the items of an event. problem receives each problem.
func New(problem func(format string, args ...any)) *Items {
	return &Items{problem: problem, open: map[string]*sessionfile.Open{}, bytes: map[string]*sessionfile.Bytes{}, parts: map[string][]byte{}}
}

// AddOpen adds the open uploads of a session.
func (i *Items) AddOpen(session string, item raw.Item) {
	open, err := sessionfile.DecodeOpen(stored(item))
	if err != nil {
		i.problem("the open uploads of session %s cannot be read", session)
		return
	}
	i.open[session] = open
}

// AddBytes adds the record of bytes.
func (i *Items) AddBytes(item raw.Item) {
	b, err := upload.Decode[sessionfile.Bytes](stored(item))
	if err != nil {
		i.problem("the bytes %s cannot be read", item.SK)
		return
	}
	i.bytes[b.ID] = b
}

func stored(item raw.Item) table.Item {
	return table.Item{Key: item.Key, Version: item.Version, Data: []byte(item.Data)}
}

// Check compares the items with the sessions.
func (i *Items) Check(sessions map[string]*session.Body) {
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		i.checkFiles(id, sessions[id].Content)
	}
	i.checkSlides(sessions, time.Now())
	for _, id := range slices.Sorted(maps.Keys(i.open)) {
		if sessions[id] == nil {
			i.problem("session %s is not there and has open uploads", id)
			continue
		}
		i.checkOpen(sessions[id], i.open[id])
	}
	for _, id := range slices.Sorted(maps.Keys(i.bytes)) {
		b := i.bytes[id]
		if in := sessions[b.SessionID]; b.Stored() && in != nil && in.FileOf(id) == nil {
			i.problem("no file of session %s has the bytes %s, which stay", b.SessionID, id)
		}
	}
}

// checkFiles checks that the ids of files differ, and that each file has a link and bytes.
func (i *Items) checkFiles(id string, files []session.File) {
	ids := map[string]bool{}
	for _, f := range files {
		if ids[f.ID] {
			i.problem("session %s has the file %s twice", id, f.ID)
		}
		if ids[f.ID] = true; f.Link == "" {
			i.problem("file %s of session %s has no link", f.ID, id)
		}
		if b := i.bytes[f.Bytes]; b == nil || !b.Stored() || b.SessionID != id || b.File.ID != f.ID {
			i.problem("file %s of session %s has no bytes that stay", f.ID, id)
		}
	}
}

// checkOpen checks that each open upload of a session fits its bytes. The bytes may be purged before the
// item of the uploads expires.
func (i *Items) checkOpen(in *session.Body, open *sessionfile.Open) {
	for _, u := range open.All {
		if b := i.bytes[u.Bytes]; b != nil && (b.Stored() || b.File.ID != u.File) {
			i.problem("the open upload of file %s of session %s does not fit its bytes", u.File, in.ID)
		}
		if in.FileOf(u.Bytes) != nil {
			i.problem("file %s of session %s is complete and has its upload", u.File, in.ID)
		}
	}
}
