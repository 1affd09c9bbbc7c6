// Package it holds what the integration tests of all areas share: clients of the API's
// operations, drafts, checks of answers, and access to the table. Each folder below is an
// area, a test package of its own.
//
// Read client.go, records.go, bulk.go. operations.go describes routes. contacts.go,
// programme.go and settings.go are clients of an area. engine.go reads the table, doors.go
// wraps its client, and draw.go has sizes and random choices for the batteries,
// and the sequences of calls that a test compares with a model.
package it

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/blob"
)

// Client calls the operations of one event. The methods for sessions take the expected
// status first and fail the test on any other.
type Client struct {
	*stacktest.Stack
	T *testing.T
}

// ServeGroup starts a service of one group, after change has edited its environment, and
// returns a client of that service.
func (d *Client) ServeGroup(group api.Group, change func(*api.Env)) *Client {
	d.T.Helper()
	env := d.EnvOf(d.T, group.Name)
	env.Memory = new(api.Memory)
	change(&env)
	door := httptest.NewServer(group.Handler(env))
	d.T.Cleanup(door.Close)
	at := *d.Stack
	at.URL = door.URL
	return &Client{&at, d.T}
}

// TryCommand runs an operator command on the event and returns its answer or its error.
func (d *Client) TryCommand(name string, input Object) (Entity, *apierr.Error) {
	d.T.Helper()
	answer, err := d.TryOperator(d.T, name, Merged(Object{"org_id": d.Org, "event_id": d.Event}, input))
	if err == nil {
		return answer, nil
	}
	var refusal *apierr.Error
	require.True(d.T, errors.As(err, &refusal), "%v", err)
	return nil, refusal
}

// Command runs an operator command on the event. The command must succeed.
func (d *Client) Command(name string, input Object) Entity {
	d.T.Helper()
	answer, refusal := d.TryCommand(name, input)
	require.Nil(d.T, refusal)
	return answer
}

// SearchAllPages searches records of a kind and returns the results of all pages.
func (d *Client) SearchAllPages(kind string, filters Object) (all []Entity) {
	d.T.Helper()
	for page := 1; ; page++ {
		path := d.EventPath(fmt.Sprintf("%s?pageSize=100&page=%d", kind, page))
		got := stacktest.Call[Page](d.Stack, http.StatusOK, http.MethodPost, path, Object{"filters": filters})
		all = append(all, got.Results...)
		if page >= got.Pagination.TotalPages {
			require.Len(d.T, all, got.Pagination.TotalResults)
			return all
		}
	}
}

// ForTest returns the same client for a subtest.
func (d *Client) ForTest(t *testing.T) *Client { return &Client{d.Stack, t} }

// InNewEvent creates another event of the organization and returns its client.
func (d *Client) InNewEvent(features ...string) *Client {
	return &Client{d.In(d.NewEvent(d.T, features...)), d.T}
}

// WithToken returns the same client with another token.
func (d *Client) WithToken(token string) *Client { return &Client{d.As(token), d.T} }

// Do sends a request below the event and returns the answer as a record.
func (d *Client) Do(status int, method, path string, body any, header ...string) Entity {
	d.T.Helper()
	return d.Call(d.T, status, method, d.EventPath(path), stacktest.WithHeaders(body, header...)).JSON(d.T)
}

// CallSession sends a request below the event's sessions and returns the whole answer.
func (d *Client) CallSession(status int, method, path string, body any, header ...string) stacktest.Answer {
	d.T.Helper()
	return d.Call(d.T, status, method, d.EventPath("/sessions/"+path), stacktest.WithHeaders(body, header...))
}

// Create sends POST /sessions/create.
func (d *Client) Create(status int, body any, parts ...string) Entity {
	d.T.Helper()
	return d.Do(status, http.MethodPost, "/sessions/create"+Query(parts), body)
}

// Get sends GET /sessions/{id}.
func (d *Client) Get(status int, id string, parts ...string) Entity {
	d.T.Helper()
	return d.Do(status, http.MethodGet, "/sessions/"+id+Query(parts), nil)
}

