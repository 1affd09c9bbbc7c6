package webhooks_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions/logexport"
	"lectern/functions/webhooks"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/secret"
)

// object is a JSON body; entity a record as the service answers it.
type (
	object = it.Object
	entity = it.Entity
)

const collection = "/v1/webhooks"

// clock is the clock of a service: the time of this machine, moved ahead.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time             { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) moveAhead(by time.Duration) { c.ahead.Add(int64(by)) }

var testKeys = &secret.Keys{Load: func(context.Context) ([]byte, error) { return []byte(strings.Repeat("k", 32)), nil }}

// desk is a caller of the webhooks of an organization, at a service that allows receivers on this
// machine.
type desk struct {
	*it.Client
	*clock
	env api.Env
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return deskOf(it.NewClient(t))
}

func deskOf(d *it.Client) *desk {
	d.T.Helper()
	made := &desk{clock: new(clock)}
	made.Client = d.ServeGroup(webhooks.Group, func(env *api.Env) {
		env.Keys, env.LocalReceivers, env.Now = testKeys, true, made.now
		made.env = *env
	})
	return made
}

// with returns the desk with another token.
func (d *desk) with(token string) *desk {
	other := *d
	other.Client = d.WithToken(token)
	return &other
}

// token creates a token with properties and returns its id and its text.
func (d *desk) token(properties object) (id any, text string) {
	d.T.Helper()
	made := d.Operator(d.T, "token-create", it.Merged(object{"org_id": d.Org, "user_id": d.Member, "name": "Webhooks", "limit": 1_000_000}, properties))
	return made["id"], made["token"].(string)
}

func (d *desk) call(status int, method, path string, body any, header ...string) entity {
	d.T.Helper()
	return d.Call(d.T, status, method, collection+path, stacktest.WithHeaders(body, header...)).JSON(d.T)
}

func (d *desk) create(status int, body any, header ...string) entity {
	d.T.Helper()
	return d.call(status, http.MethodPost, "/create", body, header...)
}

func (d *desk) get(status int, id string) entity {
	d.T.Helper()
	return d.call(status, http.MethodGet, "/"+id, nil)
}

func (d *desk) put(status int, id string, body any, header ...string) entity {
	d.T.Helper()
	return d.call(status, http.MethodPut, "/"+id, body, header...)
}

func (d *desk) remove(status int, id string, header ...string) entity {
	d.T.Helper()
	return d.call(status, http.MethodDelete, "/"+id, nil, header...)
}

func (d *desk) rotate(status int, id string, header ...string) entity {
	d.T.Helper()
	return d.call(status, http.MethodPost, "/"+id+"/rotate-secret", nil, header...)
}

func (d *desk) ping(status int, id string) entity {
	d.T.Helper()
	return d.call(status, http.MethodPost, "/"+id+"/test", nil)
}

// list returns the endpoints of the first page.
func (d *desk) list() []entity {
	d.T.Helper()
	var p it.Page
	d.Call(d.T, http.StatusOK, http.MethodGet, collection, nil).Into(d.T, &p)
	require.Equal(d.T, p.Pagination.TotalResults, len(p.Results))
	return p.Results
}

// draft is the body of a create.
func draft(more ...object) object {
	return it.Merged(object{"url": "https://hooks.example.org/lectern", "events": []any{"session.updated", "session.deleted"}}, more...)
}

// securityActions returns the actions of the security events of a record, in their order.
func (d *desk) securityActions(id string) (actions []string, events []entity) {
	d.T.Helper()
	for _, event := range d.log("security-events") {
		if event.At("target.id") == id {
			actions, events = append(actions, event.Text("action")), append(events, event)
		}
	}
	return actions, events
}

// log reads a log of the organization at a service whose clock is two days ahead.
func (d *desk) log(name string) []entity {
	d.T.Helper()
	served := d.ServeGroup(logexport.Group, func(env *api.Env) {
		env.Now = func() time.Time { return d.now().Add(2 * time.Minute) }
	})
	token := d.TokenWith(d.T, object{"kind": "log_export"})
	var p struct {
		Results []entity `json:"results"`
		HasMore bool     `json:"has_more"`
	}
	served.As(token).Call(d.T, http.StatusOK, http.MethodGet, "/v1/logs/"+name+"?limit=1000", nil).Into(d.T, &p)
	require.False(d.T, p.HasMore)
	return p.Results
}

// receiver is a server on this machine that keeps its requests and answers by a script.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	headers []http.Header
	bodies  [][]byte
}

func newReceiver(t *testing.T, answer func(w http.ResponseWriter)) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.headers, r.bodies = append(r.headers, req.Header), append(r.bodies, body)
		r.mu.Unlock()
		answer(w)
	}))
	t.Cleanup(r.Close)
	return r
}

func ok(w http.ResponseWriter) { _, _ = fmt.Fprint(w, "ok") }
