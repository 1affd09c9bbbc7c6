package stack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	awslambda "github.com/aws/aws-lambda-go/lambda"
	"github.com/stretchr/testify/require"

	workers "lectern/events"
	"lectern/events/publisher"
	"lectern/functions"
	"lectern/localstack/local/recorder"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/secret"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// soon is the longest wait for what happens at once.
const soon = 20 * time.Second

// received is the file beside a worker's binary with the bodies of its messages.
const received = "received"

// startWorker makes the test binary the worker with a name: the publisher as it is deployed, or a
// matcher that keeps the messages.
func startWorker(name string) {
	switch name {
	case workers.Publisher:
		places, err := bus.FromEnvironment(context.Background())
		if err != nil {
			panic(err)
		}
		p, err := publisher.Start(places, api.NewLog(os.Stdout))
		if err != nil {
			panic(err)
		}
		awslambda.Start(p.Invoke)
	case workers.Matcher:
		awslambda.Start(keep)
	}
}

// keep writes the bodies of messages and the master key to the file beside the binary.
func keep(ctx context.Context, event events.SQSEvent) (answer events.SQSEventResponse, err error) {
	env, err := api.FromEnvironment(ctx)
	if err != nil {
		return answer, err
	}
	key, err := env.Keys.Load(ctx)
	if err != nil {
		return answer, err
	}
	file, err := os.OpenFile(filepath.Join(filepath.Dir(os.Args[0]), received), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return answer, err
	}
	defer file.Close()
	for _, m := range event.Records {
		if _, err := fmt.Fprintf(file, "%s %t %s\n", key, env.LocalReceivers, m.Body); err != nil {
			return answer, err
		}
	}
	return answer, nil
}

// commit writes a change record of organization 1 and returns the id.
func commit(t *testing.T, to *table.Table, version int64) string {
	t.Helper()
	r := change.New(t.Context(), change.Record{
		At: wire.At(time.Now()), Org: 1, Type: "session", RecordID: "s", Version: version, Kinds: []change.Kind{{Name: "session.updated", Sequence: version}},
	})
	require.NoError(t, change.Commit(t.Context(), to, r.Write()))
	return r.ID
}

// output is the log of a stack.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// published returns the number of messages in the lines of the publisher.
func (o *output) published(t *testing.T) (n int) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for line := range strings.Lines(o.text.String()) {
		var fields struct {
			Msg      string
			Messages int
		}
		if json.Unmarshal([]byte(line), &fields) == nil && fields.Msg == "published" {
			n += fields.Messages
		}
	}
	return n
}

// TestPublishInThisProcess: the publisher hears of a change with its write.
func TestPublishInThisProcess(t *testing.T) {
	log, record := &output{}, recorder.New(nil)
	s, err := Start(t.Context(), Config{Region: "us", Publish: true, Log: api.NewLog(log), Recorder: record, Apart: true})
	require.NoError(t, err)
	to := table.New(s.client, s.TableName())
	for n := range int64(3) {
		start := time.Now()
		commit(t, to, n+2)
		require.Eventually(t, func() bool { return log.published(t) == int(n)+1 }, soon, time.Millisecond)
		t.Logf("published %s after the write began", time.Since(start))
	}
	require.NoError(t, s.Stop())
	require.Contains(t, record.Used(), recorder.Permission{Group: workers.Publisher, Action: "events:PutEvents", Pattern: "lectern-us"})
}

// TestWithoutPublishNothingFollows, and the groups have a master key all the same.
func TestWithoutPublishNothingFollows(t *testing.T) {
	s, err := Start(t.Context(), Config{Region: "us"})
	require.NoError(t, err)
	i, err := s.Serve("127.0.0.1:0")
	require.NoError(t, err)
	require.Empty(t, s.BusURL)
	key, err := i.Env.Keys.Load(t.Context())
	require.NoError(t, err)
	require.Len(t, key, 64)
	require.True(t, i.Env.LocalReceivers)
	require.NoError(t, i.Stop(t.Context()))
	require.NoError(t, s.Stop())
}

