package party

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unique"

	"lectern/shared/catalogue"
	"lectern/shared/keys"
	"lectern/shared/numbering"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Keys returns the patterns of the items of the kind. The row of a record has the texts of a
// search; the row on an event has ids and times.
func (k *Kind) Keys() []keys.Pattern {
	pk, named := "o#"+k.Letter+"#<"+k.Name+">", "a "+k.Name
	if strings.ContainsAny(k.Name[:1], "aeiou") {
		named = "an " + k.Name
	}
	return append([]keys.Pattern{
		{Name: k.Name, PK: pk, SK: "B", Personal: k.Personal},
		{Name: k.Name + " on an event", PK: pk, SK: "E#<event>", Personal: k.Personal},
		{Name: "change of " + named, PK: pk, SK: "H#<change>", Personal: k.Personal},
		{Name: "row of " + named, PK: "o#R" + k.Letter, SK: "<shard>#<" + k.Name + ">", Personal: k.Personal},
		{Name: "row of " + named + " on an event", PK: "e#R" + k.Letter, SK: "<shard>#<" + k.Name + ">", Personal: keys.Nothing},
		{Name: "running number", PK: "o#N#" + k.Name, SK: "-", Personal: keys.Nothing},
	}, keys.Both("version of a shard", "#V", k.Letter+"#<shard>", keys.Nothing)...)
}

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

// Rows returns the source of the rows of an event's associations, or of the organization's
// records if event is 0.
func (k *Kind) Rows(org, event int64) catalogue.Source {
	prefix := table.Org(org)
	if event != 0 {
		prefix = table.Event(org, event)
	}
	return catalogue.Source{Rows: prefix + "#R" + k.Letter, Versions: prefix + "#V", Family: k.Letter, Shards: k.Shards}
}

// itemKey returns the key of the record or association that belongs to a row of src.
func (k *Kind) itemKey(src catalogue.Source, id string) table.Key {
	org, event, onEvent := strings.Cut(strings.TrimSuffix(src.Rows, "#R"+k.Letter), "#E#")
	key := table.Key{PK: org + "#" + k.Letter + "#" + id, SK: "B"}
	if onEvent {
		key.SK = "E#" + event
	}
	return key
}

// Row is the part of a record that a search needs, computed from the body. The names are
// short because a search reads all rows of an organization.
type Row struct {
	ID      string `json:"-"`
	Version int64  `json:"-"`
	Created int64  `json:"c"` // Unix milliseconds, as all times here
	Updated int64  `json:"u"`
	// Written is the time of the last write, of the record or of an association: the
	// organization's level shows it as the last change.
	Written int64 `json:"l"`
	Number  int64 `json:"n"`
	// Words are the texts that a search looks at, in lower case.
	Words string `json:"w,omitempty"`
}

// AssociationRow is the part of an association that a search needs.
type AssociationRow struct {
	ID      string `json:"-"`
	Version int64  `json:"-"`
	// Created is the time when the record was created. It never changes.
	Created int64 `json:"c"`
	Updated int64 `json:"u"`
	// Roles are the first letters of the roles held: no two roles of a kind have the same
	// first letter.
	Roles string `json:"r,omitempty"`

	// number is the party's number among numbers, if numbers is set.
	number  uint32
	numbers *numbering.Numbers
}

// Number returns the number of the party among numbers; false without a number.
func (p *AssociationRow) Number(in *numbering.Numbers) (number uint32, known bool) {
	if p.numbers == in {
		return p.number, true
	}
	return in.Of(p.ID)
}

// Numbers has the numbers of the parties of each event in memory. The rows of the event
// contain them.
type Numbers struct {
	known numbering.Shared[numbering.Numbers]
}

// Of returns the numbers for the rows in a partition. The parties and the sessions of an
// event share their numbers.
func (n *Numbers) Of(pk string) *numbering.Numbers {
	event := pk[:strings.LastIndexByte(pk, '#')]
	return n.known.Get(event, newNumbers)
}

func newNumbers() *numbering.Numbers { return &numbering.Numbers{} }

