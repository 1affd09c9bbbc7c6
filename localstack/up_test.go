package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/cloud/target"
	"lectern/localstack/local/datadir"
	"lectern/localstack/local/stack"
	"lectern/localstack/test/stacktest"
	"lectern/shared/requestlog"
	"lectern/shared/table"
)

// runMain makes the test's own program be lectern, so that the tests run it as
// a process without building it a second time.
const runMain = "LECTERN_TEST_RUN_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(runMain) != "" {
		main()
		return
	}
	if _, err := target.Emulated(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// startTime bounds a start with the demo conference on a busy machine.
const startTime = time.Minute

// process is a lectern that runs.
type process struct {
	cmd    *exec.Cmd
	ended  chan struct{} // closed when err is how it ended
	err    error
	stdout bytes.Buffer
	stderr bytes.Buffer
}

func lectern(t *testing.T, args ...string) *process {
	t.Helper()
	return lecternWith(t, nil, args...)
}

// lecternWith starts it with some variables more in its environment.
func lecternWith(t *testing.T, variables []string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0], args...), ended: make(chan struct{})}
	p.cmd.Env = slices.Concat(os.Environ(), []string{runMain + "=1"}, variables)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	require.NoError(t, p.cmd.Start())
	go func() { p.err = p.cmd.Wait(); close(p.ended) }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // It may have ended.
		_ = p.wait()
	})
	return p
}

// wait waits for the process's end.
func (p *process) wait() error {
	<-p.ended
	return p.err
}

// run waits for a command that ends by itself and returns what it printed.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return lectern(t, args...).output()
}

// output waits for the process's end and gives what it printed.
func (p *process) output() (string, error) {
	err := p.wait()
	return p.stdout.String() + p.stderr.String(), err
}

// upOn starts both regions on a data folder and returns the variables of
// demo.env once they are there.
func upOn(t *testing.T, data string, args ...string) (*process, map[string]string) {
	t.Helper()
	p := lectern(t, append([]string{"up", "--data", data, "--us-port", "0", "--eu-port", "0"}, args...)...)
	deadline := time.After(startTime)
	for {
		text, err := os.ReadFile(filepath.Join(data, datadir.EnvName))
		if err == nil {
			return p, parse(string(text))
		}
		select {
		case <-p.ended:
			require.Fail(t, "up ended", "%v: %s", p.err, p.stderr.String())
		case <-deadline:
			require.Fail(t, "up did not write demo.env in time")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func parse(text string) map[string]string {
	variables := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		variables[name] = value
	}
	return variables
}

// end stops the process with a signal and wants it to end without an error.
func (p *process) end(t *testing.T, signal os.Signal) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(signal))
	require.NoError(t, p.wait(), p.stderr.String())
}

// ask sends a request to a region and decodes the answer, which must be no refusal.
func ask(t *testing.T, variables map[string]string, region, method, path, body string) map[string]any {
	t.Helper()
	status, answer := try(t, variables, region, method, path, body)
	require.Less(t, status, http.StatusMultipleChoices, "%v", answer)
	return answer
}

