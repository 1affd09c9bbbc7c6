package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/content/seed"
	"lectern/localstack/local/engine"
	"lectern/localstack/local/stack"
	"lectern/shared/table"
)

// TestRestoreDrill loses a region and gets it back, as far as that can be done on one
// machine: a copy of the engine's data from the middle of a load stands for the table that
// a point-in-time restore makes. The copy must be found whole, hold what had been
// acknowledged, and serve; and what is taken out of it must be found missing.
func TestRestoreDrill(t *testing.T) {
	data := t.TempDir()
	_, variables := upOn(t, data)
	load := begin(variables)
	t.Cleanup(func() { _ = load.end() }) // Where the test ended before.
	time.Sleep(2 * time.Second)
	before := load.acknowledged()
	torn := copied(t, data)
	restored := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(restored, "us"), os.DirFS(torn)))
	time.Sleep(time.Second)
	require.NoError(t, load.end())

	// The region itself, and a copy of it at rest: the same to the last item.
	live, err := run(t, "verify", "--data", data)
	require.NoError(t, err, live)
	at := started(t, copied(t, data))
	same, err := run(t, "verify", "--endpoint", at, "--table", stack.TableName("us"))
	require.NoError(t, err, same)
	require.Equal(t, lasting(t, live), lasting(t, same))

	// The copy from the middle of the load: less, and whole.
	part, err := run(t, "verify", "--endpoint", started(t, torn), "--table", stack.TableName("us"))
	require.NoError(t, err, part)
	for kind, count := range counts(t, part) {
		if kind != "rate limit" {
			require.LessOrEqual(t, count, counts(t, live)[kind], kind)
		}
	}
	require.Less(t, counts(t, part)["change record"], counts(t, live)["change record"], "nothing was written after the copy")
	t.Logf("of %d writes, %d were acknowledged before the copy\n%s", len(load.acknowledged()), len(before), part)
	damage(t, at)

	// The service on that copy.
	kept, err := os.ReadFile(seed.Path(data, "us"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(seed.Path(restored, "us"), kept, 0o600))
	_, again := upOn(t, restored, "--no-demo")
	require.Equal(t, variables["LECTERN_US_TOKEN"], again["LECTERN_US_TOKEN"])
	for id, title := range before {
		read := ask(t, again, "US", http.MethodGet, "/v1/event/{event}/sessions/"+id, "")
		require.Equal(t, title, read["title"])
	}
}

func TestVerifyIsToldWhichTable(t *testing.T) {
	for problem, args := range map[string][]string{
		"--endpoint needs --table": {"--endpoint", "http://127.0.0.1:9"},
		"nothing is running here":  nil,
		"read none":                {"--table", "none", "--endpoint", "http://127.0.0.1:9"},
	} {
		printed, err := run(t, append([]string{"verify", "--data", t.TempDir()}, args...)...)
		require.Error(t, err)
		require.Contains(t, printed, problem)
	}
}

// TestALoadNamesEachWriteThatFailed: a drill under less load than it says would prove less.
func TestALoadNamesEachWriteThatFailed(t *testing.T) {
	var served atomic.Int64
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := served.Add(1)
		if n%5 == 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprintf(w, `{"id": "%d"}`, n)
	}))
	defer at.Close()
	load := begin(map[string]string{"LECTERN_US_URL": at.URL, "LECTERN_US_EVENT": "1"})
	load.all.Wait()
	err := load.end()
	for writer := range writers {
		require.ErrorContains(t, err, fmt.Sprintf("create Drill %d.", writer))
	}
	require.ErrorContains(t, err, "500")
	require.Len(t, load.acknowledged(), int(served.Load())-writers)
}

// writers is how many create sessions at the same time.
const writers = 4

// load creates sessions until it is told to end.
type load struct {
	ended  atomic.Bool
	all    sync.WaitGroup
	mu     sync.Mutex
	made   map[string]string // titles by id
	failed []error
}

// begin starts the writers. One whose write fails ends, and end tells of it.
func begin(variables map[string]string) *load {
	l := &load{made: map[string]string{}}
	for writer := range writers {
		l.all.Go(func() {
			for n := 0; !l.ended.Load(); n++ {
				title := fmt.Sprintf("Drill %d.%d", writer, n)
				id, err := create(variables, title)
				if l.note(id, title, err); err != nil {
					return
				}
			}
		})
	}
	return l
}

