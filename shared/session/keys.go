package session

import (
	"lectern/shared/catalogue"
	"lectern/shared/table"
)

// Keys of sessions, all under their organization and event
// e = O#<org>#E#<event> (design.md section 3):
//
//	PK               SK            what
//	e#S#<session>    B             the body
//	e#RS             <shard>#<id>  the row, for searches
//	e#V              S#<shard>     the version of a shard of rows
//	e#N#session      -             the last number given to a session
const (
	shards    = 64
	rowFamily = "S"
)

// place is where an event's sessions are kept.
type place struct{ org, event int64 }

func (p place) prefix() string { return table.Event(p.org, p.event) }

func (p place) body(id string) table.Key {
	return table.Key{PK: p.prefix() + "#S#" + id, SK: "B"}
}

func (p place) numbers() table.Key {
	return table.Key{PK: p.prefix() + "#N#session", SK: "-"}
}

func (p place) source() catalogue.Source {
	return catalogue.Source{Rows: p.prefix() + "#RS", Versions: p.prefix() + "#V", Family: rowFamily, Shards: shards}
}
