package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"lectern/localstack/stack"
	"lectern/shared/api"
	"lectern/shared/table"
)

// stateName is the file in the data folder that says what runs on it. It is
// locked for as long as that is so, and the lock goes with the process, however
// it ends.
const stateName = "running.json"

// running is the content of that file.
type running struct {
	PID int `json:"pid"`
	// Regions is empty until they are served.
	Regions map[string]region `json:"regions"`
}

// region is how to reach one region and what it was seeded with.
type region struct {
	URL    string `json:"url"`
	Engine string `json:"engine"`
	seed
}

// errNotRunning is returned when nothing runs on a data folder.
var errNotRunning = errors.New("nothing is running here; start it with `make run`")

// errStarting is returned when what runs cannot be called yet.
var errStarting = errors.New("it is still starting; try again in a moment")

// claim locks the data folder for this process, making it where needed, and
// notes whose it is. The lock is held until the file is closed.
func claim(data string) (*os.File, error) {
	if err := os.MkdirAll(data, 0o750); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(data, stateName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the data folder: %w", err)
	}
	if locked(file) {
		_ = file.Close()
		return nil, fmt.Errorf("another lectern runs on %s; end it with `make stop`, or choose another folder with --data", data)
	}
	return file, running{PID: os.Getpid()}.write(file)
}

// locked is whether another process holds the lock; if not, this one has it.
func locked(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}

// write replaces the file's content in place, so that its lock stays.
func (r running) write(file *os.File) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode %s: %w", stateName, err)
	}
	if err := file.Truncate(0); err != nil {
		return fmt.Errorf("write %s: %w", stateName, err)
	}
	if _, err := file.WriteAt(text, 0); err != nil {
		return fmt.Errorf("write %s: %w", stateName, err)
	}
	return nil
}

// find reads what runs on the data folder. It is errNotRunning when nothing
// does.
func find(data string) (running, error) {
	file, err := os.Open(filepath.Join(data, stateName))
	if errors.Is(err, os.ErrNotExist) {
		return running{}, errNotRunning
	}
	if err != nil {
		return running{}, fmt.Errorf("look for what runs on %s: %w", data, err)
	}
	defer file.Close()
	if !locked(file) {
		return running{}, errNotRunning
	}
	var r running
	if err := json.NewDecoder(file).Decode(&r); err != nil {
		return running{}, errStarting
	}
	return r, nil
}

// findRegion reads how to reach a region of what runs on the data folder.
func findRegion(data, name string) (region, error) {
	if !slices.Contains(names, name) {
		return region{}, fmt.Errorf("there is no region %q; choose one of %s", name, strings.Join(names, ", "))
	}
	r, err := find(data)
	if err != nil {
		return region{}, err
	}
	at, ok := r.Regions[name]
	if !ok {
		return region{}, errStarting
	}
	return at, nil
}

// env is an environment on the engine of the region of a name.
func (r region) env(ctx context.Context, name string) (api.Env, error) {
	client, err := stack.Connect(ctx, name, r.Engine, stack.TableName(name))
	if err != nil {
		return api.Env{}, err
	}
	return stack.NewEnv(name, table.New(client, stack.TableName(name)), slog.New(slog.DiscardHandler)), nil
}

// stopTime is how long a stop waits: longer than requests and engines get.
const stopTime = 30 * time.Second

// stop ends what runs on the data folder and returns when it has ended.
func stop(data string) error {
	r, err := find(data)
	if err != nil {
		return err
	}
	if err := syscall.Kill(r.PID, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop process %d: %w", r.PID, err)
	}
	for deadline := time.Now().Add(stopTime); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, err := find(data); errors.Is(err, errNotRunning) {
			return nil
		}
	}
	return fmt.Errorf("process %d has not ended within %s", r.PID, stopTime)
}
