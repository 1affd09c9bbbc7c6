// Package files checks the files and uploads of the sessions of an event against each other.
package files

import (
	"maps"
	"slices"

	"lectern/localstack/content/verify/raw"
	"lectern/shared/session"
	"lectern/shared/sessionfile"
	"lectern/shared/table"
)

// Items are the items of an event. Add the items in any order, then call Check.
type Items struct {
	problem func(format string, args ...any)
	// uploads are by session, due by bytes.
	uploads map[string]*sessionfile.Uploads
	due     map[string]sessionfile.Due
}

// New returns the items of an event. problem receives each problem.
func New(problem func(format string, args ...any)) *Items {
	return &Items{problem: problem, uploads: map[string]*sessionfile.Uploads{}, due: map[string]sessionfile.Due{}}
}

// AddUploads adds the uploads of a session.
func (i *Items) AddUploads(session string, item raw.Item) {
	u, err := sessionfile.DecodeUploads(table.Item{Key: item.Key, Version: item.Version, Data: []byte(item.Data)})
	if err != nil {
		i.problem("the uploads of session %s cannot be read", session)
		return
	}
	i.uploads[session] = u
}

// AddDue adds bytes that a sweep looks at.
func (i *Items) AddDue(item raw.Item) {
	due, err := sessionfile.DecodeDue(table.Item{Key: item.Key, Data: []byte(item.Data)})
	if err != nil {
		i.problem("the bytes that a sweep looks at cannot be read")
		return
	}
	i.due[due.Bytes] = due
}

// Former returns the ids of files that have, or had, bytes that a sweep looks at.
func (i *Items) Former() (ids []string) {
	for _, due := range i.due {
		ids = append(ids, due.File)
	}
	return ids
}

// Check compares the uploads with the sessions and with the bytes that a sweep looks at.
func (i *Items) Check(sessions map[string]*session.Body) {
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		i.checkFiles(id, sessions[id].Content)
	}
	for _, id := range slices.Sorted(maps.Keys(i.uploads)) {
		b := sessions[id]
		if b == nil {
			i.problem("session %s is not there and has uploads", id)
			continue
		}
		for _, u := range i.uploads[id].All {
			if b.FileOf(u.Bytes) != nil {
				i.problem("file %s of session %s is complete and has its upload", u.ID, id)
			}
			if (b.File(u.ID) != nil) != u.Replaces {
				i.problem("the upload of file %s does not fit the files of session %s", u.ID, id)
			}
			if i.due[u.Bytes].Session != id {
				i.problem("no sweep looks at the upload of file %s of session %s", u.ID, id)
			}
		}
	}
}

// checkFiles checks that the ids of files and bytes differ, and that each file has a link.
func (i *Items) checkFiles(id string, files []session.File) {
	ids, bytes := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		if ids[f.ID] || bytes[f.Bytes] {
			i.problem("session %s has the file %s twice", id, f.ID)
		}
		if ids[f.ID], bytes[f.Bytes] = true, true; f.Link == "" {
			i.problem("file %s of session %s has no link", f.ID, id)
		}
	}
}
