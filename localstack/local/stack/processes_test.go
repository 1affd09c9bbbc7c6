package stack

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	awslambda "github.com/aws/aws-lambda-go/lambda"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/local/runtimeapi"
	"lectern/shared/api"
)

// TestMain makes the test binary a group's function where a Runtime API is named. What
// it does is the first segment of the path.
func TestMain(m *testing.M) {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") == "" {
		os.Exit(m.Run())
	}
	startWorker(os.Getenv("AWS_LAMBDA_FUNCTION_NAME"))
	awslambda.Start(func(_ context.Context, r events.APIGatewayProxyRequest) (a events.APIGatewayProxyResponse, err error) {
		a.StatusCode = http.StatusOK
		switch what := strings.Trim(r.Path, "/"); what {
		case "pid":
			a.Body = strconv.Itoa(os.Getpid())
		case "size":
			a.Body = strconv.Itoa(len(r.Body))
		case "grow":
			a.Body = strings.Repeat("x", runtimeapi.MaxPayload)
		case "exit":
			os.Exit(3)
		case "panic":
			panic(what)
		case "fail":
			err = errors.New("a secret cause")
		case "sleep":
			time.Sleep(time.Minute)
		case "work":
			time.Sleep(limit / 2)
			mark, _ := base64.StdEncoding.DecodeString(r.Body)
			err = os.WriteFile(string(mark), nil, 0o600)
		}
		return a, err
	})
}

// limit is how long the functions of these tests may work.
const limit = 2 * time.Second

// startProcesses serves a group whose function is this test binary.
func startProcesses(t *testing.T) string {
	t.Helper()
	return startProcessesBehind(t, timeout)
}

// startProcessesBehind serves it behind a gateway that waits so long.
func startProcessesBehind(t *testing.T, patience time.Duration) string {
	t.Helper()
	p := &processes{folder: t.TempDir(), engine: func(string) string { return "" }, others: func(string) []string { return nil }, time: limit, output: io.Discard}
	self, err := filepath.Abs(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(p.folder, "root"), 0o700))
	require.NoError(t, os.Symlink(self, filepath.Join(p.folder, "root", "bootstrap")))
	env := api.Env{NewID: uuid.NewString, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	d := newDoor(env, []api.Group{{Name: "root"}}, p.group)
	d.patience = patience
	door := httptest.NewServer(d)
	t.Cleanup(p.stop)
	t.Cleanup(door.Close)
	return door.URL
}

// answered is the status and the body of an answer.
func answered(t *testing.T, url string, body string) (int, string) {
	t.Helper()
	answer, err := http.Post(url, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	if answer.StatusCode != http.StatusOK {
		require.Equal(t, "*", answer.Header.Get("Access-Control-Allow-Origin"))
		require.NotEmpty(t, answer.Header.Get("X-Request-Id"))
	}
	return answer.StatusCode, string(text)
}

// TestWhatTheGatewayAnswersForAFunctionThatFails: an error of our shape that says
// nothing of the cause, and the next request is served.
func TestWhatTheGatewayAnswersForAFunctionThatFails(t *testing.T) {
	url := startProcesses(t)
	for how, replaced := range map[string]bool{"exit": true, "panic": true, "sleep": true, "grow": true, "fail": false} {
		_, before := answered(t, url+"/pid", "")
		began := time.Now()
		status, text := answered(t, url+"/"+how, "")
		require.Equal(t, http.StatusBadGateway, status, how)
		require.Less(t, time.Since(began), 2*limit+5*time.Second, how)
		var refusal map[string]string
		require.NoError(t, json.Unmarshal([]byte(text), &refusal), how)
		require.Equal(t, "INTERNAL_ERROR", refusal["code"], how)
		require.NotContains(t, text, "secret")
		status, after := answered(t, url+"/pid", "")
		require.Equal(t, http.StatusOK, status, how)
		require.Equal(t, replaced, before != after, how)
	}
}

// TestBodiesThatDoNotFitIntoALambda: the gateway takes 10 MB, a Lambda 6 MB of what the
// gateway makes of it.
func TestBodiesThatDoNotFitIntoALambda(t *testing.T) {
	url := startProcesses(t) + "/size"
	const mega = 1 << 20
	status, text := answered(t, url, strings.Repeat("x", 4*mega))
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, strconv.Itoa((4*mega+2)/3*4), text)
	for _, size := range []int{5 * mega, maxBody} {
		status, text = answered(t, url, strings.Repeat("x", size))
		require.Equal(t, http.StatusRequestEntityTooLarge, status)
		require.Contains(t, text, "PAYLOAD_TOO_LARGE")
		require.Contains(t, text, `The request body is too large.`)
	}
}

