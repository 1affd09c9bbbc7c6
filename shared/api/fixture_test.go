package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/engine"
	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/page"
	"lectern/shared/programme"
	"lectern/shared/ratelimit"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
	"lectern/shared/write"
)

const tableName = "notes"

// stack is the test group behind a real server over a real table.
type stack struct {
	url, token string
	org, event int64
	env        api.Env
	member     *tenancy.Member
	log        *bytes.Buffer
	client     table.Client
}

func start(t *testing.T) *stack {
	t.Helper()
	ctx := context.Background()
	e, err := engine.Start(ctx, engine.Config{InMemory: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Stop()) })
	client, err := table.Open(ctx, table.Config{Endpoint: e.URL, Region: "us-east-1"})
	require.NoError(t, err)
	require.NoError(t, table.Create(ctx, client, tableName))
	log := new(bytes.Buffer)
	s := &stack{log: log, client: client, env: api.Env{
		Region: "us", Table: table.New(client, tableName), Now: time.Now, NewID: uuid.NewString,
		Log: slog.New(slog.NewJSONHandler(log, nil)), Memory: new(api.Memory),
	}}
	s.settle(t)
	server := httptest.NewServer(group.Handler(s.env))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// settle makes an organization with an event, a member and a token.
func (s *stack) settle(t *testing.T) {
	t.Helper()
	ctx, store := context.Background(), s.tenants()
	org := &tenancy.Organization{Name: "Orbit"}
	require.NoError(t, tenancy.Organizations.Create(ctx, store, org))
	s.org = org.ID
	s.member = &tenancy.Member{OrgID: org.ID, Name: "Ada", Email: "ada@example.org", Role: tenancy.RoleAdmin, Active: true}
	require.NoError(t, tenancy.Members.Create(ctx, store, s.member))
	s.event = s.newEvent(t)
	s.token = s.newToken(t, tenancy.Token{Scopes: []tenancy.Scope{auth.ReadSessions, auth.WriteSessions}, Limit: 100_000})
}

func (s *stack) tenants() tenancy.Store {
	return tenancy.Store{Table: s.env.Table, Now: s.env.Now, Region: s.env.Region}
}

func (s *stack) newEvent(t *testing.T) int64 {
	t.Helper()
	now := s.env.Now()
	event := &programme.Event{
		OrgID: s.org, Name: "Launch", Timezone: "Europe/Berlin", DefaultLanguage: "en",
		StartsAt: wire.At(now), EndsAt: wire.At(now.Add(time.Hour)),
	}
	require.NoError(t, programme.Events.Create(context.Background(), s.tenants(), event))
	return event.ID
}

func (s *stack) newToken(t *testing.T, token tenancy.Token) string {
	t.Helper()
	text := auth.Text{Region: s.env.Region, Org: s.org, User: s.member.ID, Secret: auth.NewSecret()}
	token.OrgID, token.UserID, token.Name, token.SecretHash = s.org, s.member.ID, "test", text.Hash()
	if token.Kind == "" {
		token.Kind = tenancy.KindAPI
	}
	require.NoError(t, s.tenants().CreateToken(context.Background(), &token))
	text.ID = token.ID
	return text.String()
}

// answer is a response with its body read.
type answer struct {
	*http.Response
	body string
}

// send sends a request as the stack's caller. A header pair with an empty value
// takes the header away.
func (s *stack) send(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, s.url+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("X-Access-Token", s.token)
	request.Header.Set("Accept-Encoding", "identity")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Del(headers[i])
		if headers[i+1] != "" {
			request.Header.Set(headers[i], headers[i+1])
		}
	}
	// The transport neither follows redirects nor unpacks answers.
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(t, err)
	read, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return answer{response, string(read)}
}

func (a answer) refusal(t *testing.T) apierr.Error {
	t.Helper()
	var e apierr.Error
	require.NoError(t, json.Unmarshal([]byte(a.body), &e), a.body)
	return e
}

// path is a path under the stack's event.
func (s *stack) path(rest string) string {
	return "/v1/event/" + strconv.FormatInt(s.event, 10) + rest
}

// lines are the log lines about requests, oldest first.
func (s *stack) lines(t *testing.T) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(s.log.String()) {
		fields := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(line), &fields))
		if fields["msg"] == "request" {
			all = append(all, fields)
		}
	}
	return all
}

// The test group: notes of an event.

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

func (*note) Revision() int64 { return 7 }

// Slim drops the extras one by one.
func (n *note) Slim() bool {
	if len(n.Extras) == 0 {
		return false
	}
	n.Extras = n.Extras[1:]
	return true
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

// calls counts what reached a handler, and seen is the last body that did.
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
		api.Get("getNote", "/v1/event/{eventId}/notes/{noteId}", (*service).get, readers, ratelimit.EntityReads, api.ClientCache),
		api.Post("searchNotes", "/v1/event/{eventId}/notes", (*service).search, readers, ratelimit.None),
		api.Get("listNotes", "/v1/event/{eventId}/notes", (*service).list, readers, ratelimit.None),
		api.Post("createNote", "/v1/event/{eventId}/notes/create", (*service).create, writers, ratelimit.SessionWrites, api.Status(http.StatusCreated), api.CountsDaily),
		api.Put("updateNote", "/v1/event/{eventId}/notes/{noteId}", (*service).update, writers, ratelimit.SessionWrites),
		api.Delete("deleteNote", "/v1/event/{eventId}/notes/{noteId}", (*service).delete, writers, ratelimit.SessionWrites),
		api.Get("getTeam", "/v1/organization/{orgId}/team", (*service).team, readers, ratelimit.None),
		api.Get("getTrouble", "/v1/trouble/{kind}", (*service).trouble, readers, ratelimit.EntityReads),
		api.Get("getOpen", "/open", (*service).open, auth.Public, ratelimit.None),
		api.Get("getFile", "/file", (*service).file, auth.Public, ratelimit.None, api.Hidden),
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
	id := uuid.NewString()
	again := func(_ context.Context, id string) (any, error) { return &note{ID: id}, nil }
	made, err := write.Run(ctx, s.table, write.Op{Again: again, Plan: func(context.Context, write.Items) (*write.Plan, error) {
		item := table.Item{Key: table.Key{PK: "note#" + id, SK: "-"}, Version: 1, Data: []byte(`{}`)}
		return &write.Plan{Writes: []table.Write{table.Insert(item)}, Answer: &note{ID: id, Text: in.Body.Text, Author: in.Body.Author}}, nil
	}})
	if err != nil {
		return nil, err
	}
	return made.(*note), nil
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
