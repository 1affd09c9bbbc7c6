package session

import (
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/keys"
	"lectern/shared/person"
	"lectern/shared/table"
	"lectern/shared/write"
)

// Keys are the patterns of the items of sessions. A session and its row name contacts by id, and
// have texts that others wrote. A session has the files of contacts, too.
var Keys = []keys.Pattern{
	{Name: "session", PK: "e#S#<session>", SK: "B", Personal: keys.Person},
	{Name: "row of a session", PK: "e#RS", SK: "<shard>#<session>", Personal: keys.Outside},
	{Name: "version of a shard", PK: "e#V", SK: rowFamily + "#<shard>", Personal: keys.Nothing},
	{Name: "running number", PK: "e#N#session", SK: "-", Personal: keys.Nothing},
}

const (
	shards    = 64
	rowFamily = "S"
)

// Place holds the keys of an event's sessions.
type Place struct{ Org, Event int64 }

// Of returns the Place of an event.
func Of(org, event int64) Place { return Place{Org: org, Event: event} }

// At returns the Place of the caller's event.
func At(c *auth.Caller) Place { return Of(c.Org.ID, c.Event.ID) }

func (p Place) prefix() string { return table.Event(p.Org, p.Event) }

// Body returns the key of a session's body.
func (p Place) Body(id string) table.Key {
	return table.Key{PK: p.prefix() + "#S#" + id, SK: "B"}
}

// Bodies returns the keys of the bodies of ids.
func (p Place) Bodies(ids []string) []table.Key {
	all := make([]table.Key, len(ids))
	for i, id := range ids {
		all[i] = p.Body(id)
	}
	return all
}

// Numbers returns the key of the counter that numbers the sessions.
func (p Place) Numbers() table.Key {
	return table.Key{PK: p.prefix() + "#N#session", SK: "-"}
}

// Rows returns the place of the rows.
func (p Place) Rows() catalogue.Source {
	return catalogue.Source{Rows: p.prefix() + "#RS", Versions: p.prefix() + "#V", Family: rowFamily, Shards: shards}
}

// PersonSession returns the session b as package person writes items for its contacts.
func (p Place) PersonSession(b *Body) person.Session {
	return person.Session{Org: p.Org, Event: p.Event, ID: b.ID, Version: b.Version, Created: b.CreatedAt.UnixMilli()}
}

// Stored returns a session from the read items, deleted or not; 404 without an item.
func (p Place) Stored(got write.Items, id string) (*Body, error) {
	item, ok := got[p.Body(id)]
	if !ok {
		return nil, NotFound()
	}
	return Decode(item)
}

// Live returns a session from the read items; 404 for a deleted session too.
func (p Place) Live(got write.Items, id string) (*Body, error) {
	b, err := p.Stored(got, id)
	if err == nil && b.DeletedAt != nil {
		return nil, NotFound()
	}
	return b, err
}

// NotFound returns the 404 of a session that does not exist, is deleted, or belongs to
// another event.
func NotFound() error { return apierr.NotFound("Session") }
