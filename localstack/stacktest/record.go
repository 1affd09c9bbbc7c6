package stacktest

import (
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/recorder"
)

// Where the groups' binaries run, EnvRecord names a file that gets the permissions that
// their calls of the table needed, and EnvDeny one permission, a line of such a file,
// for whose lack calls are refused.
const (
	EnvRecord = "LECTERN_RECORD"
	EnvDeny   = "LECTERN_DENY"
)

// Refused begins the line that a failed test says where calls were refused.
const Refused = "refused for lack of a permission: "

// records is the recorder of all regions of this process, nil without a use for it.
var records = sync.OnceValue(func() *recorder.Recorder {
	refused, ok := recorder.Parse(os.Getenv(EnvDeny))
	switch {
	case ok:
		return recorder.New(&refused)
	case os.Getenv(EnvRecord) != "":
		return recorder.New(nil)
	}
	return nil
})

// record is the recorder of a region, which tells what it has noted when the test ends.
func record(t testing.TB) *recorder.Recorder {
	t.Helper()
	r, path := records(), os.Getenv(EnvRecord)
	if r == nil {
		return nil
	}
	before := r.Refusals()
	t.Cleanup(func() {
		if path != "" {
			require.NoError(t, r.Keep(path))
		}
		if met := r.Refusals() - before; t.Failed() && met > 0 {
			t.Logf("%s%d calls, %q", Refused, met, os.Getenv(EnvDeny))
		}
	})
	return r
}
