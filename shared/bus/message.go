// Package bus carries published changes from the stream of the table to the workers: the messages,
// the bus and the queues. A message has ids, kinds, names of fields and versions, and never a
// value of a record (design.md section 3). The workers are in events/. Read message.go, queue.go,
// places.go, eventbridge.go, sqs.go.
package bus

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lectern/shared/change"
	"lectern/shared/wire"
)

// Source is the source of all events that the service puts on the bus.
const Source = "lectern"

// FieldsChanged is the kind of the message with all changed fields of a contact, for automations
// (spec.md section 6). It is no published kind of the change record, so it takes no number of the
// contact, and no webhook endpoint gets it.
const FieldsChanged = "contact.fields.changed"

// EventChanged is the kind of the message of a change that may touch many sessions of an event: of the event, a
// room, a participant role or the holding slides. It is no published kind of the change record either.
const EventChanged = "event.changed"

// ofEvent are the kinds of records whose changes have a message of kind EventChanged. A new record touches no session.
var ofEvent = []string{"event", "rooms", "participant_role", "holding_slides"}

// contactUpdated is the published kind that names changed fields of a contact. A change record has
// it once for standard fields and once for custom fields.
const contactUpdated = "contact.updated"

// Message is one published kind of a change, FieldsChanged or EventChanged.
type Message struct {
	// Change is the id of the change record, and At its time.
	Change string    `json:"change"`
	At     wire.Time `json:"at"`
	// Org is the organization; Event is 0 for a record of the organization.
	Org   int64 `json:"org"`
	Event int64 `json:"event,omitempty"`
	// Kind is such as session.updated. Sequence is the record's number of published kinds; 0 for
	// FieldsChanged and EventChanged.
	Kind     string `json:"kind"`
	Sequence int64  `json:"sequence,omitempty"`
	// Fields names the changed fields. The last name is change.Others where not all fit.
	Fields []string `json:"fields,omitempty"`
	// Type is the kind of record, RecordID its id, Version its version after the change.
	Type     string `json:"type"`
	RecordID string `json:"record_id"`
	Version  int64  `json:"version"`
	// Source is one of the sources of package change.
	Source string       `json:"source"`
	Actor  change.Actor `json:"actor"`
}

// Messages returns a message for each published kind of a change record. For an update of fields
// of a contact, a message of kind FieldsChanged follows; a change of an event has one of EventChanged.
func Messages(r change.Record) []Message {
	all := make([]Message, len(r.Kinds), len(r.Kinds)+1)
	for i, k := range r.Kinds {
		all[i] = message(r, k)
	}
	if fields := changedFields(r.Kinds); len(fields) > 0 {
		all = append(all, message(r, change.Kind{Name: FieldsChanged, Fields: fields}))
	}
	if r.Event != 0 && slices.Contains(ofEvent, r.Type) && !strings.HasSuffix(r.Action, ".created") {
		all = append(all, message(r, change.Kind{Name: EventChanged}))
	}
	return all
}

// message returns the message of a kind of a change record.
func message(r change.Record, k change.Kind) Message {
	return Message{
		Change: r.ID, At: r.At, Org: r.Org, Event: r.Event, Kind: k.Name, Sequence: k.Sequence, Fields: k.Fields,
		Type: r.Type, RecordID: r.RecordID, Version: r.Version, Source: r.Source, Actor: r.Actor,
	}
}

// changedFields returns the fields that updates of a contact have changed: standard fields, custom
// fields, and change.Others at the end where not all fit.
func changedFields(kinds []change.Kind) (fields []string) {
	others := false
	for _, k := range kinds {
		if k.Name != contactUpdated {
			continue
		}
		for _, name := range k.Fields {
			if name == change.Others {
				others = true
			} else {
				fields = append(fields, name)
			}
		}
	}
	if others {
		fields = append(fields, change.Others)
	}
	return fields
}

// Published returns the message of an event that a rule has sent to a queue.
func Published(body []byte) (Message, error) {
	var event struct {
		Detail Message `json:"detail"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return Message{}, fmt.Errorf("%w: bus: decode an event: %w", ErrPermanent, err)
	}
	if event.Detail.Change == "" || event.Detail.Org == 0 {
		return Message{}, fmt.Errorf("%w: bus: the event has no message", ErrPermanent)
	}
	return event.Detail, nil
}
