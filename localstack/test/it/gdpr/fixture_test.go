package gdpr_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// object is a JSON body; entity a record as the service answers it.
type (
	object = it.Object
	entity = it.Entity
)

const collection = "/v1/gdpr/requests"

const (
	// patience is the longest wait for what follows a request, pause the time between two looks.
	patience = 30 * time.Second
	pause    = 20 * time.Millisecond
	// slow says why a test waits for the end of an erasure in this process alone.
	slow = "a worker of its own binary waits three minutes between the rounds of an erasure"
)

// asking returns the body of a request of a type for an address.
func asking(kind, address string) object {
	return object{"requestType": kind, "identityType": "email", "identityValue": address}
}

// office is a caller of data requests whose requests are done.
type office struct {
	*it.Contacts
}

func newOffice(t *testing.T, options ...stacktest.Option) *office {
	t.Helper()
	options = append(options, stacktest.Publishing(), stacktest.Settling(time.Second))
	return &office{&it.Contacts{Client: &it.Client{Stack: stacktest.Start(t, options...), T: t}}}
}

func (o *office) ask(status int, body any, header ...string) entity {
	o.T.Helper()
	return o.Call(o.T, status, http.MethodPost, collection, stacktest.WithHeaders(body, header...)).JSON(o.T)
}

// list returns the requests of the organization.
func (o *office) list() []entity {
	o.T.Helper()
	var p it.Page
	o.Call(o.T, http.StatusOK, http.MethodGet, collection+"?page_size=100", nil).Into(o.T, &p)
	require.Equal(o.T, p.Pagination.TotalResults, len(p.Results))
	return p.Results
}

// after waits until a request has a status, and returns the request.
func (o *office) after(id, status string) (r entity) {
	o.T.Helper()
	require.Eventually(o.T, func() bool {
		r = it.ByID(o.T, o.list(), id)
		return r["status"] == status
	}, patience, pause, "the request %s is never %s", id, status)
	return r
}

// archive returns what an access request has collected.
func (o *office) archive(status int, r entity) entity {
	o.T.Helper()
	return o.Call(o.T, status, http.MethodGet, collection+"/"+r.ID()+"/archive", nil).JSON(o.T)
}

// receiver is a server on this machine that keeps the bodies of its requests and answers with them.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
}

// newReceiver returns a receiver that answers with a status.
func newReceiver(t *testing.T, status int) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.bodies = append(r.bodies, string(body))
		r.mu.Unlock()
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, "received %s", body)
	}))
	t.Cleanup(r.Close)
	return r
}

// received returns the bodies of the requests.
func (r *receiver) received() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.bodies...)
}
