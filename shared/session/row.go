package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unique"

	"lectern/shared/catalogue"
	"lectern/shared/numbering"
	"lectern/shared/party"
	"lectern/shared/person"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Row is the part of a session that searches filter and sort by. It follows from the body
// and is written with the body. The names in JSON are short because an event's rows are read
// together.
//
// A search of people reads people and Deleted of every row, so these fields come first.
type Row struct {
	// people are contacts and roles as numbers of Index (Index.pack). Index and people are
	// empty in a row that a search of sessions makes from a body.
	people  []uint32
	Created int64    `json:"c"`           // Unix milliseconds, as all times here
	Updated int64    `json:"u"`           //
	Deleted int64    `json:"d,omitempty"` // 0 = not deleted
	Starts  *int64   `json:"s,omitempty"` // nil = no time
	Status  string   `json:"a,omitempty"`
	Title   string   `json:"t"`
	Number  string   `json:"n"`           // the friendly id without its prefix
	Parent  string   `json:"p,omitempty"` // set on a subsession
	Track   string   `json:"k,omitempty"`
	Level   string   `json:"l,omitempty"`
	Format  string   `json:"f,omitempty"`
	Lang    string   `json:"g,omitempty"`
	Tags    []string `json:"x,omitempty"`
	// Abstract, and Source: linked into another session.
	Abstract bool `json:"b,omitempty"`
	Source   bool `json:"o,omitempty"`

	ID      string `json:"-"`
	Version int64  `json:"-"`
	Index   *Index `json:"-"`
}

// storedRow is the row as stored, with the contacts by role.
type storedRow struct {
	Row
	Roles []contactsByRole `json:"w,omitempty"`
}

// contactsByRole are the ids of the contacts with a role on the session.
type contactsByRole struct {
	Role     string   `json:"r"`
	Contacts []string `json:"c"`
}

// byRole returns the contacts of participants by role, in the order of the list.
func byRole(participants []Participant) (roles []contactsByRole) {
	for _, p := range participants {
		at := slices.IndexFunc(roles, func(r contactsByRole) bool { return r.Role == p.RoleID })
		if at < 0 {
			at = len(roles)
			roles = append(roles, contactsByRole{Role: p.RoleID})
		}
		roles[at].Contacts = append(roles[at].Contacts, p.ContactID)
	}
	return roles
}

// Row returns the row of the session with the numbers of index.
func (b *Body) Row(index *Index) *Row {
	row := rowOf(b)
	row.Index, row.people = index, index.pack(byRole(b.Participants))
	return &row
}

// rowOf returns the row of a body without people.
func rowOf(b *Body) Row {
	row := Row{
		ID: b.ID, Version: b.Version, Created: b.CreatedAt.UnixMilli(), Updated: b.UpdatedAt.UnixMilli(),
		Deleted: millis(b.DeletedAt), Status: Value(b.Status), Title: b.Title,
		Number: strings.TrimPrefix(b.FriendlyID(), friendlyPrefix), Parent: b.Parent, Track: Value(b.TrackID),
		Level: Value(b.LevelID), Format: Value(b.FormatID), Lang: Value(b.LanguageID), Tags: b.TagIDs,
		Abstract: b.IsAbstract, Source: b.Target != nil,
	}
	if b.StartsAt != nil {
		starts := b.StartsAt.UnixMilli()
		row.Starts = &starts
	}
	return row
}

// FriendlyID returns the friendly id of the row's session.
func (r *Row) FriendlyID() string { return friendlyPrefix + r.Number }

// EncodeRow returns the stored row of a stored body.
func EncodeRow(body table.Item) ([]byte, error) {
	b, err := Decode(body)
	if err != nil {
		return nil, err
	}
	return encodeRow(b)
}

func encodeRow(b *Body) ([]byte, error) {
	row, err := wire.Encode(storedRow{rowOf(b), byRole(b.Participants)})
	if err != nil {
		return nil, fmt.Errorf("session: encode row %s: %w", b.ID, err)
	}
	return row, nil
}

// DecodeRow reads a row from its item. It returns the ids of the roles on the session too.
func DecodeRow(item table.Item) (row Row, roles []string, err error) {
	stored, err := decodeRow(item)
	for _, r := range stored.Roles {
		roles = append(roles, r.Role)
	}
	return stored.Row, roles, err
}

func decodeRow(item table.Item) (storedRow, error) {
	stored := storedRow{Row: Row{Version: item.Version}}
	if err := json.Unmarshal(item.Data, &stored); err != nil {
		return storedRow{}, fmt.Errorf("session: decode row %s: %w", item.SK, err)
	}
	_, stored.ID, _ = strings.Cut(item.SK, "#")
	return stored, nil
}

