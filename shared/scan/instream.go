package scan

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

const (
	// chunk is the size of the pieces in which an object is read and sent.
	chunk = 4 << 20
	// connectTime limits the connection to clamd, and idleTime the time without progress: clamd may
	// take two minutes for a file before it gives up (MaxScanTime).
	connectTime, idleTime = 5 * time.Second, 3 * time.Minute
	// maxAnswer is the length of the longest answer that is read.
	maxAnswer = 4 << 10
	// command begins a stream and, by its z, ends answers with a zero byte.
	command = "zINSTREAM\x00"
	// clean is the answer for a clean file.
	clean = "stream: OK"
	// exceeded begins the name of a find that says that clamd did not read all of a file.
	exceeded = "Heuristics.Limits.Exceeded"
)

// stream sends an object to clamd and returns the verdict.
func (c *Clamd) stream(ctx context.Context, o Object) (Verdict, error) {
	dialer := net.Dialer{Timeout: connectTime}
	conn, err := dialer.DialContext(ctx, c.Network, c.Address)
	if err != nil {
		return "", fmt.Errorf("%w: connect to clamd: %w", ErrNoVerdict, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	sent := send(ctx, conn, o)
	// clamd answers before the end to a stream that it refuses.
	if sent == nil {
		sent = conn.SetReadDeadline(time.Now().Add(idleTime))
	}
	text, err := io.ReadAll(io.LimitReader(conn, maxAnswer))
	answer, _, whole := strings.Cut(string(text), "\x00")
	switch {
	case whole && (sent == nil || answer != clean): // Nothing is clean before clamd has all of it.
		return verdict(answer)
	case sent != nil:
		return "", fmt.Errorf("%w: send to clamd: %w", ErrNoVerdict, sent)
	case err != nil:
		return "", fmt.Errorf("%w: read the answer of clamd: %w", ErrNoVerdict, err)
	}
	return "", fmt.Errorf("%w: clamd answered %q", ErrNoVerdict, text)
}

// send sends an object in pieces, each after its length, and an empty piece at the end.
func send(ctx context.Context, conn net.Conn, o Object) error {
	if err := write(conn, []byte(command)); err != nil {
		return err
	}
	for from := int64(0); from < o.Size; {
		piece, err := o.Store.Read(ctx, o.Key, from, min(chunk, o.Size-from))
		if err != nil {
			return stop(conn, err)
		}
		if len(piece) == 0 {
			return stop(conn, io.ErrUnexpectedEOF)
		}
		if err := write(conn, binary.BigEndian.AppendUint32(nil, uint32(len(piece))), piece); err != nil { //nolint:gosec // at most chunk
			return err
		}
		from += int64(len(piece))
	}
	return write(conn, binary.BigEndian.AppendUint32(nil, 0))
}

// stop closes the connection, since clamd waits for bytes that will not come, and returns the reason.
func stop(conn net.Conn, why error) error {
	_ = conn.Close()
	return why
}

// write writes pieces. clamd must take them without a long pause.
func write(conn net.Conn, pieces ...[]byte) error {
	if err := conn.SetDeadline(time.Now().Add(idleTime)); err != nil {
		return err
	}
	buffers := net.Buffers(pieces)
	_, err := buffers.WriteTo(conn)
	return err
}

// verdict returns the verdict of an answer of clamd. Only the one answer for a clean file says clean.
func verdict(answer string) (Verdict, error) {
	const found = " FOUND"
	name, ofStream := strings.CutPrefix(answer, "stream: ")
	switch {
	case answer == clean:
		return Clean, nil
	case ofStream && strings.HasSuffix(name, found) && strings.HasPrefix(name, exceeded):
		return NotScanned, nil
	case ofStream && strings.HasSuffix(name, found) && name != found:
		return Infected, nil
	case strings.Contains(answer, "size limit exceeded"):
		return "", fmt.Errorf("%w: clamd takes no file of this size: set StreamMaxLength and MaxFileSize of clamd to %d or more: %s",
			ErrNoVerdict, maxStream, answer)
	}
	return "", fmt.Errorf("%w: clamd answered %q", ErrNoVerdict, answer)
}
