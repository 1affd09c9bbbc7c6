package engine

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"

	"lectern/localstack/child"
)

// The words in the engine's own messages by which its start is followed. They
// come from the child itself: an answer on the port could be another process's.
const (
	wordReady = "listening on"
	wordTaken = "already in use"
)

// run starts the process and returns when it listens; errTaken for a port that
// is not free.
func run(ctx context.Context, binary string, args []string) (*child.Process, error) {
	//nolint:gosec,noctx // the binary is the user's own; the context is the start's, not the engine's
	cmd := exec.Command(binary, args...)
	said := newLog()
	cmd.Stdout, cmd.Stderr = said, said
	c, err := child.Start(cmd)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	select {
	case <-said.ready:
		return c, nil
	case <-c.Ended():
	case <-ctx.Done():
		return nil, fmt.Errorf("%w; it said: %s", errors.Join(ctx.Err(), c.Kill()), said)
	}
	if strings.Contains(said.String(), wordTaken) {
		return nil, fmt.Errorf("%w: %s", errTaken, said)
	}
	return nil, fmt.Errorf("it ended at once (%s): %s", c.State(), said)
}

// logSize is how much of what the engine says is kept, for error messages.
const logSize = 4096

// log keeps the first words of the engine, and tells when it is ready.
type log struct {
	mu    sync.Mutex
	text  strings.Builder
	ready chan struct{}
	once  sync.Once
}

func newLog() *log { return &log{ready: make(chan struct{})} }

// Write keeps p until logSize is reached, and drops what comes later.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text.Len() < logSize {
		l.text.Write(p)
		if strings.Contains(l.text.String(), wordReady) {
			l.once.Do(func() { close(l.ready) })
		}
	}
	return len(p), nil
}

// String is what was kept.
func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(l.text.String())
}
