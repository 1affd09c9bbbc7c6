// Package runtimeapi runs the binaries of Lambda functions on this machine as Lambda
// does: over the Runtime API, started when they are asked, one request at a time a
// process, ended when they take too long. It knows nothing of what they answer.
package runtimeapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// MaxPayload is Lambda's limit, in bytes, of the payload of an invocation and of its
// answer.
const MaxPayload = 6 << 20

// ErrTooLarge is a payload that Lambda does not take.
var ErrTooLarge = errors.New("runtimeapi: the payload is larger than a Lambda takes")

// maxProcesses is how many processes a function has at most. Who comes when all are
// busy waits.
const maxProcesses = 16

// Config is one function.
type Config struct {
	// Name is its name, and Binary the file that runs it.
	Name, Binary string
	// Env is its environment, NAME=value, beside what Lambda sets. It inherits nothing.
	Env []string
	// Timeout is how long an invocation may take.
	Timeout time.Duration
	// Log gets what it prints, whole lines, one at a time.
	Log io.Writer
}

// Function is a function that can be invoked. It is safe for concurrent use.
type Function struct {
	config Config
	// slots has a place for each process that works.
	slots chan struct{}

	mu     sync.Mutex
	idle   []*environment
	closed bool
}

// New is the function, of which no process runs yet.
func New(c Config) *Function {
	c.Log = &turns{to: c.Log}
	return &Function{config: c, slots: make(chan struct{}, maxProcesses)}
}

// Invoke gives the answer to a payload, both of them JSON. When ctx ends, its error is
// what Invoke gives; but an invocation that has begun is not given up: as in Lambda, it
// runs to its end, and its process is busy until then. Other errors are ErrTooLarge, or
// say how the function failed, died or took too long.
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

// work has a process answer a payload: another one where a process turns out to have
// died while it was idle, since the caller has no part in that.
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

// errClosed is an invocation of a function that was closed.
var errClosed = errors.New("runtimeapi: the function is closed")

// take is an idle process, the one used last first, or a new one.
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

// put makes a process idle that has answered, and ends one that has not.
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

// PIDs are the idle processes, for a test that kills them.
func (f *Function) PIDs() (pids []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.idle {
		pids = append(pids, e.process.PID())
	}
	return pids
}

// Close ends all processes, those that work when they have answered, for which it does
// not wait: the end of this program ends them before.
func (f *Function) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, e := range f.idle {
		e.end()
	}
	f.idle = nil
}