// create makes a session. It tells no test of a failure, which only the goroutine of the
// test itself may end.
func create(variables map[string]string, title string) (id string, err error) {
	address := variables["LECTERN_US_URL"] + "/v1/event/" + variables["LECTERN_US_EVENT"] + "/sessions/create"
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, address, strings.NewReader(`{"title": "`+title+`"}`))
	if err != nil {
		return "", err
	}
	request.Header.Set("X-Access-Token", variables["LECTERN_US_TOKEN"])
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var made struct {
		ID string `json:"id"`
	}
	err = json.NewDecoder(response.Body).Decode(&made)
	if err == nil && (response.StatusCode != http.StatusOK || made.ID == "") {
		err = fmt.Errorf("answered with %s and the id %q", response.Status, made.ID)
	}
	return made.ID, err
}

// note keeps what came of a write.
func (l *load) note(id, title string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failed = append(l.failed, fmt.Errorf("create %s: %w", title, err))
		return
	}
	l.made[id] = title
}

// acknowledged is what was made so far.
func (l *load) acknowledged() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.made)
}

// end ends the writers; it is the errors of those that ended before.
func (l *load) end() error {
	l.ended.Store(true)
	l.all.Wait()
	return errors.Join(l.failed...)
}

// copied copies the data of the us region's engine, which is frozen meanwhile: the
// database and the log of what was not yet moved into it are of one moment then.
func copied(t *testing.T, data string) (folder string) {
	t.Helper()
	database := filepath.Join(data, "us", "dynamodb.db")
	pid := processOf(t, database)
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	defer func() { require.NoError(t, syscall.Kill(pid, syscall.SIGCONT)) }()
	folder = t.TempDir()
	for _, name := range []string{"dynamodb.db", "dynamodb.db-wal"} {
		text, err := os.ReadFile(filepath.Join(data, "us", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o600))
	}
	return folder
}

// processOf finds the process with an argument.
func processOf(t *testing.T, argument string) int {
	t.Helper()
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, command := range commands {
		text, _ := os.ReadFile(command) // It may have ended.
		if bytes.Contains(text, []byte("\x00"+argument+"\x00")) {
			pid, err := strconv.Atoi(strings.Split(command, "/")[2])
			require.NoError(t, err)
			return pid
		}
	}
	require.Fail(t, "no process works on "+argument)
	return 0
}

// started starts an engine on a folder.
func started(t *testing.T, folder string) (address string) {
	t.Helper()
	e, err := engine.Start(t.Context(), engine.Config{Dir: folder})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Stop()) })
	return e.URL
}

var line = regexp.MustCompile(`(?m)^ *(\d+)  (.*)$`)

// counts are the counts of a report, by kind.
func counts(t *testing.T, report string) map[string]int {
	t.Helper()
	all := map[string]int{}
	for _, match := range line.FindAllStringSubmatch(report, -1) {
		count, err := strconv.Atoi(match[1])
		require.NoError(t, err)
		if !strings.HasPrefix(match[2], "items") {
			all[match[2]] = count
		}
	}
	require.NotEmpty(t, all, report)
	return all
}

// lasting is what a report says of what does not expire.
func lasting(t *testing.T, report string) string {
	t.Helper()
	all := counts(t, report)
	delete(all, "rate limit")
	return fmt.Sprint(all, regexp.MustCompile(`content .*`).FindString(report))
}

// damage takes one thing away, then another, and wants each to be missed.
func damage(t *testing.T, at string) {
	t.Helper()
	name := stack.TableName("us")
	client, err := table.Open(t.Context(), table.Config{Endpoint: at})
	require.NoError(t, err)
	some := func(filter string, value types.AttributeValue) map[string]types.AttributeValue {
		pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &name, FilterExpression: &filter,
			ExpressionAttributeValues: map[string]types.AttributeValue{":x": value}})
		for pages.HasMorePages() {
			page, err := pages.NextPage(t.Context())
			require.NoError(t, err)
			if len(page.Items) > 0 {
				return page.Items[0]
			}
		}
		require.Fail(t, "nothing with "+filter)
		return nil
	}
	key := func(item map[string]types.AttributeValue) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{"PK": item["PK"], "SK": item["SK"]}
	}
	missed := func(problem string) {
		report, err := run(t, "verify", "--endpoint", at, "--table", name)
		require.Error(t, err)
		require.Contains(t, report, problem)
		require.Contains(t, report, "the table is not whole")
	}
	row := some("contains(PK, :x)", &types.AttributeValueMemberS{Value: "#RS"})
	_, err = client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &name, Key: key(row)})
	require.NoError(t, err)
	missed("has no row in")
	_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: row})
	require.NoError(t, err)
	body := some("contains(PK, :x)", &types.AttributeValueMemberS{Value: "#S#"})
	_, err = client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: &name, Key: key(body),
		UpdateExpression: aws.String("ADD v :less"), ExpressionAttributeValues: map[string]types.AttributeValue{":less": &types.AttributeValueMemberN{Value: "-1"}}})
	require.NoError(t, err)
	missed("has version")
}
