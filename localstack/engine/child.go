package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

// child is the engine's process.
type child struct {
	cmd *exec.Cmd
	// ended is closed when the process has ended and was waited for.
	ended chan struct{}
	log   *log
}

// The words in the engine's own messages by which its start is followed. They
// come from the child itself: an answer on the port could be another process's.
const (
	wordReady = "listening on"
	wordTaken = "already in use"
)

// run starts the process and returns when it listens; errTaken for a port that
// is not free.
func run(ctx context.Context, binary string, args []string) (*child, error) {
	//nolint:gosec,noctx // the binary is the user's own; the context is the start's, not the engine's
	cmd := exec.Command(binary, args...)
	c := &child{cmd: cmd, ended: make(chan struct{}), log: newLog()}
	c.cmd.Stdout, c.cmd.Stderr = c.log, c.log
	c.cmd.SysProcAttr = attributes()
	started := make(chan error)
	go c.live(started)
	if err := <-started; err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	select {
	case <-c.log.ready:
		return c, nil
	case <-c.ended:
	case <-ctx.Done():
		_ = c.signal(syscall.SIGKILL)
		<-c.ended
		return nil, fmt.Errorf("%w; it said: %s", ctx.Err(), c.log)
	}
	if strings.Contains(c.log.String(), wordTaken) {
		return nil, fmt.Errorf("%w: %s", errTaken, c.log)
	}
	return nil, fmt.Errorf("it ended at once (%s): %s", c.cmd.ProcessState, c.log)
}

// live starts the process and waits for its end on one thread that it keeps:
// Linux kills the child when the thread that started it ends, and Go ends idle
// threads.
func (c *child) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = c.cmd.Wait() // how it ended is in ProcessState
	close(c.ended)
}

func (c *child) signal(s syscall.Signal) error {
	if err := c.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("engine: signal %s: %w", s, err)
	}
	return nil
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