// TestABodyBeyondTheGatewayIsNotAnsweredByTheAPI: its servers answer with a text, which has
// neither an id nor a header of the API.
func TestABodyBeyondTheGatewayIsNotAnsweredByTheAPI(t *testing.T) {
	answer, err := http.Post(startProcesses(t)+"/size", "application/json", strings.NewReader(strings.Repeat("x", maxBody+1)))
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusRequestEntityTooLarge, answer.StatusCode)
	require.Equal(t, "HTTP content length exceeded 10485760 bytes.", string(text))
	require.Equal(t, "text/plain", answer.Header.Get("Content-Type"))
	for _, name := range []string{"X-Request-Id", "Access-Control-Allow-Origin", "Strict-Transport-Security"} {
		require.Empty(t, answer.Header.Get(name), name)
	}
}

// TestAGatewayThatHasWaitedLongEnough answers 504, and the function works on to its end.
func TestAGatewayThatHasWaitedLongEnough(t *testing.T) {
	const patience = limit / 4
	url, mark := startProcessesBehind(t, patience), filepath.Join(t.TempDir(), "worked")
	began := time.Now()
	status, text := answered(t, url+"/work", mark)
	require.Equal(t, http.StatusGatewayTimeout, status)
	require.Less(t, time.Since(began), limit/2)
	require.Contains(t, text, "UNAVAILABLE")
	require.NoFileExists(t, mark)
	require.Eventually(t, func() bool {
		_, err := os.Stat(mark)
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
}

// TestAGatewayThatHasWaitedLongEnoughForAProcess has waited for the answer too: one of
// more requests than there are processes gets a process in time, and works in time, and
// is a 504 all the same.
func TestAGatewayThatHasWaitedLongEnoughForAProcess(t *testing.T) {
	url := startProcessesBehind(t, limit*3/4)
	var late atomic.Int32
	var wg sync.WaitGroup
	for range 17 {
		wg.Go(func() {
			answer, err := http.Post(url+"/work", "text/plain", strings.NewReader(os.DevNull))
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			if answer.StatusCode == http.StatusGatewayTimeout {
				late.Add(1)
			}
		})
	}
	wg.Wait()
	require.Positive(t, late.Load())
}

// TestAnAnswerOfTheDoorIsKnownByTheIDOfTheEvent, which the log and the function have too.
func TestAnAnswerOfTheDoorIsKnownByTheIDOfTheEvent(t *testing.T) {
	var log bytes.Buffer
	var id string
	env := api.Env{NewID: uuid.NewString, Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil))}
	d := newDoor(env, []api.Group{{Name: "root"}}, func(api.Group) function {
		return function{invoke: func(_ context.Context, event events.APIGatewayProxyRequest) (a events.APIGatewayProxyResponse, err error) {
			id = event.RequestContext.RequestID
			return a, io.ErrUnexpectedEOF
		}}
	})
	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Equal(t, http.StatusBadGateway, answer.Code)
	require.Equal(t, id, answer.Header().Get("X-Request-Id"))
	require.Contains(t, log.String(), "request_id="+id)
}

// TestAClientThatHasGoneIsNoError of the service.
func TestAClientThatHasGoneIsNoError(t *testing.T) {
	var log bytes.Buffer
	env := api.Env{NewID: uuid.NewString, Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil))}
	d := newDoor(env, []api.Group{{Name: "root"}}, func(api.Group) function {
		return function{invoke: func(ctx context.Context, _ events.APIGatewayProxyRequest) (a events.APIGatewayProxyResponse, err error) {
			<-ctx.Done()
			return a, ctx.Err()
		}}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	require.Empty(t, log.String())
}
