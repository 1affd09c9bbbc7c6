package stacktest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/recorder"
	"lectern/localstack/local/stack"
)

const (
	// EnvRecord names a folder. Each test binary lists there the permissions that the table
	// calls of the functions needed, and the routes of the requests.
	EnvRecord = "LECTERN_RECORD"
	// EnvDeny is a permission, a line of such a list. Calls that need it are refused.
	EnvDeny = "LECTERN_DENY"
)

// Refused begins the line that a failed test prints if calls were refused.
const Refused = "refused for lack of a permission: "

// recordingOnce returns the recording of all regions of this process, or nil if no variable
// asks for one.
var recordingOnce = sync.OnceValue(newRecording)

// recording has what the regions of this process were asked for.
type recording struct {
	permissions *recorder.Recorder
	routes      *stack.Routes
	// keeping is held while the lists are written.
	keeping sync.Mutex
}

func newRecording() *recording {
	refused, denies := recorder.Parse(os.Getenv(EnvDeny))
	switch {
	case denies:
		return &recording{permissions: recorder.New(&refused), routes: &stack.Routes{}}
	case os.Getenv(EnvRecord) != "":
		return &recording{permissions: recorder.New(nil), routes: &stack.Routes{}}
	}
	return nil
}

// record records a region, if a variable asks for it. When the test ends, record adds to the
// lists of this test binary and prints the number of refused calls.
func record(t testing.TB, c *stack.Config) {
	t.Helper()
	r := recordingOnce()
	if r == nil {
		return
	}
	c.Recorder, c.Routes = r.permissions, r.routes
	t.Cleanup(recorded{t, r, r.permissions.Refusals()}.end)
}

// recorded is a test whose calls are recorded, and the refusals before the test.
type recorded struct {
	t      testing.TB
	r      *recording
	before int
}

func (c recorded) end() {
	if folder := os.Getenv(EnvRecord); folder != "" {
		require.NoError(c.t, c.r.keep(folder))
	}
	if refused := c.r.permissions.Refusals() - c.before; c.t.Failed() && refused > 0 {
		c.t.Logf("%s%d calls, %q", Refused, refused, os.Getenv(EnvDeny))
	}
}

// keep writes the lists. Their names have the process's number, because test binaries of
// several packages have the same name.
func (r *recording) keep(folder string) error {
	r.keeping.Lock()
	defer r.keeping.Unlock()
	name := filepath.Join(folder, fmt.Sprintf("%s-%d", filepath.Base(os.Args[0]), os.Getpid()))
	routes := strings.Join(append(r.routes.Seen(), ""), "\n")
	//nolint:gosec // the developer names the folder
	return errors.Join(r.permissions.Keep(name+".permissions"), os.WriteFile(name+".routes", []byte(routes), 0o600))
}
