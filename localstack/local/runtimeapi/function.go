// Package runtimeapi runs the binaries of Lambda functions on this machine like Lambda: over
// the Runtime API, with a start on demand, a single request at a time for each process, and a
// time limit. The content of answers is no subject of the package.
package runtimeapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// MaxPayload is Lambda's limit, in bytes, of the payload of an invocation and of its answer.
const MaxPayload = 6 << 20

// ErrTooLarge is returned for a payload above Lambda's limit.
var ErrTooLarge = errors.New("runtimeapi: the payload is larger than a Lambda takes")

// maxProcesses limits the processes of a function. With all processes busy, an invocation
// waits.
const maxProcesses = 16

// Config describes a function.
type Config struct {
	// Name is the function's name; Binary is the file to run.
	Name, Binary string
	// Env is the environment, NAME=value, in addition to Lambda's own variables. The
	// environment of this process is not passed on.
	Env []string
	// Timeout limits an invocation.
	Timeout time.Duration
	// Log gets the output, a whole line at a time.
	Log io.Writer
}

// Function can be invoked. A Function is safe for concurrent use.
type Function struct {
	config Config
	// slots has a place for each busy process.
	slots chan struct{}

	mu     sync.Mutex
	idle   []*environment
	closed bool
}

// New returns a function without processes.
func New(c Config) *Function {
	c.Log = &lockedWriter{to: c.Log}
	return &Function{config: c, slots: make(chan struct{}, maxProcesses)}
}

// Invoke returns the answer to a payload, both JSON. At the end of ctx, Invoke returns the
// error of ctx; a started invocation continues as in Lambda, and keeps its process busy. Other
// errors are ErrTooLarge, or describe a failure, death or timeout of the function.
func (f *Function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	if len(payload) > MaxPayload {
		return nil, ErrTooLarge
	}
	select {
	case f.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	done := make(chan result, 1)
	go func() {
		answer, err := f.work(payload)
		<-f.slots
		done <- result{body: answer, err: err}
	}()
	select {
	case r := <-done:
		return r.body, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// work lets a process answer a payload. After the death of an idle process it tries another,
// because the caller did not cause the death.
func (f *Function) work(payload []byte) ([]byte, error) {
	for {
		e, err := f.take()
		if err != nil {
			return nil, err
		}
		answer, err := e.invoke(payload)
		if errors.Is(err, errGone) && e.served {
			e.end()
			continue
		}
		f.put(e, err)
		return answer, err
	}
}

// errClosed is returned for an invocation of a closed function.
var errClosed = errors.New("runtimeapi: the function is closed")

// take returns the idle process used last, or a new process.
func (f *Function) take() (*environment, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, errClosed
	}
	if last := len(f.idle) - 1; last >= 0 {
		e := f.idle[last]
		f.idle = f.idle[:last]
		return e, nil
	}
	e, err := start(&f.config)
	if err != nil {
		return nil, fmt.Errorf("runtimeapi: start %s: %w", f.config.Name, err)
	}
	return e, nil
}

// put makes a process idle after an answer, and ends a broken process.
func (f *Function) put(e *environment, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || e.broken(err) {
		e.end()
		return
	}
	e.served = true
	f.idle = append(f.idle, e)
}

// PIDs returns the idle processes, for a test that kills processes.
func (f *Function) PIDs() (pids []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.idle {
		pids = append(pids, e.process.PID())
	}
	return pids
}

// Close ends idle processes at once and busy processes after their answer, without waiting for
// the answer: the end of this program ends them earlier.
func (f *Function) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, e := range f.idle {
		e.end()
	}
	f.idle = nil
}