// try sends a request to a region and decodes the answer.
func try(t *testing.T, variables map[string]string, region, method, path, body string) (status int, answer map[string]any) {
	t.Helper()
	path = strings.ReplaceAll(path, "{event}", variables["LECTERN_"+region+"_EVENT"])
	request, err := http.NewRequestWithContext(context.Background(), method, variables["LECTERN_"+region+"_URL"]+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("X-Access-Token", variables["LECTERN_"+region+"_TOKEN"])
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
	return response.StatusCode, answer
}

// total is how many sessions an empty search finds.
func total(t *testing.T, variables map[string]string, region string) float64 {
	t.Helper()
	found := ask(t, variables, region, http.MethodPost, "/v1/event/{event}/sessions", "{}")
	return found["pagination"].(map[string]any)["totalResults"].(float64)
}

// logged gives the last request in the log of an organization, but for reads: a start reads to
// check its token.
func logged(t *testing.T, data, region, org string) requestlog.Entry {
	t.Helper()
	state, err := datadir.Find(data)
	require.NoError(t, err)
	client, err := table.Open(t.Context(), table.Config{Endpoint: state.Regions[region].Engine})
	require.NoError(t, err)
	id, err := strconv.ParseInt(org, 10, 64)
	require.NoError(t, err)
	var all []requestlog.Entry
	for _, p := range stacktest.Packs(t, table.New(client, stack.TableName(region)), id) {
		all = append(all, p.Entries...)
	}
	slices.SortStableFunc(all, func(a, b requestlog.Entry) int { return a.At.Compare(b.At.Time) })
	all = slices.DeleteFunc(all, func(e requestlog.Entry) bool { return e.Method == http.MethodGet })
	require.NotEmpty(t, all)
	return all[len(all)-1]
}

func TestUpServesBothRegionsAndKeepsTheirData(t *testing.T) {
	data := t.TempDir()
	first, variables := upOn(t, data)
	require.Len(t, variables, 8)
	for _, region := range []string{"US", "EU"} {
		require.Regexp(t, `^http://127\.0\.0\.1:\d+$`, variables["LECTERN_"+region+"_URL"])
		require.Regexp(t, `^lct_`, variables["LECTERN_"+region+"_TOKEN"])
		require.Regexp(t, `^\d+$`, variables["LECTERN_"+region+"_ORG"])
		require.Regexp(t, `^\d+$`, variables["LECTERN_"+region+"_EVENT"])
		require.EqualValues(t, 150, total(t, variables, region))
		require.Contains(t, first.stdout.String(), variables["LECTERN_"+region+"_URL"]+"/docs")
		require.Contains(t, first.stdout.String(), variables["LECTERN_"+region+"_TOKEN"])
	}
	ask(t, variables, "EU", http.MethodPost, "/v1/event/{event}/sessions/create", `{"title": "Kept over a restart"}`)
	first.end(t, syscall.SIGTERM)

	second, again := upOn(t, data)
	last := logged(t, data, "eu", again["LECTERN_EU_ORG"])
	require.Equal(t, "POST /v1/event/"+again["LECTERN_EU_EVENT"]+"/sessions/create", last.Method+" "+last.Path, "the stop has stored the log")
	for _, region := range []string{"US", "EU"} {
		for _, name := range []string{"TOKEN", "ORG", "EVENT"} {
			require.Equal(t, variables["LECTERN_"+region+"_"+name], again["LECTERN_"+region+"_"+name])
		}
	}
	require.EqualValues(t, 150, total(t, again, "US"))
	require.EqualValues(t, 151, total(t, again, "EU"))
	second.end(t, os.Interrupt)
}

func TestUpWithoutDemo(t *testing.T) {
	data := t.TempDir()
	_, variables := upOn(t, data, "--no-demo")
	require.Zero(t, total(t, variables, "US"))
	events := ask(t, variables, "US", http.MethodGet, "/v1/events", "")["results"].([]any)
	require.Len(t, events, 1)
	for feature, on := range events[0].(map[string]any)["features"].(map[string]any) {
		require.Equal(t, false, on, feature)
	}
	for range 2 {
		printed, err := run(t, "demo", "--data", data)
		require.NoError(t, err, printed)
		require.EqualValues(t, 150, total(t, variables, "US"), "making the demo conference again adds nothing")
	}
}

func TestUpWithoutTheFunctionsBinaries(t *testing.T) {
	printed, err := run(t, "up", "--data", t.TempDir(), "--us-port", "0", "--eu-port", "0", "--processes="+t.TempDir())
	require.Error(t, err)
	require.Contains(t, printed, "make functions")
}

// TestUpRefusesAWrongTranscriber: one machine has the stand-in alone, and says so.
func TestUpRefusesAWrongTranscriber(t *testing.T) {
	for _, name := range []string{"amazon", "whisper"} {
		t.Setenv("LECTERN_TRANSCRIBER", name)
		printed, err := run(t, "up", "--data", t.TempDir(), "--us-port", "0", "--eu-port", "0")
		require.Error(t, err)
		require.Contains(t, printed, "LECTERN_TRANSCRIBER must be stand-in on this machine, or not set: \""+name+"\"")
	}
}

// binaries gives the names of the functions that run as children of a process, in order. A thread
// or child that has just ended has none.
func binaries(parent int) (run []string) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent)) // The pattern is well formed.
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for pid := range strings.FieldsSeq(string(text)) {
			binary, _ := os.Readlink("/proc/" + pid + "/exe")
			if filepath.Base(binary) == "bootstrap" {
				run = append(run, filepath.Base(filepath.Dir(binary)))
			}
		}
	}
	slices.Sort(run)
	return run
}

