package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/page"
	"lectern/shared/ratelimit"
	"lectern/shared/size"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

type note struct {
	ID     string     `json:"id"`
	Text   string     `json:"text"`
	Extras []string   `json:"extras,omitempty"`
	Author *author    `json:"author"`
	SeenAt *wire.Time `json:"seen_at"`
}

type author struct {
	Name string `json:"name"`
}

func (n *note) RecordID() string { return n.ID }

func (*note) Revision() int64 { return 7 }

// Reduce keeps fewer extras, and none in the end.
func (n *note) Reduce(to size.Detail) bool {
	before := len(n.Extras)
	n.Extras = n.Extras[:min(before, 2*int(size.Alone-to))]
	return len(n.Extras) < before
}

// kept is the id of the note that exists.
const kept = "0196f1d2-0000-7000-8000-000000000001"

type NoteID struct {
	ID string `path:"noteId" format:"uuid"`
}

type noteInput struct {
	api.InEvent
	NoteID
}

type searchInput struct {
	api.InEvent
	page.Query
	Expand api.Strings `query:"expand" enum:"author,extras"`
	Count  int         `query:"count" default:"1"`
	Size   int         `query:"size"`
	Body   searchBody  `required:"false"`
}

type searchBody struct {
	Filters filters  `json:"filters,omitzero"`
	_       struct{} `json:"-" additionalProperties:"true"`
}

type filters struct {
	IDs []string `json:"ids,omitempty" format:"uuid" minItems:"1"`
}

type createInput struct {
	api.InEvent
	Body noteBody
}

type updateInput struct {
	api.InEvent
	NoteID
	api.Revision
	Body noteBody
}

type noteBody struct {
	Text   string              `json:"text" minLength:"1" maxLength:"255"`
	Color  wire.Opt[string]    `json:"color,omitzero" enum:"red,blue"`
	Due    wire.Opt[wire.Time] `json:"due,omitzero"`
	Rank   int                 `json:"rank,omitempty" minimum:"1" maximum:"10"`
	Big    int64               `json:"big,omitempty"`
	Weight float64             `json:"weight,omitempty"`
	Done   bool                `json:"done,omitempty"`
	TagIDs []string            `json:"tag_ids,omitempty" format:"uuid" maxItems:"3" uniqueItems:"true"`
	People []person            `json:"people,omitempty"`
	Author *author             `json:"author"`
	Free   map[string]any      `json:"free,omitempty"`
	Reader json.RawMessage     `json:"reader,omitempty"`
	Extras int                 `json:"extras,omitempty"`
	Refuse bool                `json:"refuse,omitempty"`
	_      struct{}            `json:"-" additionalProperties:"true"`
}

type person struct {
	Email string `json:"email" format:"email"`
	Site  string `json:"site,omitempty" format:"uri"`
	Born  string `json:"born,omitempty" format:"date"`
	Code  string `json:"code,omitempty" pattern:"^[A-Z]+$" patternDescription:"capital letters"`
}

type service struct {
	table *table.Table
	calls *atomic.Int64
	seen  *atomic.Pointer[noteBody]
}

// calls counts the calls of handlers. seen is the body of the last call.
var (
	calls atomic.Int64
	seen  atomic.Pointer[noteBody]
)

var (
	readers = auth.Scopes{auth.ReadSessions, auth.ReadContacts}
	writers = auth.Scopes{auth.WriteSessions}
)

var group = api.NewGroup("Notes",
	func(env api.Env) *service { return &service{table: env.Table, calls: &calls, seen: &seen} },
	[]api.Route[service]{
		api.Get("getNote", "/v1/event/{eventId}/notes/{noteId}", (*service).get, readers, api.Limit(ratelimit.EntityReads), api.ClientCache),
		api.Post("searchNotes", "/v1/event/{eventId}/notes", (*service).search, readers),
		api.Get("listNotes", "/v1/event/{eventId}/notes", (*service).list, readers),
		api.Post("createNote", "/v1/event/{eventId}/notes/create", (*service).create, writers,
			api.Limit(ratelimit.SessionWrites), api.Status(http.StatusCreated), api.CountsDaily),
		api.Put("updateNote", "/v1/event/{eventId}/notes/{noteId}", (*service).update, writers, api.Limit(ratelimit.SessionWrites)),
		api.Delete("deleteNote", "/v1/event/{eventId}/notes/{noteId}", (*service).delete, writers, api.Limit(ratelimit.SessionWrites)),
		api.Get("getTeam", "/v1/organization/{orgId}/team", (*service).team, readers),
		api.Get("getTrouble", "/v1/trouble/{kind}", (*service).trouble, readers, api.Limit(ratelimit.EntityReads)),
		api.Get("getOpen", "/open", (*service).open, auth.Public),
		api.Get("getFile", "/file", (*service).file, auth.Public, api.Hidden),
		api.Get("getPicture", "/download", (*service).download, auth.Public, api.Media("image/png")),
	})

