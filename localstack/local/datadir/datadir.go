// Package datadir keeps the folder of a local service: the lock of the process that uses the
// folder, the addresses of the regions, and demo.env for shells.
package datadir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"lectern/localstack/content/seed"
	"lectern/localstack/local/objects"
)

// EnvName is the file in the data folder with the address, token and ids of each region as
// shell variables.
const EnvName = "demo.env"

// stateName is the file in the data folder with the State. The process of the service holds a
// lock on the file, which the system releases at the end of the process.
const stateName = "running.json"

// Names lists the regions in the order of every output.
var Names = []string{"us", "eu"}

// State describes the running service of a data folder.
type State struct {
	PID int `json:"pid"`
	// Regions is empty until the regions can be called.
	Regions map[string]Region `json:"regions"`
}

// Region has the addresses and the seed of a region.
type Region struct {
	URL    string `json:"url"`
	Engine string `json:"engine"`
	// Bus is the address of the local bus.
	Bus string `json:"bus"`
	// Transcriber is the transcriber; empty for none.
	Transcriber string `json:"transcriber,omitempty"`
	// Bucket is the bucket with its key pair.
	Bucket objects.Bucket `json:"bucket"`
	seed.Seed
}

// ErrNotRunning is returned for a data folder without a running service.
var ErrNotRunning = errors.New("nothing is running here; start it with `make run`")

// errStarting is returned for a service that cannot be called yet.
var errStarting = errors.New("it is still starting; try again in a moment")

// Lock locks the data folder for this process until the file is closed, and creates a missing
// folder.
func Lock(data string) (*os.File, error) {
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
	return file, State{PID: os.Getpid()}.Write(file)
}

// locked reports whether another process holds the lock; otherwise it takes the lock.
func locked(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}

// Write replaces the content of the locked file. The file itself stays, and so the lock.
func (s State) Write(file *os.File) error {
	text, err := json.Marshal(s)
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

// Find returns the state of the service that runs on the data folder, or ErrNotRunning.
func Find(data string) (State, error) {
	file, err := os.Open(filepath.Join(data, stateName))
	if errors.Is(err, os.ErrNotExist) {
		return State{}, ErrNotRunning
	}
	if err != nil {
		return State{}, fmt.Errorf("look for what runs on %s: %w", data, err)
	}
	defer file.Close()
	if !locked(file) {
		return State{}, ErrNotRunning
	}
	var s State
	if err := json.NewDecoder(file).Decode(&s); err != nil {
		return State{}, errStarting
	}
	return s, nil
}

// Folder returns the folder for the data of a region.
func Folder(data, name string) string { return filepath.Join(data, name) }

// FindRegion returns a region of the service that runs on the data folder.
func FindRegion(data, name string) (Region, error) {
	if !slices.Contains(Names, name) {
		return Region{}, fmt.Errorf("there is no region %q; choose one of %s", name, strings.Join(Names, ", "))
	}
	s, err := Find(data)
	if err != nil {
		return Region{}, err
	}
	region, ok := s.Regions[name]
	if !ok {
		return Region{}, errStarting
	}
	return region, nil
}

// CheckToken calls the region with the token of its seed and refuses any answer but 200.
func (r Region) CheckToken(ctx context.Context, name string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL+"/v1/events", http.NoBody)
	if err != nil {
		return fmt.Errorf("region %s: %w", name, err)
	}
	request.Header.Set("X-Access-Token", r.Token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("region %s: %w", name, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("region %s answers %s to the token of its %s, which may be of other data or of another service",
			name, response.Status, seed.FileName)
	}
	return nil
}

// WriteEnv writes the file EnvName and returns its path.
func WriteEnv(data string, regions map[string]Region) (path string, err error) {
	var text strings.Builder
	for _, name := range Names {
		r, ok := regions[name]
		if !ok {
			continue
		}
		prefix := "LECTERN_" + strings.ToUpper(name) + "_"
		fmt.Fprintf(&text, "%sURL=%s\n%sTOKEN=%s\n%sORG=%d\n%sEVENT=%d\n",
			prefix, r.URL, prefix, r.Token, prefix, r.Organization, prefix, r.Event)
	}
	path = filepath.Join(data, EnvName)
	return path, seed.WriteFile(path, []byte(text.String()))
}

// RemoveEnv removes the file EnvName if it exists.
func RemoveEnv(data string) error {
	if err := os.Remove(filepath.Join(data, EnvName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the old %s: %w", EnvName, err)
	}
	return nil
}
