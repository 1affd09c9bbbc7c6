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

	"lectern/localstack/local/child"
)

const (
	// initTime is the time that a process has before it asks for an event.
	initTime = 10 * time.Second
	// lastTime is the time to read the remaining data of an ended process.
	lastTime = 5 * time.Second
	version  = "/2018-06-01/runtime/"
)

// errGone is returned for a process that ended before it read the event, so the event had no
// effect.
var errGone = errors.New("runtimeapi: the process has ended")

// environment is a process of a function with the Runtime API for that process.
type environment struct {
	config  *Config
	process *child.Process
	api     *http.Server
	// served reports whether the process has answered before.
	served bool
	// asked is the id of the event without an answer. Answers to other events are refused.
	asked atomic.Value
	// events passes an event to the process, results passes the answer back. unfit gets the
	// message of a process that cannot start.
	events  chan event
	results chan result
	unfit   chan string
}

// event is an invocation.
type event struct {
	id      string
	payload []byte
	// unread gets, after the end of the event's connection, whether the process had left the
	// event unread.
	unread chan bool
}

// result is the answer of a process, or an error.
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
	//nolint:gosec,noctx // the binary is ours; the process outlives the request that starts it
	cmd := exec.Command(c.Binary)
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

// routes returns the Runtime API.
func (e *environment) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+version+"invocation/next", e.next)
	mux.HandleFunc("POST "+version+"invocation/{id}/response", e.answered)
	mux.HandleFunc("POST "+version+"invocation/{id}/error", e.failed)
	mux.HandleFunc("POST "+version+"init/error", e.cannotStart)
	return mux
}

// invoke passes an event to the process and waits for the answer. The function's time starts
// when the process asks for the event, at most initTime later.
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

// await waits for the answer to an event. An answer wins over a simultaneous end or timeout.
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

// left returns the result of a process that ended with an event.
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

// answerOr returns a waiting answer, otherwise the error.
func (e *environment) answerOr(err error) result {
	select {
	case r := <-e.results:
		return r
	default:
		return result{nil, err}
	}
}

// gone returns errGone with the state of the process.
func (e *environment) gone() error {
	return fmt.Errorf("%w: %s: %s", errGone, e.config.Name, e.process.State())
}

// failure is an error reported by the function. The process continues.
type failure struct{ text string }

func (f failure) Error() string { return "runtimeapi: the function failed: " + f.text }

// broken reports whether the process is unusable after an invocation with err.
func (e *environment) broken(err error) bool {
	return err != nil && !errors.As(err, &failure{}) && !errors.Is(err, ErrTooLarge)
}

// end kills the process. The function answers after its writes, so a kill loses no given
// answer.
func (e *environment) end() {
	_ = e.process.Kill() // It may have ended by itself.
	_ = e.api.Close()
}

// next waits for an event and sends it to the process.
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

// answered takes the answer to an event.
func (e *environment) answered(w http.ResponseWriter, r *http.Request) {
	e.deliver(w, r, func([]byte) error { return nil })
}

// failed takes the error of a function.
func (e *environment) failed(w http.ResponseWriter, r *http.Request) {
	e.deliver(w, r, func(body []byte) error { return failure{string(body)} })
}

// cannotStart takes the reason of a failed start.
func (e *environment) cannotStart(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(io.LimitReader(r.Body, MaxPayload)) // As much as there is.
	select {
	case e.unfit <- string(text):
	default: // One reason is enough.
	}
	w.WriteHeader(http.StatusAccepted)
}

// deliver passes on the answer of the process if it belongs to the waiting event, and refuses
// a second answer.
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
