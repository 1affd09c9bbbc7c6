package batteries_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/functions/operator"
	"lectern/localstack/local/objects"
	"lectern/localstack/local/stack"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/table"
)

// killedRegion is the region that is written to.
const killedRegion = "us"

// startDeadline bounds a start on a busy machine.
const startDeadline = time.Minute

// service is the built program with its data, which is killed and started again.
type service struct {
	t            *testing.T
	binary, data string
	// flags are given to the program beyond what every test gives it.
	flags   []string
	process *exec.Cmd
	said    bytes.Buffer
	// The running region: the address of its engine, its table, its bucket, and one who calls it.
	engineURL string
	bucket    objects.Bucket
	engine    it.Engine
	caller    *stacktest.Stack
	env       api.Env
}

// built builds the program and starts it on an empty folder, with the flags.
func built(t *testing.T, flags ...string) *service {
	t.Helper()
	stacktest.StartsItself(t)
	folder := t.TempDir()
	s := &service{t: t, binary: filepath.Join(folder, "lectern"), data: filepath.Join(folder, "data"), flags: flags, caller: &stacktest.Stack{}}
	build := exec.Command("go", "build", "-buildvcs=false", "-o", s.binary, "lectern/localstack")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	t.Cleanup(s.stop)
	s.start()
	s.caller.Token = s.token()
	return s
}

// start starts the program and waits until it serves.
func (s *service) start() {
	s.t.Helper()
	s.launch()
	deadline := time.Now().Add(startDeadline)
	for {
		if _, err := os.Stat(filepath.Join(s.data, "demo.env")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			_ = s.process.Process.Kill() // It has not come up.
			_ = s.process.Wait()
			require.Fail(s.t, "the service does not start", "it said %s", &s.said)
		}
		time.Sleep(5 * time.Millisecond)
	}
	s.connect()
}

// launch starts the program and does not wait.
func (s *service) launch() {
	s.t.Helper()
	s.process = exec.Command(s.binary, append([]string{"up", "--no-demo", "--us-port", "0", "--eu-port", "0", "--data", s.data}, s.flags...)...)
	s.said.Reset()
	s.process.Stdout, s.process.Stderr = &s.said, &s.said
	require.NoError(s.t, os.RemoveAll(filepath.Join(s.data, "demo.env")))
	require.NoError(s.t, s.process.Start())
}

// connect finds the running region and its table.
func (s *service) connect() {
	s.t.Helper()
	var running struct {
		Regions map[string]struct {
			URL, Engine         string
			Bucket              objects.Bucket
			Organization, Event int64
		}
	}
	text, err := os.ReadFile(filepath.Join(s.data, "running.json"))
	require.NoError(s.t, err)
	require.NoError(s.t, json.Unmarshal(text, &running))
	region := running.Regions[killedRegion]
	client, err := stack.Connect(s.t.Context(), killedRegion, region.Engine, stack.TableName(killedRegion))
	require.NoError(s.t, err)
	s.bucket = region.Bucket
	s.engineURL, s.engine = region.Engine, it.Engine{Client: client.(*dynamodb.Client), Table: stack.TableName(killedRegion)}
	s.caller.URL, s.caller.Org, s.caller.Event = region.URL, region.Organization, region.Event
	s.env = stack.NewEnv(killedRegion, table.New(client, stack.TableName(killedRegion)), slog.New(slog.DiscardHandler))
	s.env.Blobs = region.Bucket.Store()
}

// token is one with a limit that no test reaches.
func (s *service) token() string {
	s.t.Helper()
	operate := operator.New(s.env)
	do := func(command string, input map[string]any) map[string]any {
		text, err := json.Marshal(input)
		require.NoError(s.t, err)
		answer, err := operate.Do(s.t.Context(), command, text)
		require.NoError(s.t, err)
		text, err = json.Marshal(answer)
		require.NoError(s.t, err)
		return it.DecodeObject(text)
	}
	members := do("member-list", map[string]any{"org_id": s.caller.Org})["results"].([]any)
	made := do("token-create", map[string]any{"org_id": s.caller.Org, "user_id": members[0].(map[string]any)["id"],
		"name": "Load", "scopes": stacktest.Scopes, "limit": 1_000_000})
	return made["token"].(string)
}

// childPID is the process of the region's engine or bucket: the service's child that
// listens on the port of its address.
func (s *service) childPID(at string) int {
	s.t.Helper()
	address, err := url.Parse(at)
	require.NoError(s.t, err)
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.process.Process.Pid))
	require.NoError(s.t, err)
	for _, list := range lists {
		text, _ := os.ReadFile(list) // A thread may have ended.
		for child := range strings.FieldsSeq(string(text)) {
			command, _ := os.ReadFile("/proc/" + child + "/cmdline")
			// The engine is told its port alone, the bucket host and port.
			if strings.Contains(strings.ReplaceAll(string(command), ":", "\x00")+"\x00", "\x00"+address.Port()+"\x00") {
				pid, err := strconv.Atoi(child)
				require.NoError(s.t, err)
				return pid
			}
		}
	}
	require.Fail(s.t, "no child listens", at)
	return 0
}

// The ways to kill.
const (
	killService = iota // and with it its engine
	killEngine         // the service goes on for a while without
	killBoth
	killWays
)

// kill ends the service, its engine or both as kill -9 does, and waits until
// the service has ended.
func (s *service) kill(way int, pause time.Duration) {
	s.t.Helper()
	if way != killService {
		require.NoError(s.t, syscall.Kill(s.childPID(s.engineURL), syscall.SIGKILL))
	}
	if way == killEngine {
		time.Sleep(pause)
	}
	require.NoError(s.t, s.process.Process.Kill())
	_ = s.process.Wait() // It was killed.
	s.process = nil
}

// stop ends the service at the end of the test.
func (s *service) stop() {
	if s.process != nil {
		_ = s.process.Process.Signal(syscall.SIGTERM) // It may have ended.
		_ = s.process.Wait()
	}
}
