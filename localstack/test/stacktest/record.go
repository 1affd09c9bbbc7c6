package stacktest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/recorder"
)

// Both take effect if the groups' binaries run.
const (
	// EnvRecord names a folder. Each test binary lists there the permissions that the
	// table calls of the groups needed.
	EnvRecord = "LECTERN_RECORD"
	// EnvDeny is a line of such a list. Calls that need the permission are refused.
	EnvDeny = "LECTERN_DENY"
)

// Refused begins the line that a failed test prints if calls were refused.
const Refused = "refused for lack of a permission: "

// recorderOnce returns the recorder of all regions of this process, or nil if no variable
// asks for one.
var recorderOnce = sync.OnceValue(newRecorder)

func newRecorder() *recorder.Recorder {
	refused, ok := recorder.Parse(os.Getenv(EnvDeny))
	switch {
	case ok:
		return recorder.New(&refused)
	case os.Getenv(EnvRecord) != "":
		return recorder.New(nil)
	}
	return nil
}

// record returns the recorder of a region. When the test ends, record adds to the list of
// this test binary and prints the number of refused calls.
func record(t testing.TB) *recorder.Recorder {
	t.Helper()
	r := recorderOnce()
	if r == nil {
		return nil
	}
	t.Cleanup(recording{t, r, r.Refusals()}.end)
	return r
}

// recording is a test whose calls are recorded, and the refusals before the test.
type recording struct {
	t      testing.TB
	r      *recorder.Recorder
	before int
}

func (c recording) end() {
	if folder := os.Getenv(EnvRecord); folder != "" {
		require.NoError(c.t, c.r.Keep(filepath.Join(folder, filepath.Base(os.Args[0]))))
	}
	if refused := c.r.Refusals() - c.before; c.t.Failed() && refused > 0 {
		c.t.Logf("%s%d calls, %q", Refused, refused, os.Getenv(EnvDeny))
	}
}