// indexed reads a row for the catalogue. Ids that many rows share are kept once.
func (x *indexes) indexed(item table.Item) (Row, error) {
	stored, err := decodeRow(item)
	if err != nil {
		return Row{}, err
	}
	row := stored.Row
	for _, shared := range []*string{&row.Status, &row.Track, &row.Level, &row.Format, &row.Lang} {
		*shared = intern(*shared)
	}
	for i := range row.Tags {
		row.Tags[i] = intern(row.Tags[i])
	}
	row.Index = x.get(item.PK)
	row.people = row.Index.pack(stored.Roles)
	return row, nil
}

// compact moves the people of rows next to each other in memory.
func compact(rows []Row) {
	size := 0
	for i := range rows {
		size += len(rows[i].people)
	}
	all := make([]uint32, 0, size)
	for i := range rows {
		begin := len(all)
		all = append(all, rows[i].people...)
		rows[i].people = all[begin:len(all):len(all)]
	}
}

func intern(s string) string { return unique.Make(s).Value() }

func millis(t *wire.Time) int64 {
	if t == nil {
		return 0
	}
	return t.UnixMilli()
}

// Value returns the text of s; empty for nil.
func Value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// byCreated compares by the default order: oldest first, ties by id.
func byCreated(a, b *Row) int {
	return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
}

// Index numbers the contacts and roles of an event's rows. Rows keep numbers instead of ids,
// so a search of people looks up no text. Contacts have the same numbers in the rows of
// contacts.
type Index struct {
	Contacts *numbering.Numbers
	Roles    numbering.Numbers
}

// NewIndex returns an index without roles.
func NewIndex(contacts *numbering.Numbers) *Index { return &Index{Contacts: contacts} }

// pack returns roles as numbers: for each role the number of the role, the count of its
// contacts, and their numbers.
func (x *Index) pack(roles []contactsByRole) []uint32 {
	size := 0
	for _, r := range roles {
		size += 2 + len(r.Contacts)
	}
	if size == 0 {
		return nil
	}
	packed := make([]uint32, 0, size)
	for _, r := range roles {
		packed = append(packed, x.Roles.Give(r.Role), uint32(len(r.Contacts))) //nolint:gosec // a session has at most 200 people
		for _, id := range r.Contacts {
			packed = append(packed, x.Contacts.Give(id))
		}
	}
	return packed
}

// People yields the roles on the session with their contacts, as numbers of the row's Index.
func (r *Row) People() iter.Seq2[uint32, []uint32] {
	return func(yield func(uint32, []uint32) bool) {
		for rest := r.people; len(rest) > 0; {
			end := 2 + rest[1]
			if !yield(rest[0], rest[2:end]) {
				return
			}
			rest = rest[end:]
		}
	}
}

// RolesOf returns the sorted ids of a contact's roles on the session.
func (r *Row) RolesOf(contactID string) []string {
	number, known := r.Index.Contacts.Of(contactID)
	if !known {
		return nil
	}
	roles := person.Roles{}
	for role, contacts := range r.People() {
		if slices.Contains(contacts, number) {
			roles.Add(contactID, r.Index.Roles.IDs()[role])
		}
	}
	return roles[contactID]
}

// indexes keeps the Index of each event with rows in memory, by the partition of the rows.
type indexes struct {
	known    numbering.Shared[Index]
	contacts *party.Numbers
}

// get returns the Index of the rows in a partition.
func (x *indexes) get(pk string) *Index {
	return x.known.Get(pk, func() *Index { return NewIndex(x.contacts.Of(pk)) })
}

// Catalogue keeps the rows and bodies of sessions in memory, for searches.
type Catalogue = catalogue.Catalogue[Row, *Body]

// NewCatalogue returns an empty Catalogue over t of at most maxBytes. The rows number
// contacts by contacts.
func NewCatalogue(t *table.Table, maxBytes int64, contacts *party.Numbers) *Catalogue {
	known := &indexes{contacts: contacts}
	return catalogue.New(t, catalogue.Options[Row, *Body]{
		Row:      known.indexed,
		ID:       func(r *Row) string { return r.ID },
		Version:  func(r *Row) int64 { return r.Version },
		Order:    byCreated,
		Compact:  compact,
		Body:     Decode,
		RowOf:    rowOf,
		BodyKey:  bodyKey,
		MaxBytes: maxBytes,
	})
}

// bodyKey returns the key of a body from the place of its row.
func bodyKey(src catalogue.Source, id string) table.Key {
	return table.Key{PK: strings.TrimSuffix(src.Rows, "#RS") + "#S#" + id, SK: "B"}
}
