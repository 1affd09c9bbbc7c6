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

// refusalTime is how long the system takes at most to say that it has refused what was
// sent to a process that was gone.
const refusalTime = 10 * time.Millisecond

// wire is a connection of a process. When it ends, it says whether the event that it
// carried has been read. That a write succeeds does not tell: the system takes what is
// sent to a process that is dying. But when a connection is closed of which something
// has not been read, TCP resets it, and does so too with what comes after the closing.
// Where a system does not keep to that, an event counts as read.
type wire struct {
	*net.TCPConn

	mu    sync.Mutex
	ended bool
	// unread gets what is known of the event; nil where it carries none.
	unread chan<- bool
}

// carry writes an event. One that is not written as a whole is not read.
func (w *wire) carry(ev event, write func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || write() != nil {
		ev.unread <- true
		return
	}
	w.unread = ev.unread
}

// answered notes that the process sends something, for which it has read its event.
func (w *wire) answered() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unread = nil
}

// Read reads, and notices the end.
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.TCPConn.Read(p)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		w.end(err)
	}
	return n, err //nolint:wrapcheck // it is the connection's own
}

// end tells of the event. A connection that was closed in order may have been so before
// the event was sent: then that was refused, and nothing more can be written.
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

// Accept is the next connection.
func (l wires) Accept() (net.Conn, error) {
	c, err := l.AcceptTCP()
	if err != nil {
		return nil, err //nolint:wrapcheck // it is the listener's own
	}
	return &wire{TCPConn: c}, nil
}

type wireKey struct{}

// withWire lets a request know its connection.
func withWire(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, wireKey{}, c)
}

// wireOf is the connection of a request. Each has one.
func wireOf(r *http.Request) *wire { return r.Context().Value(wireKey{}).(*wire) }
