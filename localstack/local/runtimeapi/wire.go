package runtimeapi

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"
)

// refusalTime is the longest time of the system to report that the receiver of data was gone.
const refusalTime = 10 * time.Millisecond

// wire is a connection of a process. At the end of the connection, wire reports whether the
// process has read its event. A successful write proves nothing, because the system accepts
// data for a dying process. But TCP resets a connection closed with unread data, and a
// connection that receives data after the close. On a system without resets, an event counts
// as read.
type wire struct {
	*net.TCPConn

	mu    sync.Mutex
	ended bool
	// unread gets the report on the event; nil without an event.
	unread chan<- bool
}

// carry writes an event. A partly written event counts as unread.
func (w *wire) carry(ev event, write func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || write() != nil {
		ev.unread <- true
		return
	}
	w.unread = ev.unread
}

// answered notes that the process has sent data, so it has read the event.
func (w *wire) answered() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unread = nil
}

// Read reads, and notices the end of the connection.
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.TCPConn.Read(p)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		w.end(err)
	}
	return n, err //nolint:wrapcheck // it is the connection's own
}

// end reports on the event. An orderly close may have come before the event was sent; then the
// system refused the event, and a second write fails.
func (w *wire) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if w.unread == nil {
		return
	}
	if errors.Is(err, io.EOF) {
		time.Sleep(refusalTime)
		_, err = w.Write([]byte("\n"))
	}
	w.unread <- errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	w.unread = nil
}

// wires listens for connections of a process.
type wires struct{ *net.TCPListener }

// Accept returns the next connection.
func (l wires) Accept() (net.Conn, error) {
	c, err := l.AcceptTCP()
	if err != nil {
		return nil, err //nolint:wrapcheck // it is the listener's own
	}
	return &wire{TCPConn: c}, nil
}

// wireKey is the key of the connection in a context.
type wireKey struct{}

// withWire adds the connection to the context of its requests.
func withWire(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, wireKey{}, c)
}

// wireOf returns the connection of a request.
func wireOf(r *http.Request) *wire { return r.Context().Value(wireKey{}).(*wire) }
