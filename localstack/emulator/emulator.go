// Package emulator stands for AWS on this machine: it runs ministack, which holds
// functions to the actions of their roles, deploys the CDK app to it with the app's own
// tools, and knows where the deployed service is. Nothing in it is made for an account of
// AWS.
package emulator

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lectern/localstack/child"
)

const (
	host = "127.0.0.1"
	// startTime is how long the emulator may take until it answers, answerTime how long
	// for one answer, stopTime until it has ended before it is killed.
	startTime, answerTime, stopTime = time.Minute, 5 * time.Second, 10 * time.Second
	// portTries is how many free ports are tried: one may be taken between its choice
	// and the emulator's start.
	portTries = 5
	health    = "/_ministack/health"
	// temporaryName is the folder for its temporary files in the one that it is given.
	temporaryName = "ministack.tmp"
	// wordTaken is in what ministack says of a port that is not free.
	wordTaken = "already in use"
	// saidSize is how much of what ministack has said last an error tells.
	saidSize = 4096
)

// errTaken is a port that another process listens on.
var errTaken = errors.New("the port is taken")

// Emulator is an emulator that answers.
type Emulator struct {
	// URL is its address, of all services and regions.
	URL string

	child *child.Process
	// temporary is the folder of its temporary files, such as functions' code.
	temporary string
}

// At is the emulator that runs at an address.
func At(url string) *Emulator { return &Emulator{URL: strings.TrimSuffix(url, "/")} }

// Start starts ministack, the program at the path, on a free port of 127.0.0.1 and
// returns when it answers. It dies with this process. What it says is in dir, and its
// temporary files are until Stop; those that a killed one has left there are removed. So
// a folder is for one emulator at a time.
func Start(ctx context.Context, program, dir string) (*Emulator, error) {
	temporary := filepath.Join(dir, temporaryName)
	if err := errors.Join(os.RemoveAll(temporary), os.MkdirAll(temporary, 0o750)); err != nil {
		return nil, fmt.Errorf("emulator: %w", err)
	}
	var err error
	for range portTries {
		var port int
		if port, err = child.FreePort(ctx); err != nil {
			break
		}
		var e *Emulator
		if e, err = run(ctx, program, dir, temporary, port); err == nil {
			return e, nil
		}
		if !errors.Is(err, errTaken) {
			break
		}
	}
	return nil, errors.Join(fmt.Errorf("emulator: start %s: %w", program, err), os.RemoveAll(temporary))
}

// run starts the program on a port and returns when it answers there; errTaken for a port
// that is not free.
func run(ctx context.Context, program, dir, temporary string, port int) (*Emulator, error) {
	said, err := os.Create(filepath.Join(dir, "emulator.log")) //nolint:gosec // the folder is the caller's
	if err != nil {
		return nil, err
	}
	defer said.Close() // The child has it open for itself.
	//nolint:gosec,noctx // the program is the caller's; the context is the start's, not the emulator's
	cmd := exec.Command(program)
	cmd.Stdout, cmd.Stderr = said, said
	edition := rand.Text()
	cmd.Env = append(plain(), "TMPDIR="+temporary, "S3_DATA_DIR="+filepath.Join(temporary, "s3"), "MINISTACK_EDITION="+edition,
		"BIND_HOST="+host, "MINISTACK_HOST="+host, "GATEWAY_PORT="+strconv.Itoa(port), "AUTH=true", "LOG_LEVEL=WARNING")
	e := At("http://" + net.JoinHostPort(host, strconv.Itoa(port)))
	e.temporary = temporary
	if e.child, err = child.Start(cmd); err != nil {
		return nil, err
	}
	if err := e.ready(ctx, edition); err != nil {
		err = errors.Join(err, e.child.Stop(stopTime))
		text, unread := os.ReadFile(said.Name())
		if strings.Contains(string(text), wordTaken) {
			err = errors.Join(errTaken, err)
		}
		return nil, errors.Join(fmt.Errorf("%w; it said: %s", err, text[max(0, len(text)-saidSize):]), unread)
	}
	return e, nil
}

// ready waits until the emulator answers. It knows it by the edition that it was told to
// be: an answer on the port could be that of another process, even another ministack's.
func (e *Emulator) ready(ctx context.Context, edition string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for e.edition(ctx) != edition {
		select {
		case <-e.child.Ended():
			return fmt.Errorf("it ended: %s", e.child.State())
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// edition is the one that a ministack at the address says to be; empty is none.
func (e *Emulator) edition(ctx context.Context) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.URL+health, http.NoBody)
	if err != nil {
		return ""
	}
	answer, err := (&http.Client{Timeout: answerTime}).Do(request)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	var said struct{ Edition string }
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil || answer.StatusCode != http.StatusOK {
		return ""
	}
	return said.Edition
}

// Stop ends an emulator that Start has started, with all its functions' processes, and
// returns when it has ended and its temporary files are gone.
func (e *Emulator) Stop() error {
	if e.child == nil {
		return nil
	}
	return errors.Join(e.child.Stop(stopTime), os.RemoveAll(e.temporary)) //nolint:gosec // Start made it in the caller's folder
}

// plain is this process's environment without what would lead a tool to an account,
// a region or a configuration of the developer's own.
func plain() (env []string) {
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "AWS_") && !strings.HasPrefix(entry, "CDK_") {
			env = append(env, entry)
		}
	}
	return env
}
