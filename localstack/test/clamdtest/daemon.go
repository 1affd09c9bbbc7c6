package clamdtest

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/scan"
)

// Nonsense are answers without a verdict.
var Nonsense = []string{
	"", "OK", "stream: OK", "stream: OK \x00", "stream: ok\x00", "\x00", "stream:  FOUND\x00", "stream: Can't allocate memory ERROR\x00",
	"HTTP/1.1 200 OK\r\n\r\nstream: OK\x00",
}

// Daemon answers in the place of clamd.
type Daemon struct {
	Answer string
	// AtOnce lets the daemon answer before the end of the stream.
	AtOnce bool
	// Release holds the answer back until Release is closed.
	Release chan struct{}
	// Streams is the number of streams that have begun.
	Streams atomic.Int32

	listener net.Listener
}

func (d *Daemon) stop() { _ = d.listener.Close() }

// Answering returns a Daemon with an answer for each stream.
func Answering(answer string) *Daemon {
	d := &Daemon{Answer: answer, Release: make(chan struct{})}
	close(d.Release)
	return d
}

// Start runs the daemon at 127.0.0.1 until the end of the test, and returns a client of the daemon.
func (d *Daemon) Start(t *testing.T) *scan.Clamd {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	d.listener = listener
	t.Cleanup(d.stop)
	go d.serve(listener)
	c := scan.NewClamd("tcp", listener.Addr().String())
	c.Wait = time.Minute
	return c
}

func (d *Daemon) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		d.Streams.Add(1)
		go d.talk(conn)
	}
}

func (d *Daemon) talk(conn net.Conn) {
	defer conn.Close()
	if !d.AtOnce {
		readStream(conn)
		<-d.Release
	}
	_, _ = io.WriteString(conn, d.Answer)
}

// readStream reads a command and its stream up to the piece of no bytes.
func readStream(from io.Reader) {
	const command = "zINSTREAM\x00"
	_, err := io.CopyN(io.Discard, from, int64(len(command)))
	for size := uint32(1); err == nil && size > 0; {
		if err = binary.Read(from, binary.BigEndian, &size); err == nil {
			_, err = io.CopyN(io.Discard, from, int64(size))
		}
	}
}

// Result returns the result of GuardDuty for bytes: THREATS_FOUND for bytes with the mark, another for all else.
func Result(otherwise string) func(content []byte) string {
	return func(content []byte) string {
		if bytes.Contains(content, []byte(Mark)) {
			return "THREATS_FOUND"
		}
		return otherwise
	}
}
