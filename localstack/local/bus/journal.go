package bus

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

const (
	// journalName is the file with the messages of a region's queues.
	journalName = "queues.journal"
	// leastCompacted is the size of a journal below which it is left as it is, in bytes.
	leastCompacted = 4 << 20
)

// journal is the file of the queues: a line for each message that came, was handed out or left. A
// line is written before the answer to its call, so that a kill of the process loses nothing that
// was answered. Only a failure of the machine itself may lose the last lines. A nil journal keeps
// nothing.
type journal struct {
	path string
	file *os.File
	// size is the size of the file, and compacted its size after it was last rewritten.
	size, compacted int64
}

// line is a line of a journal: the message that has come to a queue, the id of a message that was
// handed out, or the id of a message that has left.
type line struct {
	Queue    string   `json:"queue,omitempty"`
	Message  *message `json:"message,omitempty"`
	Received string   `json:"received,omitempty"`
	Removed  string   `json:"removed,omitempty"`
}

// openJournal calls replay with each message of the journal in a folder and its queue, in the order
// in which they came, and writes the journal anew. Without a folder it returns nil.
func openJournal(dir string, replay func(queue string, m *message)) (*journal, error) {
	if dir == "" {
		return nil, nil //nolint:nilnil // a nil journal is in use
	}
	j := &journal{path: filepath.Join(dir, journalName)}
	left, err := j.read()
	if err != nil {
		return nil, err
	}
	for _, l := range left {
		replay(l.Queue, l.Message)
	}
	return j, j.rewrite(left)
}

// read returns the messages that have not left, in the order in which they came.
func (j *journal) read() (left []line, err error) {
	text, err := os.ReadFile(j.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("bus: read the queues: %w", err)
	}
	// The end of a line that a kill has cut was never answered for.
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	found := map[string]int{}
	for n, row := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		var l line
		if len(text) == 0 {
			break
		}
		if err := json.Unmarshal(row, &l); err != nil {
			return nil, fmt.Errorf("bus: %s: line %d is damaged: %w", j.path, n+1, err)
		}
		switch {
		case l.Message != nil:
			l.Message.place = -1
			if at, moved := found[l.Message.ID]; moved {
				left[at].Message = nil
			}
			found[l.Message.ID] = len(left)
			left = append(left, l)
		case l.Received != "":
			if at, ok := found[l.Received]; ok {
				left[at].Message.Receives++
			}
		case l.Removed != "":
			if at, ok := found[l.Removed]; ok {
				left[at].Message = nil
				delete(found, l.Removed)
			}
		}
	}
	return slices.DeleteFunc(left, line.gone), nil
}

// gone reports whether the message of a line has left.
func (l line) gone() bool { return l.Message == nil }

// rewrite replaces the journal by the lines.
func (j *journal) rewrite(lines []line) error {
	var text bytes.Buffer
	to := bufio.NewWriter(&text)
	if err := encode(to, lines); err != nil {
		return err
	}
	if err := errors.Join(to.Flush(), j.close(), replace(j.path, text.Bytes())); err != nil {
		return fmt.Errorf("bus: write the queues: %w", err)
	}
	var err error
	if j.file, err = os.OpenFile(j.path, os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return fmt.Errorf("bus: open the queues: %w", err)
	}
	j.size = int64(text.Len())
	j.compacted = j.size
	return nil
}

// encode writes lines.
func encode(to io.Writer, lines []line) error {
	encoder := json.NewEncoder(to)
	for _, l := range lines {
		if err := encoder.Encode(l); err != nil {
			return fmt.Errorf("bus: encode a line: %w", err)
		}
	}
	return nil
}

// sent writes that messages came to a queue.
func (j *journal) sent(queue string, messages ...*message) error {
	lines := make([]line, len(messages))
	for i, m := range messages {
		lines[i] = line{Queue: queue, Message: m}
	}
	return j.write(lines)
}

// received writes that messages were handed out.
func (j *journal) received(messages []*message) error {
	lines := make([]line, len(messages))
	for i, m := range messages {
		lines[i].Received = m.ID
	}
	return j.write(lines)
}

// removed writes that messages have left.
func (j *journal) removed(messages []*message) error {
	lines := make([]line, len(messages))
	for i, m := range messages {
		lines[i].Removed = m.ID
	}
	return j.write(lines)
}

// write appends lines with one call of the system.
func (j *journal) write(lines []line) error {
	if j == nil || len(lines) == 0 {
		return nil
	}
	var text bytes.Buffer
	if err := encode(&text, lines); err != nil {
		return err
	}
	n, err := j.file.Write(text.Bytes())
	if err != nil {
		// A part of a line must not stay before the next line.
		err = errors.Join(err, j.file.Truncate(j.size))
		return fmt.Errorf("bus: write the queues: %w", err)
	}
	j.size += int64(n)
	return nil
}

// compact rewrites a journal that has become large, with the messages of the queues.
func (j *journal) compact(queues map[string]*queue) error {
	if j == nil || j.size < max(leastCompacted, 4*j.compacted) {
		return nil
	}
	var lines []line
	for name, q := range queues {
		for _, m := range q.all {
			lines = append(lines, line{Queue: name, Message: m})
		}
	}
	slices.SortFunc(lines, line.compare)
	return j.rewrite(lines)
}

// compare orders the lines of messages by the time at which the messages were sent.
func (l line) compare(other line) int { return l.Message.Sent.Compare(other.Message.Sent) }

// close closes the file.
func (j *journal) close() error {
	if j == nil || j.file == nil {
		return nil
	}
	file := j.file
	j.file = nil
	if err := file.Close(); err != nil {
		return fmt.Errorf("bus: close the queues: %w", err)
	}
	return nil
}
