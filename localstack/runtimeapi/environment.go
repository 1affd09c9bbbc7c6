package runtimeapi

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"time"

	"github.com/google/uuid"

	"lectern/localstack/child"
)

const (
	// initTime is how long a process may take until it asks for its first event.
	initTime = 10 * time.Second
	version  = "/2018-06-01/runtime/"
)

// errGone is a process that has ended before it was given the event.
var errGone = errors.New("runtimeapi: the process has ended")

// environment is one process of a function and the Runtime API that it asks.
type environment struct {
	config  *Config
	process *child.Process
	api     *http.Server
	// served is whether it has answered before.
	served bool
	// events hands an event to the process, results back what it made of it.
	events  chan event
	results chan result
}

type event struct {
	id       string
	deadline time.Time
	payload  []byte
}

type result struct {
	id   string
	body []byte
	err  error
}

// start starts a process.
func start(c *Config) (*environment, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // listening takes no time
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	e := &environment{config: c, events: make(chan event), results: make(chan result, 1)}
	e.api = &http.Server{Handler: e.routes(), ReadHeaderTimeout: initTime}
	go func() { _ = e.api.Serve(listener) }() // It ends with end.
	cmd := exec.Command(c.Binary)             //nolint:gosec,noctx // the binary is ours; the process outlives the request that starts it
	cmd.Env = append([]string{
		"AWS_LAMBDA_RUNTIME_API=" + listener.Addr().String(), "AWS_LAMBDA_FUNCTION_NAME=" + c.Name, "_HANDLER=bootstrap",
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512",
	}, c.Env...)
	cmd.Stdout = &lines{to: c.Log}
	cmd.Stderr = cmd.Stdout
	if e.process, err = child.Start(cmd); err != nil {
		return nil, errors.Join(err, e.api.Close())
	}
	return e, nil
}

func (e *environment) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+version+"invocation/next", e.next)
	mux.HandleFunc("POST "+version+"invocation/{id}/response", e.answered)
	mux.HandleFunc("POST "+version+"invocation/{id}/error", e.failed)
	mux.HandleFunc("POST "+version+"init/error", e.failed)
	return mux
}

// invoke gives the process one event and waits for what it makes of it.
func (e *environment) invoke(payload []byte) ([]byte, error) {
	ev := event{uuid.NewString(), time.Now().Add(e.config.Timeout), payload}
	wait := time.NewTimer(initTime)
	defer wait.Stop()
	select {
	case e.events <- ev:
	case r := <-e.results:
		return nil, fmt.Errorf("runtimeapi: %s failed to start: %w", e.config.Name, r.err)
	case <-e.process.Ended():
		return nil, fmt.Errorf("%w: %s: %s", errGone, e.config.Name, e.process.State())
	case <-wait.C:
		return nil, fmt.Errorf("runtimeapi: %s did not start within %s", e.config.Name, initTime)
	}
	wait.Reset(time.Until(ev.deadline))
	select {
	case r := <-e.results:
		if r.id != ev.id {
			return nil, fmt.Errorf("runtimeapi: %s answered the event %q for %q", e.config.Name, r.id, ev.id)
		}
		return r.body, r.err
	case <-e.process.Ended():
		return nil, fmt.Errorf("runtimeapi: %s ended while it worked: %s", e.config.Name, e.process.State())
	case <-wait.C:
		return nil, fmt.Errorf("runtimeapi: %s did not answer within %s", e.config.Name, e.config.Timeout)
	}
}

// failure is what a function reports as its error. Its process goes on.
type failure struct{ text string }

func (f failure) Error() string { return "runtimeapi: the function failed: " + f.text }

// broken is whether the process can serve no more after an invocation that gave err.
func (e *environment) broken(err error) bool {
	return err != nil && !errors.As(err, &failure{}) && !errors.Is(err, ErrTooLarge)
}

// end kills the process. What it does is bounded by its own writes: no answer is lost
// that was given.
func (e *environment) end() {
	_ = e.process.Kill() // It may have ended by itself.
	_ = e.api.Close()
}

func (e *environment) next(w http.ResponseWriter, r *http.Request) {
	select {
	case ev := <-e.events:
		header := w.Header()
		header.Set("Content-Type", "application/json")
		header.Set("Lambda-Runtime-Aws-Request-Id", ev.id)
		header.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(ev.deadline.UnixMilli(), 10))
		header.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:local:000000000000:function:"+e.config.Name)
		_, _ = w.Write(ev.payload) // A process that has ended needs none.
	case <-r.Context().Done():
	}
}

func (e *environment) answered(w http.ResponseWriter, r *http.Request) {
	e.deliver(w, r, func([]byte) error { return nil })
}

func (e *environment) failed(w http.ResponseWriter, r *http.Request) {
	e.deliver(w, r, func(body []byte) error { return failure{string(body)} })
}

// deliver hands over what the process has sent.
func (e *environment) deliver(w http.ResponseWriter, r *http.Request, how func(body []byte) error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxPayload+1))
	status := http.StatusAccepted
	switch {
	case err != nil:
		err = fmt.Errorf("runtimeapi: read the answer: %w", err)
	case len(body) > MaxPayload:
		status, err = http.StatusRequestEntityTooLarge, ErrTooLarge
	default:
		err = how(body)
	}
	select {
	case e.results <- result{r.PathValue("id"), body, err}:
	default: // Nobody waits for a second answer.
	}
	w.WriteHeader(status)
}
