// Package engine runs the local DynamoDB engine, dynoxide, as a child process,
// or stands for one that runs elsewhere. It knows nothing of tables. The engine
// never deletes expired items; readers take them for absent (package table).
package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"lectern/localstack/child"
)

const (
	// EnvURL names an engine that is used instead of a child process.
	EnvURL = "LECTERN_DYNAMODB_URL"
	// EnvBinary names a dynoxide binary that is used instead of npm's.
	EnvBinary = "DYNOXIDE_BIN"
)

const (
	host = "127.0.0.1"
	// startTime bounds a start. It takes milliseconds, but opens a database of
	// any size and may share the machine with a build.
	startTime = 30 * time.Second
	// stopTime is how long the engine may take to stop before it is killed.
	stopTime = 10 * time.Second
	// portTries is how many free ports are tried: one may be taken between its
	// choice and the engine's start.
	portTries = 5
	fileName  = "dynamodb.db"
)

// errTaken is a port that another process listens on.
var errTaken = errors.New("the port is taken")

// Config says what engine to start.
type Config struct {
	// Dir is where the data is kept; it is made when it is not there.
	Dir string
	// Port is the port on 127.0.0.1; 0 chooses a free one.
	Port int
	// InMemory keeps no data; Dir is then not used.
	InMemory bool
}

// Engine is a running engine.
type Engine struct {
	// URL is its address.
	URL string

	child *child.Process
}

// Start runs an engine and returns when it answers. It dies with this process
// where the system can do that (Linux). When LECTERN_DYNAMODB_URL is set it
// starts nothing and returns that address, whatever the Config.
func Start(ctx context.Context, c Config) (*Engine, error) {
	if url := os.Getenv(EnvURL); url != "" {
		return &Engine{URL: url}, nil
	}
	binary, err := find()
	if err != nil {
		return nil, err
	}
	args, err := c.storage()
	if err != nil {
		return nil, err
	}
	for range portTries {
		port := c.Port
		if port == 0 {
			if port, err = child.FreePort(ctx); err != nil {
				return nil, err
			}
		}
		var started *child.Process
		started, err = run(ctx, binary, append([]string{"serve", "--host", host, "--port", strconv.Itoa(port)}, args...))
		if err == nil {
			return &Engine{URL: "http://" + net.JoinHostPort(host, strconv.Itoa(port)), child: started}, nil
		}
		if c.Port != 0 || !errors.Is(err, errTaken) {
			break
		}
	}
	return nil, fmt.Errorf("engine: start %s: %w", binary, err)
}

// PID is the child's process id, 0 for an engine that runs elsewhere.
func (e *Engine) PID() int {
	if e.child == nil {
		return 0
	}
	return e.child.PID()
}

// Stop ends the engine and returns when it has ended. Stopping twice, or an
// engine that runs elsewhere, does nothing.
func (e *Engine) Stop() error {
	if e.child == nil {
		return nil
	}
	return e.child.Stop(stopTime)
}

// Kill ends the engine as kill -9 does and returns when it has ended.
func (e *Engine) Kill() error {
	if e.child == nil {
		return nil
	}
	return e.child.Kill()
}

// storage is the part of the command line that says where the data is.
func (c Config) storage() ([]string, error) {
	if c.InMemory {
		return nil, nil
	}
	if c.Dir == "" {
		return nil, errors.New("engine: neither a directory for the data nor InMemory")
	}
	if err := os.MkdirAll(c.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("engine: make the data directory: %w", err)
	}
	return []string{"--db-path", filepath.Join(c.Dir, fileName)}, nil
}

// find returns the dynoxide binary: the one of DYNOXIDE_BIN, or that of npm in
// the working directory, beside this program, or in a folder above either.
func find() (string, error) {
	if binary := os.Getenv(EnvBinary); binary != "" {
		return binary, nil
	}
	if dir, err := os.Getwd(); err == nil {
		if binary, ok := above(dir); ok {
			return binary, nil
		}
	}
	if program, err := os.Executable(); err == nil {
		if binary, ok := above(filepath.Dir(program)); ok {
			return binary, nil
		}
	}
	return "", fmt.Errorf("engine: no DynamoDB engine: run `npm ci` (Linux on x64), or set %s to a dynoxide binary, or %s to the address of a running engine",
		EnvBinary, EnvURL)
}

func above(dir string) (string, bool) {
	for {
		binary := filepath.Join(dir, "node_modules", "@dynoxide", "linux-x64", "dynoxide")
		if _, err := exec.LookPath(binary); err == nil {
			return binary, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}
