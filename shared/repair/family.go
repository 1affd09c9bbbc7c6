package repair

import (
	"lectern/shared/catalogue"
	"lectern/shared/party"
	"lectern/shared/session"
	"lectern/shared/table"
)

// family is the group of records of one kind that have their rows together: an event's
// sessions, the contacts or accounts of an organization, or their associations with an
// event.
type family struct {
	// kind is nil for sessions. event is 0 for the records of an organization.
	kind       *party.Kind
	org, event int64
}

// name returns the type of record in change records.
func (f family) name() string {
	if f.kind == nil {
		return Sessions
	}
	return f.kind.Name
}

// source returns the place of the rows.
func (f family) source() catalogue.Source {
	if f.kind == nil {
		return session.Of(f.org, f.event).Rows()
	}
	return f.kind.Rows(f.org, f.event)
}

// body returns the key of a record or association.
func (f family) body(id string) table.Key {
	switch {
	case f.kind == nil:
		return session.Of(f.org, f.event).Body(id)
	case f.event == 0:
		return f.kind.Body(f.org, id)
	}
	return f.kind.OnEvent(f.org, f.event, id)
}

// row returns the row that belongs to a body.
func (f family) row(body table.Item) ([]byte, error) {
	if f.kind == nil {
		return session.EncodeRow(body)
	}
	return f.kind.EncodeRow(body, f.event != 0)
}
