package runtimeapi

import (
	"bytes"
	"io"
	"sync"
)

// lines passes on whole lines: what one process prints does not stand in the middle
// of what another does.
type lines struct {
	to   io.Writer
	rest []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	if end := bytes.LastIndexByte(l.rest, '\n') + 1; end > 0 {
		_, _ = l.to.Write(l.rest[:end]) // The log is a help, no promise.
		l.rest = append([]byte(nil), l.rest[end:]...)
	}
	return len(p), nil
}

// turns lets one write at a time.
type turns struct {
	mu sync.Mutex
	to io.Writer
}

func (t *turns) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.to.Write(p) //nolint:wrapcheck // the error is the writer's own
}
