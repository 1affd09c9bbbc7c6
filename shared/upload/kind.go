package upload

import (
	"time"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/blob"
	"lectern/shared/scan"
	"lectern/shared/table"
)

// Kind describes a kind of record with bytes.
type Kind[R any, P Record[R]] struct {
	// Name is the kind in keys and changes, for example media_item. Title names a record in messages.
	Name, Title string
	// Folder begins the keys of the objects. A role is held to its folders.
	Folder string
	// Publishes is the published kind of a change that raises Upload.Published; empty for none.
	Publishes string
	// Life is the time for which an upload is open.
	Life time.Duration
}

// Store keeps the records of all kinds.
type Store struct {
	Table *table.Table
	Blobs *blob.Store
	// Scanner gives the verdict on bytes that are complete.
	Scanner scan.Scanner
	Now     func() time.Time
	NewID   func() string
}

// NewStore returns the store of a group.
func NewStore(env api.Env) Store {
	return Store{Table: env.Table, Blobs: env.Blobs, Scanner: env.Scanner, Now: env.Now, NewID: env.NewID}
}

// Of returns the records of a session of the caller's event.
func (k *Kind[R, P]) Of(s Store, c *auth.Caller, session string) Collection[R, P] {
	return Collection[R, P]{Store: s, kind: k, place: At(c.Org.ID, c.Event.ID), session: session}
}

// NotFound returns the 404 of a record.
func (k *Kind[R, P]) NotFound() error { return apierr.NotFound(k.Title) }
