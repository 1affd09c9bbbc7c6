// Package view defines what a session looks like: its shapes, and the way from stored
// sessions to these shapes (spec.md sections 2.4 to 2.6). Read the files in this order:
//
//	request.go  what a request shows, and what is loaded for it
//	shapes.go   the shapes
//	load.go     reads everything that the shapes show, and estimates the length of the answer
//	people.go   renders people and accounts
//	files.go    renders files
//	show.go     renders sessions, and shorter sessions where an answer is too long
//	lists.go    renders the rows of the status search and of a contact's sessions
//	answer.go   renders the answers of a bulk within one budget
package view

import (
	"context"
	"slices"

	"lectern/shared/account"
	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/session"
	"lectern/shared/settings"
	"lectern/shared/size"
	"lectern/shared/wire"
)

// Expand is what a request adds to its answer (spec.md section 4).
type Expand struct {
	TranslatedFields  bool
	SubsessionDetails bool
	LinkedSources     bool
	Composition       bool
}

// Expansion returns the Expand of the names that a client sent. The schema has refused
// unknown names.
func Expansion(names []string) Expand {
	return Expand{
		TranslatedFields:  slices.Contains(names, "translated_fields"),
		SubsessionDetails: slices.Contains(names, "subsession_details"),
		LinkedSources:     slices.Contains(names, "linked_sources"),
		Composition:       slices.Contains(names, "composition"),
	}
}

// Request is what a request shows of sessions, and to which caller.
type Request struct {
	Caller   *auth.Caller
	Settings *settings.Snapshot
	Expand   Expand
	Parties  session.Parties
	AdminURL string
	// Bare writes unassigned metadata as {}.
	Bare bool
	// Fetch reads sessions by id and leaves out unknown ids.
	Fetch func(ctx context.Context, ids []string) ([]*session.Body, error)
	// People and Others are the parties, and the sessions by id, that were loaded before.
	// Loading adds to both.
	People *session.People
	Others map[string]*session.Body
	// address begins the addresses of files.
	address string
	// bytes is the size of the fetched sessions as stored.
	bytes int
}

// paged reports whether the client can ask for a smaller page.
func paged(ctx context.Context, bodies []*session.Body) bool {
	return size.Of(ctx).PageSize != "" && len(bodies) > 1
}

// Loaded has sessions and everything that their shapes show. Only Load returns a Loaded.
type Loaded struct {
	Request
	bodies []*session.Body
	// detail is the Detail to begin with. sizes are the estimated bytes of each session.
	detail size.Detail
	sizes  []int
	// profiles and summaries are the rendered contacts and accounts.
	profiles  map[profile]wire.Object
	summaries map[summary]account.Summary
}

// profile is the key of a rendered contact.
type profile struct {
	id string
	contact.Parts
}

// summary is the key of a rendered account.
type summary struct {
	id, role   string
	translated bool
}
