package runtimeapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/runtimeapi"
)

// beginOddly is what a function does before it serves, where a test says so.
func beginOddly(how string) {
	switch how {
	case "slowly":
		time.Sleep(slow)
	case "not at all":
		post("init/error")
		time.Sleep(time.Minute)
	case "to leave":
		answerAndLeave()
	}
}

// slow is how long a slow function takes to start.
const slow = time.Second

// post sends what is no answer of the test's own and gives the status, 0 for none.
func post(what string) int {
	url := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/" + what
	answer, err := http.Post(url, "application/json", strings.NewReader(`"no luck"`))
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// answerAndLeave answers one event and ends without reading what is said to that.
func answerAndLeave() {
	const root = "/2018-06-01/runtime/invocation/"
	c, err := net.Dial("tcp", os.Getenv("AWS_LAMBDA_RUNTIME_API"))
	if err != nil {
		os.Exit(4)
	}
	fmt.Fprintf(c, "GET %snext HTTP/1.1\r\nHost: x\r\n\r\n", root)
	event, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		os.Exit(5)
	}
	const body = `{"Text":"left"}`
	_, _ = io.Copy(io.Discard, event.Body)
	event.Body.Close()
	fmt.Fprintf(c, "POST %s%s/response HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s",
		root, event.Header.Get("Lambda-Runtime-Aws-Request-Id"), len(body), body)
	os.Exit(0)
}

// kill kills a process as the system does that has no memory left, and does not wait.
func kill(t *testing.T, f *runtimeapi.Function, pid int) {
	t.Helper()
	require.Contains(t, f.PIDs(), pid, "it is idle")
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

// TestAProcessThatWasKilledIdleIsNotMissed at any of the moments at which an invocation
// finds it dying, dead, or gone.
func TestAProcessThatWasKilledIdleIsNotMissed(t *testing.T) {
	f, _ := start(t, time.Minute)
	before, err := do(f, order{})
	require.NoError(t, err)
	for i := range 8 {
		kill(t, f, before.PID)
		time.Sleep(time.Duration(i/2) * 100 * time.Microsecond)
		after, err := do(f, order{Text: strings.Repeat("a", i%2*runtimeapi.MaxPayload/2)})
		require.NoError(t, err)
		require.NotEqual(t, before.PID, after.PID)
		before = after
	}
}

// TestAProcessThatDiesAtWorkIsNotAskedAgain: what it has done is not known.
func TestAProcessThatDiesAtWorkIsNotAskedAgain(t *testing.T) {
	f, log := start(t, time.Minute)
	for range 20 {
		_, err := do(f, order{})
		require.NoError(t, err)
		_, err = do(f, order{Do: "print and exit", Text: "begun"})
		require.ErrorContains(t, err, "ended while it worked: exit status 3")
	}
	require.Equal(t, 20, strings.Count(log.String(), "begun"))
}

// TestNothingIsLeftOfProcessesThatDiedIdle, no matter how many there were.
func TestNothingIsLeftOfProcessesThatDiedIdle(t *testing.T) {
	f, _ := start(t, time.Minute)
	r, err := do(f, order{})
	require.NoError(t, err)
	files, routines := open(), runtime.NumGoroutine()
	for range 20 {
		kill(t, f, r.PID)
		r, err = do(f, order{})
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool {
		return open() <= files+3 && runtime.NumGoroutine() <= routines+3
	}, 10*time.Second, 10*time.Millisecond, "a few may be on their way, but not one a process")
}

// open is how many files this process has open, or 0 where the system does not say.
func open() int {
	files, _ := os.ReadDir("/proc/self/fd")
	return len(files)
}

// TestTheTimeOfAFunctionBeginsWithTheEvent, not with the start of its process.
func TestTheTimeOfAFunctionBeginsWithTheEvent(t *testing.T) {
	f, _ := start(t, 2*slow, "BEGIN=slowly")
	r, err := do(f, order{Pause: slow + slow/4})
	require.NoError(t, err)
	require.Greater(t, r.Left, slow+slow/4)
}

func TestAProcessThatReportsThatItCannotStartIsEnded(t *testing.T) {
	f, _ := start(t, time.Minute, "BEGIN=not at all")
	for range 2 {
		_, err := do(f, order{})
		require.ErrorContains(t, err, "failed to start")
		require.ErrorContains(t, err, "no luck")
		require.Empty(t, f.PIDs(), "it serves nothing")
	}
}

func TestAnAnswerCountsThoughItsProcessHasEnded(t *testing.T) {
	f, _ := start(t, time.Minute, "BEGIN=to leave")
	for range 40 {
		r, err := do(f, order{})
		require.NoError(t, err)
		require.Equal(t, "left", r.Text)
	}
}

// TestACallerThatStopsWaitingLeavesTheInvocation to its end.
func TestACallerThatStopsWaitingLeavesTheInvocation(t *testing.T) {
	f, log := start(t, time.Minute)
	_, err := do(f, order{})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err = f.Invoke(ctx, []byte(`{"Do":"print","Text":"at its end","Pause":1000000000}`))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(began), time.Second)
	require.Empty(t, f.PIDs(), "it works")
	require.Eventually(t, func() bool {
		return len(f.PIDs()) == 1 && strings.Contains(log.String(), "at its end")
	}, 10*time.Second, 10*time.Millisecond)
}

// TestASecondAnswerIsNotTheNextInvocations, whenever it comes.
func TestASecondAnswerIsNotTheNextInvocations(t *testing.T) {
	f, _ := start(t, time.Minute)
	for range 20 {
		_, _ = do(f, order{Do: "answer twice"}) // The first answer is none of the test's own.
		r, err := do(f, order{Text: "mine"})
		require.NoError(t, err)
		require.Equal(t, "mine", r.Text)
		for range 3 {
			r, err := do(f, order{Do: "answer the one before"})
			require.NoError(t, err)
			require.Equal(t, "400 400 400 ", r.Text, "all are refused, and its own is not")
		}
	}
}