// TestTheKeyOfAFolderIsTheGroups: the groups of this process have the key that binaries load.
func TestTheKeyOfAFolderIsTheGroups(t *testing.T) {
	dir := t.TempDir()
	s, err := Start(t.Context(), Config{Region: "us", Dir: dir, Publish: true})
	require.NoError(t, err)
	i, err := s.Serve("127.0.0.1:0")
	require.NoError(t, err)
	key, err := i.Env.Keys.Load(t.Context())
	require.NoError(t, err)
	t.Setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", s.BusURL)
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "local")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "local")
	loaded, err := (&secret.Manager{Secret: "lectern/us/keys"}).Load(t.Context())
	require.NoError(t, err)
	require.Equal(t, string(key), string(loaded))
	require.NoError(t, i.Stop(t.Context()))
	require.NoError(t, s.Stop())
}

// TestPublishWithBinaries: the publisher finds the changes of other processes in the feed, and goes on
// after a restart where it has stopped. The workers find the bus and the master key.
func TestPublishWithBinaries(t *testing.T) {
	folder, dir := t.TempDir(), t.TempDir()
	self, err := filepath.Abs(os.Args[0])
	require.NoError(t, err)
	for _, name := range functions.Names() {
		require.NoError(t, os.Mkdir(filepath.Join(folder, name), 0o700))
		require.NoError(t, os.Symlink(self, Binary(folder, name)))
	}
	record, log := recorder.New(nil), &output{}
	config := Config{Region: "us", Dir: dir, Functions: folder, Output: log, Recorder: record, Publish: true}
	seen := func() string {
		text, _ := os.ReadFile(filepath.Join(folder, workers.Matcher, received))
		return string(text)
	}
	var id string
	for n := range int64(2) {
		s, err := Start(t.Context(), config)
		require.NoError(t, err)
		client, err := Connect(t.Context(), "us", s.EngineURL, s.TableName())
		require.NoError(t, err)
		direct := table.New(client, s.TableName())
		if n == 0 {
			require.NoError(t, direct.Transact(t.Context(), table.Insert(tenancy.ListLine(1))))
		} else {
			require.Eventually(t, func() bool { return strings.Contains(seen(), id) }, soon, time.Millisecond, "written before the restart")
		}
		start := time.Now()
		now := commit(t, direct, 2*n+2)
		require.Eventually(t, func() bool { return strings.Contains(seen(), now) }, soon, time.Millisecond)
		t.Logf("received %s after the write began", time.Since(start))
		if n == 0 {
			require.NoError(t, s.bus.Stop())
			id = commit(t, direct, 3)
			s.bus = nil
		}
		require.NoError(t, s.Stop())
	}
	key, err := os.ReadFile(filepath.Join(dir, "master.key"))
	require.NoError(t, err)
	for line := range strings.Lines(seen()) {
		require.True(t, strings.HasPrefix(line, string(key)+" true "), "%s", line)
	}
	used := record.Used()
	for _, p := range []recorder.Permission{
		{Group: workers.Publisher, Action: "events:PutEvents", Pattern: "lectern-us"},
		{Group: workers.Matcher, Action: "secretsmanager:GetSecretValue", Pattern: "lectern/us/keys"},
	} {
		require.True(t, slices.Contains(used, p), "%v", used)
	}
	require.Positive(t, log.published(t))
}

// TestOnlyAScannerOfThisMachineIsTaken: nothing tags objects here, so no upload would get a verdict.
func TestOnlyAScannerOfThisMachineIsTaken(t *testing.T) {
	for scanner, refusal := range map[string]string{"guardduty": "GuardDuty scans on AWS alone", "clam": "must be clamd://HOST:PORT"} {
		_, err := Start(t.Context(), Config{Region: "us", Scanner: scanner})
		require.ErrorContains(t, err, refusal)
	}
}
