package session

import (
	"encoding/json"
	"fmt"
	"strings"

	"lectern/shared/catalogue"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Rows returns where the rows of an event's sessions stand.
func Rows(org, event int64) catalogue.Source { return place{org, event}.source() }

// BodyKey returns the key of a session's body.
func BodyKey(org, event int64, id string) table.Key { return place{org, event}.body(id) }

// NumberKey returns the key of the counter that numbers an event's sessions.
func NumberKey(org, event int64) table.Key { return place{org, event}.numbers() }

// Decode reads a body from its item.
func Decode(item table.Item) (*Body, error) { return decode(item) }

// DecodeRow reads a row from its item, with the ids of the roles that people have on the
// session.
func DecodeRow(item table.Item) (row Row, roles []string, err error) {
	stored := storedRow{Row: Row{Version: item.Version}}
	if err := json.Unmarshal(item.Data, &stored); err != nil {
		return row, nil, fmt.Errorf("session: decode row %s: %w", item.SK, err)
	}
	_, stored.ID, _ = strings.Cut(item.SK, "#")
	for _, c := range stored.Cast {
		roles = append(roles, c.Role)
	}
	return stored.Row, roles, nil
}

// EncodeRow returns the row that belongs to a stored body.
func EncodeRow(body table.Item) ([]byte, error) {
	b, err := decode(body)
	if err != nil {
		return nil, err
	}
	return encodeRow(b)
}

// encodeRow returns the row of a body as it is stored.
func encodeRow(b *Body) ([]byte, error) {
	row, err := wire.Encode(storedRowOf(b))
	if err != nil {
		return nil, fmt.Errorf("session: encode row %s: %w", b.ID, err)
	}
	return row, nil
}
