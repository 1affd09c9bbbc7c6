package party

import (
	"fmt"

	"lectern/shared/catalogue"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Rows returns where the rows of an event's associations stand, or those of the
// organization's records where event is 0.
func (k *Kind) Rows(org, event int64) catalogue.Source {
	if event == 0 {
		return k.records(org)
	}
	return k.associations(org, event)
}

// NumberKey returns the key of the counter that numbers the kind's records.
func (k *Kind) NumberKey(org int64) table.Key { return k.numbers(org) }

// Decode reads a record from its item.
func Decode(item table.Item) (*Body, error) { return decodeBody(item) }

// DecodeAssociation reads an association from its item.
func DecodeAssociation(item table.Item) (*Association, error) { return decodeAssociation(item) }

// EncodeRow returns the row that belongs to a stored record, or to a stored association
// where onEvent is set.
func (k *Kind) EncodeRow(stored table.Item, onEvent bool) ([]byte, error) {
	var row any
	if onEvent {
		a, err := decodeAssociation(stored)
		if err != nil {
			return nil, err
		}
		row = placeOf(a)
	} else {
		b, err := decodeBody(stored)
		if err != nil {
			return nil, err
		}
		row = k.rowOf(b)
	}
	text, err := wire.Encode(row)
	if err != nil {
		return nil, fmt.Errorf("party: encode row %s: %w", stored.PK, err)
	}
	return text, nil
}