// read reads the row of an association, with the number of the party unless n is nil.
func (n *Numbers) read(item table.Item) (AssociationRow, error) {
	row, err := DecodeAssociationRow(item)
	if err == nil && n != nil {
		row.numbers = n.Of(item.PK)
		row.number = row.numbers.Give(row.ID)
	}
	return row, err
}

// wordsEnd separates the words of a row: no text contains this character.
const wordsEnd = "\x00"

func (k *Kind) rowOf(b *Body) Row {
	return Row{
		ID: b.ID, Version: b.Version, Created: b.CreatedAt.UnixMilli(), Updated: b.UpdatedAt.UnixMilli(),
		Written: b.WrittenAt.UnixMilli(), Number: b.Number,
		Words: strings.ToLower(strings.Join(k.Words(b), wordsEnd)),
	}
}

func associationRow(a *Association) AssociationRow {
	return AssociationRow{
		ID: a.ID, Version: a.Version, Created: a.RecordCreatedAt.UnixMilli(), Updated: a.UpdatedAt.UnixMilli(), Roles: letters(a.held()),
	}
}

func readRow(item table.Item) (Row, error) {
	row := Row{Version: item.Version}
	if err := json.Unmarshal(item.Data, &row); err != nil {
		return row, fmt.Errorf("party: decode row %s: %w", item.SK, err)
	}
	row.ID = RowID(item)
	return row, nil
}

// DecodeAssociationRow reads the row of an association from its item.
func DecodeAssociationRow(item table.Item) (AssociationRow, error) {
	row := AssociationRow{Version: item.Version}
	if err := json.Unmarshal(item.Data, &row); err != nil {
		return row, fmt.Errorf("party: decode row %s: %w", item.SK, err)
	}
	row.ID, row.Roles = RowID(item), unique.Make(row.Roles).Value()
	return row, nil
}

// RowID returns the id of the party of a row.
func RowID(item table.Item) string {
	_, id, _ := strings.Cut(item.SK, "#")
	return id
}

// EncodeRow returns the row of a stored record, or of a stored association if onEvent is
// set.
func (k *Kind) EncodeRow(stored table.Item, onEvent bool) ([]byte, error) {
	var row any
	if onEvent {
		a, err := DecodeAssociation(stored)
		if err != nil {
			return nil, err
		}
		row = associationRow(a)
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

// byCreated compares rows in the default order: oldest first, ties by id.
func byCreated(a, b *Row) int {
	return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
}

func associationsByCreated(a, b *AssociationRow) int {
	return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
}

func (r *Row) id() string                { return r.ID }
func (r *Row) version() int64            { return r.Version }
func (p *AssociationRow) id() string     { return p.ID }
func (p *AssociationRow) version() int64 { return p.Version }

// Memory has the rows and bodies of a kind for searches.
type Memory struct {
	Records      *catalogue.Catalogue[Row, *Body]
	Associations *catalogue.Catalogue[AssociationRow, *Association]
	Numbers      *Numbers
}

// NewMemory returns an empty memory over t, bounded by maxBytes. The rows get numbers unless
// numbers is nil.
func (k *Kind) NewMemory(t *table.Table, maxBytes int64, numbers *Numbers) *Memory {
	return &Memory{
		Numbers: numbers,
		Records: catalogue.New(t, catalogue.Options[Row, *Body]{
			Row: readRow, ID: (*Row).id, Version: (*Row).version,
			Order: byCreated, Body: Decode, BodyKey: k.itemKey, RowOf: k.rowOf, MaxBytes: maxBytes / 2,
		}),
		Associations: catalogue.New(t, catalogue.Options[AssociationRow, *Association]{
			Row: numbers.read, ID: (*AssociationRow).id, Version: (*AssociationRow).version,
			Order: associationsByCreated, Body: DecodeAssociation,
			BodyKey: k.itemKey, RowOf: associationRow, MaxBytes: maxBytes / 2,
		}),
	}
}

// Holds reports whether the party holds the role.
func (p *AssociationRow) Holds(role string) bool { return strings.IndexByte(p.Roles, role[0]) >= 0 }

func letters(roles []string) string {
	first := make([]byte, len(roles))
	for i, role := range roles {
		first[i] = role[0]
	}
	return string(first)
}
