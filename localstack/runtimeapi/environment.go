package runtimeapi

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"lectern/localstack/child"
)

const (
	// initTime is how long a process may take until it asks for its first event.
	initTime = 10 * time.Second
	// lastTime is how long what a process has left may take to be read after its end.
	lastTime = 5 * time.Second
	version  = "/2018-06-01/runtime/"
)

// errGone is a process that has ended before it had read the event: it cannot have done
// anything for it.
var errGone = errors.New("runtimeapi: the process has ended")

// environment is one process of a function and the Runtime API that it asks.
type environment struct {
	config  *Config
	process *child.Process
	api     *http.Server
	// served is whether it has answered before.
	served bool
	// asked is the id of the event that waits for an answer; others have theirs, or
	// never will.
	asked atomic.Value
	// events hands an event to the process, results back what it made of it. What it
	// says when it cannot start goes to unfit.
	events  chan event
	results chan result
	unfit   chan string
}

type event struct {
	id      string
	payload []byte
	// unread gets, when the connection has ended on which the event was sent, whether
	// the process had not read it.
	unread chan bool
}

type result struct {
	body []byte
	err  error
}

// start starts a process.
func start(c *Config) (*environment, error) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	e := &environment{config: c, events: make(chan event), results: make(chan result, 1), unfit: make(chan string, 1)}
	e.api = &http.Server{Handler: e.routes(), ReadHeaderTimeout: initTime, ConnContext: withWire}
	go func() { _ = e.api.Serve(wires{listener}) }() // It ends with end.
	cmd := exec.Command(c.Binary)                    //nolint:gosec,noctx // the binary is ours; the process outlives the request that starts it
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
	mux.HandleFunc("POST "+version+"init/error", e.cannotStart)
	return mux
}

// invoke gives the process one event and waits for what it makes of it. The function's
// time begins when the process asks for the event: it may take initTime before.
func (e *environment) invoke(payload []byte) ([]byte, error) {
	ev := event{uuid.NewString(), payload, make(chan bool, 1)}
	e.asked.Store(ev.id)
	if err := e.offer(ev); err != nil {
		return nil, err
	}
	r := e.await(ev)
	return r.body, r.err
}

// offer waits until the process takes the event.
func (e *environment) offer(ev event) error {
	wait := time.NewTimer(initTime)
	defer wait.Stop()
	select {
	case e.events <- ev:
		return nil
	case text := <-e.unfit:
		return fmt.Errorf("runtimeapi: %s failed to start: %s", e.config.Name, text)
	case <-e.process.Ended():
		return e.gone()
	case <-wait.C:
		return fmt.Errorf("runtimeapi: %s did not start within %s", e.config.Name, initTime)
	}
}

// await waits for the answer to an event. One that was given counts, whatever happened
// at the same time.
func (e *environment) await(ev event) result {
	wait := time.NewTimer(e.config.Timeout)
	defer wait.Stop()
	select {
	case r := <-e.results:
		return r
	case <-e.process.Ended():
		return e.left(ev)
	case <-wait.C:
		return e.answerOr(fmt.Errorf("runtimeapi: %s did not answer within %s", e.config.Name, e.config.Timeout))
	}
}

// left is what is left of a process that has ended with an event.
func (e *environment) left(ev event) result {
	err := fmt.Errorf("runtimeapi: %s ended while it worked: %s", e.config.Name, e.process.State())
	select {
	case r := <-e.results:
		return r
	case unread := <-ev.unread:
		if unread {
			err = e.gone()
		}
	case <-time.After(lastTime):
	}
	return e.answerOr(err)
}

// answerOr is the answer where it has been given, and else the error.
func (e *environment) answerOr(err error) result {
	select {
	case r := <-e.results:
		return r
	default:
		return result{nil, err}
	}
}

func (e *environment) gone() error {
	return fmt.Errorf("%w: %s: %s", errGone, e.config.Name, e.process.State())
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
		header.Set("Content-Length", strconv.Itoa(len(ev.payload)))
		header.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(e.config.Timeout).UnixMilli(), 10))
		header.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:local:000000000000:function:"+e.config.Name)
		wireOf(r).carry(ev, func() error {
			_, err := w.Write(ev.payload)
			return errors.Join(err, http.NewResponseController(w).Flush())
		})
	case <-r.Context().Done():
	}
}

func (e *environment) answered(w http.ResponseWriter, r *http.Request) {
	e.deliver(w, r, func([]byte) error { return nil })
}

func (e *environment) failed(w http.ResponseWriter, r *http.Request) {
	e.deliver(w, r, func(body []byte) error { return failure{string(body)} })
}

// cannotStart takes the reason why a process serves nothing.
func (e *environment) cannotStart(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(io.LimitReader(r.Body, MaxPayload)) // As much as there is.
	select {
	case e.unfit <- string(text):
	default: // One reason is enough.
	}
	w.WriteHeader(http.StatusAccepted)
}

// deliver hands over what the process has sent, if it is for the event that waits: a
// second answer is refused, whenever it comes.
func (e *environment) deliver(w http.ResponseWriter, r *http.Request, how func(body []byte) error) {
	wireOf(r).answered()
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
	if e.asked.CompareAndSwap(r.PathValue("id"), "") {
		e.results <- result{body, err}
	} else {
		status = http.StatusBadRequest
	}
	w.WriteHeader(status)
}
