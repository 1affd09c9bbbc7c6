package stacktest

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/cloud/target"
	"lectern/localstack/local/stack"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/table"
)

// EnvFunctions names the folder of the groups' binaries (stack.Config.Functions); tests then
// run against these. target.Env makes tests call the deployed service instead. A test that
// needs more than such a region has is left out by the methods below.
const EnvFunctions = "LECTERN_FUNCTIONS"

// backend is the service that a Stack calls: a stack on this machine, with the instance
// that serves the Stack's URL, or a deployed region.
type backend struct {
	stack    *stack.Stack
	instance *stack.Instance
	deployed *target.Region
	// inProcess says that the functions run in this process.
	inProcess bool
}

// newBackend returns the service that the environment names, and starts it on this machine.
func newBackend(t testing.TB, o Option) backend {
	t.Helper()
	c := o.config()
	regions, err := target.Emulated()
	require.NoError(t, err)
	c.Functions = os.Getenv(EnvFunctions)
	if regions != nil || c.Functions != "" || os.Getenv(EnvMarked) != "" {
		onlyMarked(t)
	}
	if regions != nil {
		if c.Wrap != nil || c.Log != nil || o.load != nil {
			leaveOut(t, "it says how the service is started")
		}
		region, ok := regions[c.Region]
		require.True(t, ok, "the region %s is not deployed", c.Region)
		beside(t)
		return backend{deployed: &region}
	}
	if c.Functions != "" && c.Wrap != nil {
		leaveOut(t, "it stands between the service and its table")
	}
	beside(t)
	record(t, &c)
	running, err := stack.Start(context.Background(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, running.Stop()) })
	if o.load != nil {
		require.NoError(t, o.load(t.Context(), running.EngineURL, running.TableName()))
	}
	return backend{stack: running, inProcess: c.Functions == ""}
}

// do runs an operator command.
func (b backend) do(ctx context.Context, command string, input json.RawMessage) (json.RawMessage, error) {
	if b.deployed != nil {
		return b.deployed.Do(ctx, command, input)
	}
	return b.instance.Do(ctx, command, input)
}

// leaveOut ends a test that the region cannot serve.
func leaveOut(t testing.TB, why string) {
	t.Helper()
	t.Skip("left out here: " + why) //nolint:forbidigo // the test runs where the service is in its process
}

// Table returns the region's table, for a test of stored items.
func (s *Stack) Table(t testing.TB) *table.Table {
	t.Helper()
	if s.backend.instance == nil {
		leaveOut(t, "the table of the deployed service is its own")
	}
	return s.backend.instance.Env.Table
}

// Engine returns the address of the region's engine and the name of its table, for a test
// that reads or writes without the service.
func (s *Stack) Engine(t testing.TB) (url, name string) {
	t.Helper()
	if s.backend.stack == nil {
		leaveOut(t, "the table of the deployed service is its own")
	}
	return s.backend.stack.EngineURL, s.backend.stack.TableName()
}

// HasEngine reports whether a test can call the region's engine.
func (s *Stack) HasEngine() bool { return s.backend.stack != nil }

// Places returns the bus and the queues of a region that is Publishing.
func (s *Stack) Places(t testing.TB) *bus.Places {
	t.Helper()
	if s.backend.stack == nil {
		leaveOut(t, "the queues of the deployed service are its own")
	}
	env := s.backend.instance.Env
	return stack.Places(env.Region, s.backend.stack.BusURL, env.Transcriber)
}

// Env returns the environment of the region's groups, for a test that starts a group.
func (s *Stack) Env(t testing.TB) api.Env {
	t.Helper()
	if !s.backend.inProcess {
		leaveOut(t, "the service does not run in this process")
	}
	return s.backend.instance.Env
}

// EnvOf returns the environment of the region's groups, for a test that starts a group. A recorder sees its calls of the
// bucket as those of the group's function.
func (s *Stack) EnvOf(t testing.TB, group string) api.Env {
	t.Helper()
	env := s.Env(t)
	env.Blobs = s.backend.stack.BlobsOf(group)
	return env
}

// Environment returns the variables of a function's own binary, for a test that starts another binary with them.
func (s *Stack) Environment(t testing.TB, name string) []string {
	t.Helper()
	NeedsBinaries(t)
	return s.backend.stack.Environment(name)
}

// Inside leaves the test out unless the service runs in this process. why names what is
// between a caller and the service elsewhere.
func (s *Stack) Inside(t testing.TB, why string) {
	t.Helper()
	if !s.backend.inProcess {
		leaveOut(t, why)
	}
}

// NeedsStandIn leaves the test out if the region has no stand-in of a transcriber.
func (s *Stack) NeedsStandIn(t testing.TB) {
	t.Helper()
	if s.backend.deployed != nil {
		leaveOut(t, "a deployed service has no stand-in of a transcriber")
	}
}

// NeedsS3 leaves the test out if an emulator of AWS has the bucket. flaw says how the emulator differs from AWS.
func (s *Stack) NeedsS3(t testing.TB, flaw string) {
	t.Helper()
	if s.OnEmulator() {
		leaveOut(t, "the emulator's S3 "+flaw)
	}
}

// OnEmulator reports whether the service is deployed to an emulator of AWS.
func (s *Stack) OnEmulator() bool {
	return s.backend.deployed != nil && s.backend.deployed.Endpoint != ""
}

// NeedsSlides leaves the test out if nothing draws holding slides.
func (s *Stack) NeedsSlides(t testing.TB) {
	t.Helper()
	if s.backend.deployed != nil {
		leaveOut(t, "the service is deployed without the option of holding slides")
	}
}

// NeedsDoor leaves the test out if a gateway is between the caller and the service. why
// says what the gateway does with the test's requests.
func (s *Stack) NeedsDoor(t testing.TB, why string) {
	t.Helper()
	if s.backend.deployed != nil {
		leaveOut(t, why)
	}
}

// NeedsGateway leaves the test out if an emulator replaces the gateway. flaw says how the
// emulator differs from AWS.
func (s *Stack) NeedsGateway(t testing.TB, flaw string) {
	t.Helper()
	if s.OnEmulator() {
		leaveOut(t, "the emulator's gateway "+flaw)
	}
}

// StartsItself leaves a test that starts the program out of runs against binaries or a
// deployed service, where the test would only run a second time, and of runs of marked tests.
func StartsItself(t testing.TB) {
	t.Helper()
	if os.Getenv(EnvFunctions) != "" || os.Getenv(target.Env) != "" || os.Getenv(EnvMarked) != "" {
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
