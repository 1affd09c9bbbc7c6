package transcript

import (
	"fmt"

	"lectern/shared/keys"
	"lectern/shared/session"
	"lectern/shared/table"
)

// Keys are the patterns of the items of transcriptions. A speaker's name and the text are words
// that others wrote down.
var Keys = []keys.Pattern{
	{Name: "segment of transcriptions", PK: "e#S#<session>", SK: "T#<segment>", Personal: keys.Outside},
	{Name: "index of transcriptions", PK: "e#TC", SK: "<session>", Personal: keys.Nothing},
	{Name: "place of a transcription", PK: "e#T#<record>", SK: "-", Personal: keys.Nothing},
}

// lastKey follows all ids in a sort key.
const lastKey = "~"

// Place holds the keys of an event's transcriptions.
type Place struct{ session.Place }

// At returns the Place of an event.
func At(org, event int64) Place { return Place{session.Of(org, event)} }

// Indexes returns the partition of the indexes of the event's sessions.
func (p Place) Indexes() string { return table.Event(p.Org, p.Event) + "#TC" }

// Index returns the key of a session's index.
func (p Place) Index(session string) table.Key { return table.Key{PK: p.Indexes(), SK: session} }

// Segment returns the key of a segment of a session.
func (p Place) Segment(session string, number int) table.Key {
	return table.Key{PK: p.Body(session).PK, SK: fmt.Sprintf("T#%06d", number)}
}

// Pointer returns the key of the item that names the session and position of a transcription.
func (p Place) Pointer(id string) table.Key {
	return table.Key{PK: table.Event(p.Org, p.Event) + "#T#" + id, SK: "-"}
}

// Pointer is the content of the item that names the place of a transcription.
type Pointer struct {
	Session string   `json:"session"`
	Start   *float64 `json:"start,omitempty"`
}
