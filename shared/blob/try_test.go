package blob_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/blob"
)

// proxy returns a handler that forwards calls to the server with the host of their signatures.
func proxy(t *testing.T) http.Handler {
	t.Helper()
	to, err := url.Parse(server.URL)
	require.NoError(t, err)
	return &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = to.Scheme, to.Host, p.In.Host
	}}
}

// freezing forwards calls to the server with the host of their signatures. Connections opened before
// a freeze never answer again.
type freezing struct {
	engine http.Handler
	// The calls before the freeze wait for warm, until all of them have a connection.
	warm                    chan struct{}
	opened, arrived, frozen atomic.Int32
}

// idle is the number of calls before the freeze: more than a call has tries.
const idle = 4

// connection is the key of the number of a connection in the context of its calls.
type connection struct{}

func (f *freezing) number(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, connection{}, f.opened.Add(1))
}

func (f *freezing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch frozen := f.frozen.Load(); {
	case frozen == 0:
		if f.arrived.Add(1) == idle {
			close(f.warm)
		}
		<-f.warm
	case r.Context().Value(connection{}).(int32) <= frozen:
		<-r.Context().Done()
		return
	}
	f.engine.ServeHTTP(w, r)
}

// TestATryOnADeadConnectionLeavesTimeForTheNext, which opens a new connection and no other idle one.
func TestATryOnADeadConnectionLeavesTimeForTheNext(t *testing.T) {
	t.Parallel()
	door := &freezing{warm: make(chan struct{}), engine: proxy(t)}
	listening := httptest.NewUnstartedServer(door)
	listening.Config.ConnContext = door.number
	listening.Start()
	t.Cleanup(listening.Close)
	s := at(listening.URL)
	var all sync.WaitGroup
	for range idle {
		all.Go(func() { _, _ = s.Head(t.Context(), own(t)) }) // The next call checks the answer.
	}
	all.Wait()
	require.GreaterOrEqual(t, door.opened.Load(), int32(idle))
	door.frozen.Store(door.opened.Load())
	_, err := s.Head(t.Context(), own(t))
	require.ErrorIs(t, err, blob.ErrAbsent)
}

// conflicting answers the first calls with a conflict, as the server of one machine may.
type conflicting struct {
	engine http.Handler
	left   atomic.Int32
}

func (c *conflicting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c.left.Add(-1) >= 0 {
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, "<Error><Code>ConditionalRequestConflict</Code></Error>")
		return
	}
	c.engine.ServeHTTP(w, r)
}

// TestAWriteIsMadeAgainAfterAConflict, but not for ever.
func TestAWriteIsMadeAgainAfterAConflict(t *testing.T) {
	t.Parallel()
	door := &conflicting{engine: proxy(t)}
	listening := httptest.NewServer(door)
	t.Cleanup(listening.Close)
	s, u := at(listening.URL), blob.Upload{Key: own(t), Type: "image/png", Size: 3}
	door.left.Store(3)
	require.NoError(t, s.Write(t.Context(), u, []byte("abc")))
	got, err := s.First(t.Context(), u.Key, 9)
	require.NoError(t, err)
	require.Equal(t, "abc", string(got))
	door.left.Store(4)
	require.ErrorIs(t, s.Write(t.Context(), u, []byte("abc")), blob.ErrBusy)
}
