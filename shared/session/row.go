package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unique"

	"lectern/shared/catalogue"
	"lectern/shared/party"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Row is what a search must know of a session to filter and sort it. It is a
// function of the body, kept beside it in every write. Its names are short
// because an event's rows are read as a whole.
//
// A search of people goes through all rows of an event, so what it reads stands first.
type Row struct {
	// people are contacts and roles by the numbers that Index gives them (Index.pack).
	// Both are empty in a row that a search of sessions makes of a body.
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

// storedRow is a row as it is stored, with the people of the session by role.
type storedRow struct {
	Row
	Cast []cast `json:"w,omitempty"`
}

// cast are the contacts that have one role on a session, by id.
type cast struct {
	Role     string   `json:"r"`
	Contacts []string `json:"c"`
}

// castOf returns the people of a body, each role once, in the order of the list.
func castOf(people []Participant) (casts []cast) {
	for _, p := range people {
		at := slices.IndexFunc(casts, func(c cast) bool { return c.Role == p.RoleID })
		if at < 0 {
			at = len(casts)
			casts = append(casts, cast{Role: p.RoleID})
		}
		casts[at].Contacts = append(casts[at].Contacts, p.ContactID)
	}
	return casts
}

// storedRowOf returns the row of a body as it is stored.
func storedRowOf(b *Body) storedRow { return storedRow{rowOf(b), castOf(b.Participants)} }

// Row returns the row of the session with its people, by an index.
func (b *Body) Row(index *Index) *Row {
	row := rowOf(b)
	row.Index, row.people = index, index.pack(castOf(b.Participants))
	return &row
}

// rowOf returns the row of a body without its people.
func rowOf(b *Body) Row {
	row := Row{
		ID: b.ID, Version: b.Version, Created: b.CreatedAt.UnixMilli(), Updated: b.UpdatedAt.UnixMilli(),
		Deleted: millis(b.DeletedAt), Status: value(b.Status), Title: b.Title,
		Number: strings.TrimPrefix(b.FriendlyID(), friendlyPrefix), Parent: b.Parent, Track: value(b.TrackID),
		Level: value(b.LevelID), Format: value(b.FormatID), Lang: value(b.LanguageID), Tags: b.TagIDs,
		Abstract: b.IsAbstract, Source: b.Target != nil,
	}
	if b.StartsAt != nil {
		starts := b.StartsAt.UnixMilli()
		row.Starts = &starts
	}
	return row
}

// readRow decodes a row's item. Ids that many rows share are kept once.
func readRow(item table.Item, index *Index) (Row, error) {
	stored := storedRow{Row: Row{Version: item.Version, Index: index}}
	if err := json.Unmarshal(item.Data, &stored); err != nil {
		return stored.Row, fmt.Errorf("session: decode row %s: %w", item.SK, err)
	}
	row := stored.Row
	_, row.ID, _ = strings.Cut(item.SK, "#")
	for _, shared := range []*string{&row.Status, &row.Track, &row.Level, &row.Format, &row.Lang} {
		*shared = intern(*shared)
	}
	for i := range row.Tags {
		row.Tags[i] = intern(row.Tags[i])
	}
	row.people = index.pack(stored.Cast)
	return row, nil
}

// compact moves the people of rows next to each other.
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

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// byCreated is the default order: oldest first, ties by id.
func byCreated(a, b *Row) int {
	return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
}

// Catalogue is the memory of sessions.
type Catalogue = catalogue.Catalogue[Row, *Body]

// NewCatalogue returns the memory of an event's rows and bodies that searches use, capped
// by maxBytes. Its rows name contacts by their numbers.
func NewCatalogue(t *table.Table, maxBytes int64, contacts *party.Numbers) *Catalogue {
	known := &indexes{contacts: contacts}
	return catalogue.New(t, catalogue.Options[Row, *Body]{
		Row:      func(item table.Item) (Row, error) { return readRow(item, known.get(item.PK)) },
		ID:       func(r *Row) string { return r.ID },
		Version:  func(r *Row) int64 { return r.Version },
		Order:    byCreated,
		Compact:  compact,
		Body:     decode,
		RowOf:    rowOf,
		BodyKey:  bodyKey,
		MaxBytes: maxBytes,
	})
}

// bodyKey finds a body beside its rows: both lie under the same event.
func bodyKey(src catalogue.Source, id string) table.Key {
	return table.Key{PK: strings.TrimSuffix(src.Rows, "#RS") + "#S#" + id, SK: "B"}
}
