package stacktest

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/deployed"
	"lectern/localstack/stack"
	"lectern/shared/api"
	"lectern/shared/table"
)

// EnvFunctions names the folder of the groups' binaries (stack.Config.Functions): the
// regions of tests then run these. deployed.Env has tests call the deployed service
// instead. What a test needs that a region of its kind does not have, is said here,
// and leaves the test out.
const EnvFunctions = "LECTERN_FUNCTIONS"

// place is where a region runs: on this machine, with an instance that is called, or
// deployed.
type place struct {
	stack    *stack.Stack
	instance *stack.Instance
	deployed *deployed.Region
	// inside is whether its functions run in this process.
	inside bool
}

// found is the place that the environment names for the tests, started where that is
// to be done.
func found(t testing.TB, o options) place {
	t.Helper()
	c := o.config
	regions, err := deployed.Emulated()
	require.NoError(t, err)
	if regions != nil {
		if c.Wrap != nil || c.Log != nil || o.load != nil {
			leaveOut(t, "it says how the service is started")
		}
		region, ok := regions[c.Region]
		require.True(t, ok, "the region %s is not deployed", c.Region)
		beside(t)
		return place{deployed: &region}
	}
	c.Functions = os.Getenv(EnvFunctions)
	if c.Functions != "" {
		if c.Wrap != nil {
			leaveOut(t, "it stands between the service and its table")
		}
		c.Recorder = record(t)
	}
	running, err := stack.Start(context.Background(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, running.Stop()) })
	if o.load != nil {
		require.NoError(t, o.load(t.Context(), running.EngineURL, running.TableName()))
	}
	return place{stack: running, inside: c.Functions == ""}
}

// started are the tests that run beside others.
var started sync.Map

// beside lets the test run beside others that call the deployed service: each has an
// organization of its own, and most of its time is spent waiting.
func beside(t testing.TB) {
	t.Helper()
	one, ok := t.(*testing.T)
	if _, twice := started.LoadOrStore(t, true); ok && !twice {
		one.Parallel()
	}
}

// do does an operator command.
func (p place) do(ctx context.Context, command string, input json.RawMessage) (json.RawMessage, error) {
	if p.deployed != nil {
		return p.deployed.Do(ctx, command, input)
	}
	return p.instance.Do(ctx, command, input)
}

// leaveOut ends a test that the region it would run against cannot serve.
func leaveOut(t testing.TB, why string) {
	t.Helper()
	t.Skip("left out here: " + why) //nolint:forbidigo // the test runs where the service is in its process
}

// Table is the region's table, for a test that looks at what is stored.
func (s *Stack) Table(t testing.TB) *table.Table {
	t.Helper()
	if s.at.instance == nil {
		leaveOut(t, "the table of the deployed service is its own")
	}
	return s.at.instance.Env.Table
}

// Engine is the address of the region's engine and the name of its table, for a test
// that reads past the service.
func (s *Stack) Engine(t testing.TB) (url, name string) {
	t.Helper()
	if s.at.stack == nil {
		leaveOut(t, "the table of the deployed service is its own")
	}
	return s.at.stack.EngineURL, s.at.stack.TableName()
}

// Env is what the groups were started with, for a test that starts one of its own.
func (s *Stack) Env(t testing.TB) api.Env {
	t.Helper()
	if !s.at.inside {
		leaveOut(t, "the service does not run in this process")
	}
	return s.at.instance.Env
}

// Inside leaves the test out unless the service runs in this process; why says what
// stands between a caller and the service elsewhere.
func (s *Stack) Inside(t testing.TB, why string) {
	t.Helper()
	if !s.at.inside {
		leaveOut(t, why)
	}
}

// NeedsDoor leaves the test out where a gateway stands between the caller and the
// service; why says what it does with the test's requests.
func (s *Stack) NeedsDoor(t testing.TB, why string) {
	t.Helper()
	if s.at.deployed != nil {
		leaveOut(t, why)
	}
}

// NeedsGateway leaves the test out where an emulator stands for the gateway; flaw says
// what it does otherwise than AWS.
func (s *Stack) NeedsGateway(t testing.TB, flaw string) {
	t.Helper()
	if s.at.deployed != nil && s.at.deployed.Endpoint != "" {
		leaveOut(t, "the emulator's gateway "+flaw)
	}
}

// StartsItself leaves the test out where another kind of region is asked for: it
// starts the program itself, and would do so a second time.
func StartsItself(t testing.TB) {
	t.Helper()
	if os.Getenv(EnvFunctions) != "" || os.Getenv(deployed.Env) != "" {
		leaveOut(t, "it starts the service itself")
	}
}

// NeedsBinaries leaves the test out unless the groups' binaries run, with all their
// permissions.
func NeedsBinaries(t testing.TB) {
	t.Helper()
	if os.Getenv(EnvFunctions) == "" || os.Getenv(EnvDeny) != "" {
		leaveOut(t, "the groups' own binaries do not run here, or lack a permission")
	}
}
