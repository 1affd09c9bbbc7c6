// Package emulator stands for AWS on this machine: it runs ministack, which holds
// functions to their roles, deploys the CDK app to it with the app's own tools, and
// knows where the deployed service is. Nothing in it is made for an account of AWS.
package emulator

import (
	"context"
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
	// startTime is how long the emulator may take until it answers, stopTime until
	// it has ended before it is killed.
	startTime, stopTime = time.Minute, 10 * time.Second
	health              = "/_ministack/health"
)

// Emulator is an emulator that answers.
type Emulator struct {
	// URL is its address, of all services and regions.
	URL string

	child *child.Process
}

// At is the emulator that runs at an address.
func At(url string) *Emulator { return &Emulator{URL: strings.TrimSuffix(url, "/")} }

// Start starts ministack, the program at the path, on a free port of 127.0.0.1 and
// returns when it answers. It dies with this process. What it says and keeps is in
// dir; it keeps no data beyond its end.
func Start(ctx context.Context, program, dir string) (*Emulator, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("emulator: %w", err)
	}
	port, err := child.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	said, err := os.Create(filepath.Join(dir, "emulator.log")) //nolint:gosec // the folder is the caller's
	if err != nil {
		return nil, fmt.Errorf("emulator: %w", err)
	}
	defer said.Close()           // The child has it open for itself.
	cmd := exec.Command(program) //nolint:noctx // the context is that of the start
	cmd.Stdout, cmd.Stderr = said, said
	cmd.Env = append(plain(), "TMPDIR="+dir, "S3_DATA_DIR="+filepath.Join(dir, "s3"),
		"BIND_HOST="+host, "MINISTACK_HOST="+host, "GATEWAY_PORT="+strconv.Itoa(port), "AUTH=true", "LOG_LEVEL=WARNING")
	e := At("http://" + net.JoinHostPort(host, strconv.Itoa(port)))
	if e.child, err = child.Start(cmd); err != nil {
		return nil, fmt.Errorf("emulator: start %s: %w", program, err)
	}
	if err := e.ready(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("emulator: %s does not answer; %s has what it said: %w", program, said.Name(), err), e.Stop())
	}
	return e, nil
}

// ready waits until the emulator answers.
func (e *Emulator) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.URL+health, http.NoBody)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			return answer.Body.Close()
		}
		select {
		case <-e.child.Ended():
			return fmt.Errorf("it ended: %s", e.child.State())
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Stop ends an emulator that Start has started, with all its functions' processes, and
// returns when it has ended.
func (e *Emulator) Stop() error {
	if e.child == nil {
		return nil
	}
	return e.child.Stop(stopTime)
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