// Put sends PUT /sessions/{id}.
func (d *Client) Put(status int, id string, body any, parts ...string) Entity {
	d.T.Helper()
	return d.Do(status, http.MethodPut, "/sessions/"+id+Query(parts), body)
}

// PutFields sends PUT /sessions/{id}/fields with values by internal name.
func (d *Client) PutFields(status int, id string, values Object) Entity {
	d.T.Helper()
	return d.Do(status, http.MethodPut, "/sessions/"+id+"/fields", Object{"values": values})
}

// Delete sends DELETE /sessions/{id}.
func (d *Client) Delete(status int, id string, header ...string) Entity {
	d.T.Helper()
	return d.Do(status, http.MethodDelete, "/sessions/"+id, nil, header...)
}

// Restore sends POST /sessions/{id}/restore.
func (d *Client) Restore(status int, id string, header ...string) Entity {
	d.T.Helper()
	return d.Do(status, http.MethodPost, "/sessions/"+id+"/restore", nil, header...)
}

// Search sends POST /sessions. A body may be a string, so that a test can choose the order
// of its keys.
func (d *Client) Search(body any, parts ...string) Page {
	d.T.Helper()
	return stacktest.Call[Page](d.Stack, 200, http.MethodPost, d.EventPath("/sessions"+Query(parts)), body)
}

// Filter searches sessions by filters alone.
func (d *Client) Filter(filters Object) Page {
	d.T.Helper()
	return d.Search(Object{"filters": filters})
}

// List sends GET /sessions.
func (d *Client) List(parts ...string) Page {
	d.T.Helper()
	return stacktest.Call[Page](d.Stack, 200, http.MethodGet, d.EventPath("/sessions"+Query(parts)), nil)
}

// SearchStatuses sends POST /sessions/status.
func (d *Client) SearchStatuses(body any, parts ...string) Page {
	d.T.Helper()
	return stacktest.Call[Page](d.Stack, 200, http.MethodPost, d.EventPath("/sessions/status"+Query(parts)), body)
}

// NewSessions creates sessions with these titles and returns their ids.
func (d *Client) NewSessions(titles ...string) []string {
	d.T.Helper()
	ids := make([]string, len(titles))
	for i, title := range titles {
		ids[i] = d.Create(200, Object{"title": title}).ID()
	}
	return ids
}

// NewSubsession creates a subsession of the parent.
func (d *Client) NewSubsession(parent, title string, more ...Object) Entity {
	d.T.Helper()
	return d.Create(200, Merged(Object{"title": title, "parent_session_id": parent}, more...))
}

// Link returns the input of a command that links two sessions.
func Link(target, source, relationship string) Object {
	return Object{"target_id": target, "source_id": source, "relationship_type": relationship}
}

// NewClient starts a region and returns a client of a new event with the features.
func NewClient(t *testing.T, features ...string) *Client {
	t.Helper()
	return &Client{stacktest.Start(t, stacktest.Features(features...)), t}
}

// sampleText is the bytes of a file of SampleDraft.
const sampleText = "A sample."

// SampleForm returns the body of a form with a file of a name of its own.
func SampleForm() any {
	form := "--sample\r\nContent-Disposition: form-data; name=\"file\"; filename=\"Sample " + uuid.NewString() + ".txt\"\r\n\r\n" +
		sampleText + "\r\n--sample--\r\n"
	return stacktest.WithHeaders(form, "Content-Type", "multipart/form-data; boundary=sample")
}

// newFile uploads a file of a new session, and returns the ids of both for the path.
func newFile(t *testing.T, _ api.Operation, s *stacktest.Stack) string {
	t.Helper()
	session := MustCreate(t, s, "/sessions/create", SampleDraft("sessions"))
	path := s.EventPath("/sessions/" + session + "/" + files)
	begun := Entity(s.Call(t, http.StatusCreated, http.MethodPost, path, SampleDraft(files)).JSON(t)["data"].(Object))
	require.Equal(t, http.StatusOK, SendUpload(t, begun, sampleText))
	s.Call(t, http.StatusOK, http.MethodPost, path+"/"+begun.ID()+"/complete", nil)
	return session + "/" + begun.ID()
}

