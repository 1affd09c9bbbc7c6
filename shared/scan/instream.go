package scan

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

const (
	// chunk is the size of the pieces in which an object is read and sent.
	chunk = 4 << 20
	// connectTime limits the connection to clamd, idleTime the time without progress, and refusalTime
	// the answer to a broken stream. clamd may take two minutes for a file before it gives up.
	connectTime, idleTime, refusalTime = 5 * time.Second, 3 * time.Minute, time.Second
	// maxAnswer is the length of the longest answer that is read.
	maxAnswer = 4 << 10
	// command begins a stream and, by its z, ends answers with a zero byte.
	command = "zINSTREAM\x00"
	// clean is the answer for a clean file.
	clean = "stream: OK"
	// exceeded begins the name of a find that says that clamd did not read all of a file.
	exceeded = "Heuristics.Limits.Exceeded"
)

// stream sends an object to clamd and returns the verdict. clamd answers before the end of a stream that
// it refuses. Nothing is clean before clamd has all of the object.
func (c *Clamd) stream(ctx context.Context, o Object) (Verdict, error) {
	dialer := net.Dialer{Timeout: connectTime}
	conn, err := dialer.DialContext(ctx, c.Network, c.Address)
	if err != nil {
		return "", fmt.Errorf("%w: connect to clamd: %w", ErrNoVerdict, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	sent := send(ctx, conn, o)
	if sent != nil {
		_ = conn.SetReadDeadline(time.Now().Add(refusalTime))
	}
	text, err := io.ReadAll(io.LimitReader(conn, maxAnswer))
	answer, _, whole := strings.Cut(string(text), "\x00")
	if whole && (sent == nil || answer != clean) {
		return verdict(answer)
	}
	return "", errors.Join(fmt.Errorf("%w: clamd answered %q", ErrNoVerdict, text), sent, err)
}

// send sends an object in pieces, and an empty piece at the end.
func send(ctx context.Context, conn net.Conn, o Object) error {
	if _, err := io.WriteString(conn, command); err != nil {
		return err
	}
	for from := int64(0); from < o.Size; {
		piece, err := o.Store.Read(ctx, o.Key, from, min(chunk, o.Size-from))
		if err == nil && len(piece) == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err == nil {
			err = write(conn, piece)
		}
		if err != nil {
			return err
		}
		from += int64(len(piece))
	}
	return write(conn, nil)
}

// write sends a piece after its length. clamd must take the piece without a long pause.
func write(conn net.Conn, piece []byte) error {
	if err := conn.SetDeadline(time.Now().Add(idleTime)); err != nil {
		return err
	}
	size := binary.BigEndian.AppendUint32(nil, uint32(len(piece))) //nolint:gosec // at most chunk
	_, err := (&net.Buffers{size, piece}).WriteTo(conn)
	return err
}

// verdict returns the verdict of an answer of clamd. Only the one answer for a clean file says clean.
func verdict(answer string) (Verdict, error) {
	const found = " FOUND"
	name, ofStream := strings.CutPrefix(answer, "stream: ")
	find := ofStream && strings.HasSuffix(name, found) && name != found
	switch {
	case answer == clean:
		return Clean, nil
	case find && strings.HasPrefix(name, exceeded):
		return Unread, nil
	case find:
		return Infected, nil
	case strings.Contains(answer, "size limit exceeded"):
		return "", fmt.Errorf("%w: clamd takes no file of this size: set StreamMaxLength and MaxFileSize of clamd to %d or more: %s",
			ErrNoVerdict, maxStream, answer)
	}
	return "", fmt.Errorf("%w: clamd answered %q", ErrNoVerdict, answer)
}
