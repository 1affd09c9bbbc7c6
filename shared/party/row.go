package party

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unique"

	"lectern/shared/catalogue"
	"lectern/shared/numbering"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Row is what a search must know of a record. It is a function of the body. Its
// names are short because all of an organization's rows are read together.
type Row struct {
	ID      string `json:"-"`
	Version int64  `json:"-"`
	Created int64  `json:"c"` // Unix milliseconds, as all times here
	Updated int64  `json:"u"`
	// Written is when the record or one of its associations was last written: what the
	// organization's level shows as the time of the last change.
	Written int64 `json:"l"`
	Number  int64 `json:"n"`
	// Words are what a search for text looks at, in lower case.
	Words string `json:"w,omitempty"`
}

// Place is what a search must know of an association.
type Place struct {
	ID      string `json:"-"`
	Version int64  `json:"-"`
	// Created is that of the record, which never changes.
	Created int64 `json:"c"`
	Updated int64 `json:"u"`
	// Roles are the first letters of those held: no two roles of a kind share theirs.
	Roles string `json:"r,omitempty"`

	// number is that of the party among numbers, if these are set.
	number  uint32
	numbers *numbering.Numbers
}

// Number returns the number of the party in numbers; false if it has none.
func (p *Place) Number(in *numbering.Numbers) (number uint32, known bool) {
	if p.numbers == in {
		return p.number, true
	}
	return in.Of(p.ID)
}

// Numbers has the numbers of the parties of each event whose rows are in memory. The rows
// hold those of their event.
type Numbers struct {
	known numbering.Shared[numbering.Numbers]
}

// Of returns the numbers for the rows in a partition, which those of parties and sessions
// of an event share.
func (n *Numbers) Of(pk string) *numbering.Numbers {
	event := pk[:strings.LastIndexByte(pk, '#')]
	return n.known.Get(event, func() *numbering.Numbers { return &numbering.Numbers{} })
}

// place reads the row of an association, with the number of the party unless n is nil.
func (n *Numbers) place(item table.Item) (Place, error) {
	place, err := DecodePlace(item)
	if err == nil && n != nil {
		place.numbers = n.Of(item.PK)
		place.number = place.numbers.Give(place.ID)
	}
	return place, err
}

// wordsEnd is between two words of a row: no text has it.
const wordsEnd = "\x00"

func (k *Kind) rowOf(b *Body) Row {
	return Row{
		ID: b.ID, Version: b.Version, Created: b.CreatedAt.UnixMilli(), Updated: b.UpdatedAt.UnixMilli(),
		Written: b.WrittenAt.UnixMilli(), Number: b.Number,
		Words: strings.ToLower(strings.Join(k.Words(b), wordsEnd)),
	}
}

func placeOf(a *Association) Place {
	return Place{
		ID: a.ID, Version: a.Version, Created: a.RecordCreatedAt.UnixMilli(), Updated: a.UpdatedAt.UnixMilli(), Roles: letters(a.held()),
	}
}

func readRow(item table.Item) (Row, error) {
	row := Row{Version: item.Version}
	if err := json.Unmarshal(item.Data, &row); err != nil {
		return row, fmt.Errorf("party: decode row %s: %w", item.SK, err)
	}
	row.ID = rowID(item)
	return row, nil
}

// DecodePlace reads the row of an association from its item.
func DecodePlace(item table.Item) (Place, error) {
	place := Place{Version: item.Version}
	if err := json.Unmarshal(item.Data, &place); err != nil {
		return place, fmt.Errorf("party: decode row %s: %w", item.SK, err)
	}
	place.ID, place.Roles = rowID(item), unique.Make(place.Roles).Value()
	return place, nil
}

func rowID(item table.Item) string {
	_, id, _ := strings.Cut(item.SK, "#")
	return id
}

// EncodeRow returns the row that belongs to a stored record, or to a stored association
// where onEvent is set.
func (k *Kind) EncodeRow(stored table.Item, onEvent bool) ([]byte, error) {
	var row any
	if onEvent {
		a, err := DecodeAssociation(stored)
		if err != nil {
			return nil, err
		}
		row = placeOf(a)
	} else {
		b, err := Decode(stored)
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

// byCreated is the default order: oldest first, ties by id. That of places is the same.
func byCreated(a, b *Row) int {
	return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
}

func placesByCreated(a, b *Place) int {
	return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
}

// Memory is what searches of one kind keep of its rows and bodies.
type Memory struct {
	Records      *catalogue.Catalogue[Row, *Body]
	Associations *catalogue.Catalogue[Place, *Association]
	Numbers      *Numbers
}

// NewMemory returns an empty memory over t, capped by maxBytes. Its rows get numbers, unless
// these are nil.
func (k *Kind) NewMemory(t *table.Table, maxBytes int64, numbers *Numbers) *Memory {
	return &Memory{
		Numbers: numbers,
		Records: catalogue.New(t, catalogue.Options[Row, *Body]{
			Row: readRow, ID: func(r *Row) string { return r.ID }, Version: func(r *Row) int64 { return r.Version },
			Order: byCreated, Body: Decode, BodyKey: k.itemKey, RowOf: k.rowOf, MaxBytes: maxBytes / 2,
		}),
		Associations: catalogue.New(t, catalogue.Options[Place, *Association]{
			Row: numbers.place, ID: func(p *Place) string { return p.ID }, Version: func(p *Place) int64 { return p.Version },
			Order: placesByCreated, Body: DecodeAssociation,
			BodyKey: k.itemKey, RowOf: placeOf, MaxBytes: maxBytes / 2,
		}),
	}
}

// holds is whether the role is held.
func (p *Place) holds(role string) bool { return strings.IndexByte(p.Roles, role[0]) >= 0 }

func letters(roles []string) string {
	first := make([]byte, len(roles))
	for i, role := range roles {
		first[i] = role[0]
	}
	return string(first)
}
