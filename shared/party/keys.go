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

// PK returns the partition of a party.
func (k *Kind) PK(org int64, id string) string { return table.Org(org) + "#" + k.Letter + "#" + id }

// Body returns the key of a record.
func (k *Kind) Body(org int64, id string) table.Key { return table.Key{PK: k.PK(org, id), SK: "B"} }

// OnEvent returns the key of a party's association with an event.
func (k *Kind) OnEvent(org, event int64, id string) table.Key {
	return table.Key{PK: k.PK(org, id), SK: fmt.Sprintf("E#%d", event)}
}

// NumberKey returns the key of the counter that numbers the kind's records.
func (k *Kind) NumberKey(org int64) table.Key {
	return table.Key{PK: table.Org(org) + "#N#" + k.Name, SK: "-"}
}

// Rows returns where the rows of an event's associations stand, or those of the
// organization's records where event is 0.
func (k *Kind) Rows(org, event int64) catalogue.Source {
	prefix := table.Org(org)
	if event != 0 {
		prefix = table.Event(org, event)
	}
	return catalogue.Source{Rows: prefix + "#R" + k.Letter, Versions: prefix + "#V", Family: k.Letter, Shards: k.Shards}
}

// itemKey returns the key of the record or association whose row is one of src.
func (k *Kind) itemKey(src catalogue.Source, id string) table.Key {
	org, event, onEvent := strings.Cut(strings.TrimSuffix(src.Rows, "#R"+k.Letter), "#E#")
	key := table.Key{PK: org + "#" + k.Letter + "#" + id, SK: "B"}
	if onEvent {
		key.SK = "E#" + event
	}
	return key
}