// SendUpload sends bytes as the upload of a record asks for, and returns the status.
func SendUpload(t *testing.T, record Entity, text string) int {
	t.Helper()
	to := record.At("upload").(Object)
	signed := stacktest.Signed{URL: to["url"].(string), Method: to["method"].(string), Headers: map[string]string{}}
	for name, value := range to["headers"].(Object) {
		signed.Headers[name] = value.(string)
	}
	return stacktest.SendBytes(t, signed, []byte(text)).Status
}

// Shelf is a client of the files of a session.
type Shelf struct {
	*Client
	Session string
}

// Path returns the path of the session's files, below the event.
func (s Shelf) Path(rest string) string { return "/sessions/" + s.Session + "/" + files + rest }

// Begin begins an upload with a POST and sends the bytes. It returns the file's id and the key of the bytes.
func (s Shelf) Begin(rest string, status int, more ...Object) (id, key string) {
	s.T.Helper()
	draft := Merged(Object{"filename": "a.txt", "size_bytes": len(sampleText)}, more...)
	begun := Entity(s.Do(status, http.MethodPost, s.Path(rest), draft).At("data").(Object))
	require.Equal(s.T, http.StatusOK, SendUpload(s.T, begun, sampleText))
	to, err := url.Parse(begun.At("upload").(Object)["url"].(string))
	require.NoError(s.T, err)
	return begun.ID(), to.Path[strings.Index(to.Path, "/files/")+1:]
}

// Add uploads a file, and returns what Begin does.
func (s Shelf) Add(more ...Object) (id, key string) {
	s.T.Helper()
	id, key = s.Begin("", http.StatusCreated, more...)
	s.Complete(id)
	return id, key
}

// Complete completes the upload of a file.
func (s Shelf) Complete(id string) {
	s.T.Helper()
	s.Do(http.StatusOK, http.MethodPost, s.Path("/"+id+"/complete"), nil)
}

// Remaining returns which of the keys have bytes.
func (s Shelf) Remaining(keys ...string) (all []string) {
	s.T.Helper()
	for _, key := range keys {
		_, err := s.Env(s.T).Blobs.Head(s.T.Context(), key)
		if err == nil {
			all = append(all, key)
			continue
		}
		require.ErrorIs(s.T, err, blob.ErrAbsent)
	}
	return all
}

// mostWebhooks leaves room for two endpoints more below the limit of 20.
const mostWebhooks = 18

// newWebhook creates an endpoint for the caller's event, after it has deleted the oldest one where
// there is no room. It returns an empty id if the path names no endpoint.
func newWebhook(t *testing.T, op api.Operation, s *stacktest.Stack) string {
	t.Helper()
	list := stacktest.Call[Page](s, http.StatusOK, http.MethodGet, "/v1/webhooks?page_size=100", nil)
	if len(list.Results) >= mostWebhooks {
		s.Call(t, http.StatusOK, http.MethodDelete, "/v1/webhooks/"+list.Results[0].ID(), nil)
	}
	if !OnRecord(op) {
		return ""
	}
	body := Merged(SampleDraft(webhooks), Object{"event_ids": []any{s.Event}})
	return Entity(s.Call(t, http.StatusOK, http.MethodPost, "/v1/webhooks/create", body).JSON(t)).ID()
}

// Request is a request without a caller.
type Request struct {
	Method, Path string
	Body         any
}

// Send makes the request as s.
func (r Request) Send(t *testing.T, s *stacktest.Stack, header ...string) stacktest.Answer {
	t.Helper()
	answer, err := s.Send(t, r.Method, r.Path, stacktest.WithHeaders(r.Body, header...))
	require.NoError(t, err)
	return answer
}

func (r Request) String() string { return fmt.Sprint(r.Method, " ", r.Path, " ", r.Body) }