// TestUpRunsTheFunctionsAsProcesses: a group's once it is asked, as children that end
// with the service.
func TestUpRunsTheFunctionsAsProcesses(t *testing.T) {
	stacktest.NeedsBinaries(t)
	p, variables := upOn(t, t.TempDir(), "--no-demo", "--processes="+os.Getenv(stacktest.EnvFunctions))
	require.Zero(t, total(t, variables, "EU"))
	require.Eventually(t, func() bool {
		return slices.Equal(binaries(p.cmd.Process.Pid), []string{
			"events", "events", "ingester", "ingester", "publisher", "publisher", "sessions", "sweeper", "sweeper",
		})
	}, 30*time.Second, 50*time.Millisecond, "both regions have answered, stored their log and published, and one was asked for sessions")
	p.end(t, syscall.SIGTERM)
}

func TestStopLeavesNothingRunning(t *testing.T) {
	data := t.TempDir()
	p, variables := upOn(t, data, "--no-demo")
	state, err := datadir.Find(data)
	require.NoError(t, err)
	printed, err := run(t, "stop", "--data", data)
	require.NoError(t, err, printed)
	require.NoError(t, p.wait())
	require.NoFileExists(t, filepath.Join(data, datadir.EnvName))
	for name, region := range state.Regions {
		for _, address := range []string{region.Engine, variables["LECTERN_"+strings.ToUpper(name)+"_URL"]} {
			at, err := url.Parse(address)
			require.NoError(t, err)
			_, err = net.Dial("tcp", at.Host)
			require.ErrorIs(t, err, syscall.ECONNREFUSED, address)
		}
	}
	printed, err = run(t, "stop", "--data", data)
	require.NoError(t, err)
	require.Contains(t, printed, "Nothing is running")
}

func TestUpRefusesWhatIsTaken(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)

	data := t.TempDir()
	printed, err := run(t, "up", "--data", data, "--us-port", "0", "--eu-port", port)
	require.Error(t, err)
	require.Contains(t, printed, "port "+port+" is taken; choose another with --eu-port")

	upOn(t, data, "--no-demo")
	printed, err = run(t, "up", "--data", data, "--us-port", "0", "--eu-port", "0")
	require.Error(t, err)
	require.Contains(t, printed, "another lectern runs on "+data)
}

func TestOperatorCommand(t *testing.T) {
	data := t.TempDir()
	printed, err := run(t, "operator", "organization-create", "--data", data)
	require.Error(t, err)
	require.Contains(t, printed, "nothing is running here")

	upOn(t, data, "--no-demo")
	printed, err = run(t, "operator", "organization-create", "--data", data, "--region", "eu", "--json", `{"name": "Second"}`)
	require.NoError(t, err, printed)
	var made map[string]any
	require.NoError(t, json.Unmarshal([]byte(printed), &made))
	require.Equal(t, "Second", made["name"])

	printed, err = run(t, "operator", "organization-create", "--data", data, "--json", `{"name": ""}`)
	require.Error(t, err)
	require.Contains(t, printed, "VALIDATION_ERROR")

	printed, err = run(t, "operator", "republish", "--data", data, "--region", "eu", "--json", `{"since": "2026-01-01T00:00:00Z"}`)
	require.NoError(t, err, printed)
	var published struct {
		Records int
		Cursor  any
	}
	require.NoError(t, json.Unmarshal([]byte(printed), &published), printed)
	require.Positive(t, published.Records, "the seed's changes")
	require.Nil(t, published.Cursor)
	printed, err = run(t, "operator", "redrive", "--data", data, "--json", `{"queue": "webhooks"}`)
	require.NoError(t, err, printed)
	require.Contains(t, printed, `"moved": 0`)

	printed, err = run(t, "operator", "organization-create", "--data", data, "--region", "moon")
	require.Error(t, err)
	require.Contains(t, printed, "us, eu")
}
