package runtimeapi

import (
	"bytes"
	"io"
	"sync"
)

// lines passes on whole lines, so that the output of several processes does not mix.
type lines struct {
	to   io.Writer
	rest []byte
}

// Write passes on complete lines and keeps the rest.
func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	if end := bytes.LastIndexByte(l.rest, '\n') + 1; end > 0 {
		_, _ = l.to.Write(l.rest[:end]) // The log is a help, no promise.
		l.rest = append([]byte(nil), l.rest[end:]...)
	}
	return len(p), nil
}

// lockedWriter allows a single write at a time.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write writes p.
func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p) //nolint:wrapcheck // the error is the writer's own
}