func (s *service) get(_ context.Context, in *noteInput) (*note, error) {
	s.calls.Add(1)
	if in.ID != kept {
		return nil, apierr.NotFound("Note")
	}
	return &note{ID: in.ID, Text: "a < b & \"c\""}, nil
}

// search answers count notes of size bytes each.
func (s *service) search(_ context.Context, in *searchInput) (*page.Of[note], error) {
	s.calls.Add(1)
	notes := make([]note, in.Count)
	for i := range notes {
		notes[i] = note{ID: strings.Join(append(in.Expand, in.Body.Filters.IDs...), "+"), Text: strings.Repeat("x", in.Size)}
	}
	return page.Slice(in.Query, notes), nil
}

type listInput struct {
	api.InEvent
	Page     int            `query:"page" minimum:"1" default:"1"`
	PageSize int            `query:"page_size" minimum:"1" maximum:"100" default:"25"`
	IDs      api.Strings    `query:"ids" format:"uuid"`
	Draft    wire.Opt[bool] `query:"is_draft"`
	Search   string         `query:"search" maxLength:"5"`
	Size     int            `query:"size"`
}

type listing struct {
	IDs    []string `json:"ids"`
	Page   int      `json:"page"`
	Draft  *bool    `json:"draft"`
	Search string   `json:"search"`
}

func (s *service) list(_ context.Context, in *listInput) (*page.Of[listing], error) {
	one := listing{IDs: append([]string{}, in.IDs...), Page: in.Page, Search: in.Search + strings.Repeat("y", in.Size)}
	if in.Draft.Sent {
		one.Draft = &in.Draft.Value
	}
	return page.New(page.Query{Page: in.Page, PageSize: in.PageSize}, 1, []listing{one}), nil
}

func (s *service) create(ctx context.Context, in *createInput) (*note, error) {
	s.calls.Add(1)
	s.seen.Store(&in.Body)
	if in.Body.Refuse {
		return nil, apierr.Conflict("NO", "Refused.")
	}
	if made := write.Ref(ctx); made != "" {
		return s.made(ctx, made)
	}
	return write.Run[*note](ctx, s.table, &createNote{note{ID: uuid.NewString(), Text: in.Body.Text, Author: in.Body.Author}})
}

// createNote stores a new note.
type createNote struct{ note note }

func (*createNote) Reads() []table.Key { return nil }

func (*createNote) More(write.Items) []table.Key { return nil }

func (*createNote) Touches(write.Items) []string { return nil }

func (o *createNote) Plan(context.Context, write.Items) (*write.Plan, error) {
	data, err := json.Marshal(&o.note)
	if err != nil {
		return nil, err
	}
	item := table.Item{Key: noteKey(o.note.ID), Version: 1, Data: data}
	return &write.Plan{Writes: []table.Write{table.Insert(item)}, Answer: &o.note}, nil
}

func noteKey(id string) table.Key { return table.Key{PK: "note#" + id, SK: "-"} }

// made is a note that an earlier request has made.
func (s *service) made(ctx context.Context, id string) (*note, error) {
	item, err := s.table.Get(ctx, noteKey(id))
	if err != nil {
		return nil, err
	}
	var n note
	return &n, json.Unmarshal(item.Data, &n)
}

func (s *service) update(_ context.Context, in *updateInput) (*note, error) {
	return &note{ID: in.ID, Text: in.IfMatch, Extras: strings.Split(strings.Repeat(strings.Repeat("z", 1<<20)+",", in.Body.Extras), ",")}, nil
}

func (*service) delete(context.Context, *noteInput) (*api.None, error) { return nil, nil }

func (*service) team(ctx context.Context, _ *struct{ api.InOrganization }) (*author, error) {
	return &author{Name: auth.From(ctx).Member.Name}, nil
}

type troubleInput struct {
	Kind string `path:"kind"`
}

func (*service) trouble(_ context.Context, in *troubleInput) (*note, error) {
	switch in.Kind {
	case "panic":
		panic("secret cause")
	case "busy":
		return nil, table.ErrBusy
	case "error":
		return nil, errors.New("secret cause")
	}
	return nil, apierr.Stale("2026-11-21T09:38:00.123Z", `"8.abc"`)
}

func (*service) open(context.Context, *struct{}) (*author, error) {
	return &author{Name: "anyone"}, nil
}

func (*service) file(context.Context, *struct{}) (*api.File, error) {
	return &api.File{Type: "text/plain", Body: []byte("plain")}, nil
}

// picture is a file that is no text and longer than what is compressed.
var picture = "\x89PNG" + strings.Repeat("\xff", 2000)

func (*service) download(context.Context, *struct{}) (*api.Download, error) {
	return &api.Download{File: api.File{Type: "image/png", Body: []byte(picture)}, Name: "picture.png", Version: 3}, nil
}
