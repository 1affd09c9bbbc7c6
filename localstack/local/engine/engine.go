// Package engine runs the local DynamoDB engine, dynoxide, as a child process, or stands for a
// running engine elsewhere. Tables are no subject of the package. The engine never deletes
// expired items; package table treats expired items as absent.
package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"lectern/localstack/local/child"
)

const (
	// EnvURL is the variable with the address of an engine to use in place of a child process.
	EnvURL = "LECTERN_DYNAMODB_URL"
	// EnvBinary is the variable with a dynoxide binary to use in place of npm's.
	EnvBinary = "DYNOXIDE_BIN"
)

const (
	host = "127.0.0.1"
	// startTime limits a start. A start takes milliseconds, but may share the machine with a
	// build, or open a large database.
	startTime = 30 * time.Second
	// stopTime is the time that the engine has to stop before a kill.
	stopTime = 10 * time.Second
	// portTries is the number of free ports to try: another process may take a port between
	// the choice and the engine's start.
	portTries = 5
	fileName  = "dynamodb.db"
)

// errTaken is returned for a port that another process listens on.
var errTaken = errors.New("the port is taken")

// Config describes the engine to start.
type Config struct {
	// Dir is the folder for the data; a missing folder is created.
	Dir string
	// Port is the port on 127.0.0.1; 0 chooses a free one.
	Port int
	// InMemory keeps no data and ignores Dir.
	InMemory bool
}

// Engine is a running engine.
type Engine struct {
	// URL is the address.
	URL string

	child *child.Process
}

// Start runs an engine and waits until the engine answers. On Linux, the engine dies with this
// process. If LECTERN_DYNAMODB_URL is set, Start returns that address and ignores the Config.
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

// PID returns the child's process id, 0 for an engine elsewhere.
func (e *Engine) PID() int {
	if e.child == nil {
		return 0
	}
	return e.child.PID()
}

// Stop ends the engine and waits for the end. A second call does nothing, nor does a call for
// an engine elsewhere.
func (e *Engine) Stop() error {
	if e.child == nil {
		return nil
	}
	return e.child.Stop(stopTime)
}

// Kill ends the engine like kill -9 and waits for the end.
func (e *Engine) Kill() error {
	if e.child == nil {
		return nil
	}
	return e.child.Kill()
}

// storage returns the arguments for the place of the data.
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

// find returns the dynoxide binary: DYNOXIDE_BIN, or npm's in the working directory, beside
// this program, or in a folder above either.
func find() (string, error) {
	if binary := os.Getenv(EnvBinary); binary != "" {
		return binary, nil
	}
	if binary, ok := child.Find(filepath.Join("node_modules", "@dynoxide", "linux-x64", "dynoxide")); ok {
		return binary, nil
	}
	return "", fmt.Errorf("engine: no DynamoDB engine: run `npm ci` (Linux on x64), or set %s to a dynoxide binary, "+
		"or %s to the address of a running engine",
		EnvBinary, EnvURL)
}
