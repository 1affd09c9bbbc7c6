// Package emulator stands for AWS on this machine: it runs ministack, deploys the CDK app with
// the app's own tools, and returns the addresses of the deployed service. Ministack holds
// functions to the actions of their roles. No part of the package is for an account of AWS.
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

	"lectern/localstack/local/child"
)

const (
	loopback = "127.0.0.1"
	// startTime limits a start, answerTime a single answer, and stopTime the end before a
	// kill.
	startTime, answerTime, stopTime = time.Minute, 5 * time.Second, 10 * time.Second
	// portTries is the number of free ports to try: another process may take a port between
	// the choice and the emulator's start.
	portTries = 5
	health    = "/_ministack/health"
	// temporaryName is the folder for temporary files in the emulator's folder.
	temporaryName = "ministack.tmp"
	// wordTaken is part of ministack's message for a port in use.
	wordTaken = "already in use"
	// logSize is the number of bytes at the end of ministack's log to show in an error.
	logSize = 4096
)

// errTaken is returned for a port that another process listens on.
var errTaken = errors.New("the port is taken")

// Emulator is a running emulator.
type Emulator struct {
	// URL is the address of all services and regions.
	URL string

	child *child.Process
	// temporary is the folder of temporary files, for example functions' code.
	temporary string
	// doors end the doors of AtDomains.
	doors []func() error
}

// At returns the running emulator at an address.
func At(url string) *Emulator { return &Emulator{URL: strings.TrimSuffix(url, "/")} }

// Start starts ministack, the program at the path, on a free port of 127.0.0.1 and waits for
// an answer. The emulator dies with this process. Log and temporary files are in dir; Start
// removes the temporary files of a killed emulator, so a folder is for a single emulator at a
// time.
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

// run starts the program on a port and waits for an answer. It returns errTaken for a port in
// use.
func run(ctx context.Context, program, dir, temporary string, port int) (*Emulator, error) {
	log, err := os.Create(filepath.Join(dir, "emulator.log")) //nolint:gosec // the folder is the caller's
	if err != nil {
		return nil, err
	}
	defer log.Close() // The child has it open for itself.
	//nolint:gosec,noctx // the program is the caller's; the context is the start's, not the emulator's
	cmd := exec.Command(program)
	cmd.Stdout, cmd.Stderr = log, log
	edition := rand.Text()
	cmd.Env = append(plain(), "TMPDIR="+temporary, "S3_DATA_DIR="+filepath.Join(temporary, "s3"), "MINISTACK_EDITION="+edition,
		"BIND_HOST="+loopback, "MINISTACK_HOST="+loopback, "GATEWAY_PORT="+strconv.Itoa(port), "AUTH=true", "LOG_LEVEL=WARNING")
	e := At("http://" + net.JoinHostPort(loopback, strconv.Itoa(port)))
	e.temporary = temporary
	if e.child, err = child.Start(cmd); err != nil {
		return nil, err
	}
	if err := e.ready(ctx, edition); err != nil {
		err = errors.Join(err, e.child.Stop(stopTime))
		text, unread := os.ReadFile(log.Name())
		if strings.Contains(string(text), wordTaken) {
			err = errors.Join(errTaken, err)
		}
		return nil, errors.Join(fmt.Errorf("%w; it said: %s", err, text[max(0, len(text)-logSize):]), unread)
	}
	return e, nil
}

// ready waits until the emulator answers. The edition, chosen by run, identifies the emulator:
// another process may answer on the port, even another ministack.
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

// edition returns the edition of the ministack at the address; empty without an answer.
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
	var state struct{ Edition string }
	if err := json.NewDecoder(answer.Body).Decode(&state); err != nil || answer.StatusCode != http.StatusOK {
		return ""
	}
	return state.Edition
}

// Stop ends the doors, and a started emulator with its functions' processes. It waits for the
// end, and removes the temporary files.
func (e *Emulator) Stop() (err error) {
	for _, end := range e.doors {
		err = errors.Join(err, end())
	}
	e.doors = nil
	if e.child == nil {
		return err
	}
	return errors.Join(err, e.child.Stop(stopTime), os.RemoveAll(e.temporary)) //nolint:gosec // Start made it in the caller's folder
}

// plain returns this process's environment without variables that name an account, a region or
// a developer's configuration.
func plain() (env []string) {
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "AWS_") && !strings.HasPrefix(entry, "CDK_") {
			env = append(env, entry)
		}
	}
	return env
}
