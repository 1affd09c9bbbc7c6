package party

import (
	"fmt"
	"strings"

	"lectern/shared/catalogue"
	"lectern/shared/table"
)

// Keys of parties, by their kind's letter X; o is O#<org>, e is O#<org>#E#<event>
// (design.md section 3):
//
//	PK             SK            what
//	o#X#<id>       B             the record
//	o#X#<id>       E#<event>     its association with an event
//	o#X#<id>       H#<change>    a change of it, with values
//	o#RX           <shard>#<id>  the record's row
//	e#RX           <shard>#<id>  the association's row
//	o#V, e#V       X#<shard>     the versions of the shards of rows
//	o#N#<name>     -             the last number given

// PK is the partition of a party.
func (k *Kind) PK(org int64, id string) string { return table.Org(org) + "#" + k.Letter + "#" + id }

// Body is the key of a record.
func (k *Kind) Body(org int64, id string) table.Key { return table.Key{PK: k.PK(org, id), SK: "B"} }

// OnEvent is the key of a party's association with an event.
func (k *Kind) OnEvent(org, event int64, id string) table.Key {
	return table.Key{PK: k.PK(org, id), SK: fmt.Sprintf("E#%d", event)}
}

func (k *Kind) numbers(org int64) table.Key {
	return table.Key{PK: table.Org(org) + "#N#" + k.Name, SK: "-"}
}

// records is where the rows of an organization's records are.
func (k *Kind) records(org int64) catalogue.Source { return k.source(table.Org(org)) }

// associations is where the rows of an event's associations are.
func (k *Kind) associations(org, event int64) catalogue.Source {
	return k.source(table.Event(org, event))
}

func (k *Kind) source(prefix string) catalogue.Source {
	return catalogue.Source{Rows: prefix + "#R" + k.Letter, Versions: prefix + "#V", Family: k.Letter, Shards: k.Shards}
}

// bodyKey finds a record beside its rows: both are the organization's.
func (k *Kind) bodyKey(src catalogue.Source, id string) table.Key {
	return table.Key{PK: k.prefix(src) + "#" + k.Letter + "#" + id, SK: "B"}
}

// associationKey finds an association by the event whose rows src names.
func (k *Kind) associationKey(src catalogue.Source, id string) table.Key {
	org, event, _ := strings.Cut(k.prefix(src), "#E#")
	return table.Key{PK: org + "#" + k.Letter + "#" + id, SK: "E#" + event}
}

// prefix is what all keys of a source's organization or event begin with.
func (k *Kind) prefix(src catalogue.Source) string {
	return strings.TrimSuffix(src.Rows, "#R"+k.Letter)
}
