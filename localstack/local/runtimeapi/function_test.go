package runtimeapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/stretchr/testify/require"

	"lectern/localstack/local/runtimeapi"
	"lectern/localstack/test/stacktest"
)

// order is what a test has the function do, and report what it did.
type order struct {
	Do, Text string
	Size     int
	Pause    time.Duration
}

type report struct {
	Text     string
	PID      int
	Together int32
	Left     time.Duration
}

// TestMain makes the test binary the function where a Runtime API is named.
func TestMain(m *testing.M) {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") == "" {
		os.Exit(m.Run())
	}
	beginOddly(os.Getenv("BEGIN"))
	var together atomic.Int32
	before := ""
	lambda.Start(func(ctx context.Context, o order) (report, error) {
		defer together.Add(-1)
		r := report{o.Text, os.Getpid(), together.Add(1), 0}
		if deadline, ok := ctx.Deadline(); ok {
			r.Left = time.Until(deadline)
		}
		own, _ := lambdacontext.FromContext(ctx)
		defer func() { before = own.AwsRequestID }()
		time.Sleep(o.Pause)
		switch o.Do {
		case "fail":
			return r, errors.New(o.Text)
		case "panic":
			panic(o.Text)
		case "exit":
			os.Exit(3)
		case "print and exit":
			fmt.Fprintln(os.Stdout, o.Text)
			os.Exit(3)
		case "print":
			fmt.Fprintln(os.Stdout, o.Text)
			fmt.Fprintln(os.Stderr, o.Text)
		case "answer twice":
			post("invocation/" + own.AwsRequestID + "/response")
		case "answer the one before":
			r.Text = ""
			for range 3 { // More than anyone could keep.
				r.Text += fmt.Sprint(post("invocation/"+before+"/response"), " ")
			}
		case "environment":
			r.Text = strings.Join(os.Environ(), "\n")
		case "grow":
			r.Text = strings.Repeat("x", o.Size)
		}
		return r, nil
	})
}

func start(t *testing.T, timeout time.Duration, env ...string) (*runtimeapi.Function, *stacktest.Log) {
	t.Helper()
	log := &stacktest.Log{}
	env = append(env, "OWN=1")
	f := runtimeapi.New(runtimeapi.Config{Name: "test", Binary: os.Args[0], Env: env, Timeout: timeout, Log: log})
	t.Cleanup(f.Close)
	return f, log
}

func do(f *runtimeapi.Function, o order) (r report, err error) {
	payload, err := json.Marshal(o)
	if err != nil {
		return r, err
	}
	answer, err := f.Invoke(context.Background(), payload)
	if err != nil {
		return r, err
	}
	err = json.Unmarshal(answer, &r)
	return r, err
}

func TestAProcessServesOneRequestAfterTheOther(t *testing.T) {
	f, _ := start(t, time.Minute)
	require.Empty(t, f.PIDs(), "none runs before it is asked")
	first, err := do(f, order{Text: "a"})
	require.NoError(t, err)
	require.Equal(t, "a", first.Text)
	require.InDelta(t, time.Minute, first.Left, float64(10*time.Second))
	second, err := do(f, order{Text: "b"})
	require.NoError(t, err)
	require.Equal(t, first.PID, second.PID)
}

func TestRequestsSideBySideHaveAProcessEach(t *testing.T) {
	f, _ := start(t, time.Minute)
	var wg sync.WaitGroup
	pids := make([]int, 40)
	for i := range pids {
		wg.Go(func() {
			r, err := do(f, order{Text: fmt.Sprint(i), Pause: 20 * time.Millisecond})
			if err != nil || r.Together != 1 || r.Text != fmt.Sprint(i) {
				t.Errorf("%+v %v", r, err)
			}
			pids[i] = r.PID
		})
	}
	wg.Wait()
	different := map[int]bool{}
	for _, pid := range pids {
		different[pid] = true
	}
	require.Greater(t, len(different), 1)
	require.LessOrEqual(t, len(different), 16)
}

func TestAFailureLeavesTheProcess(t *testing.T) {
	f, _ := start(t, time.Minute)
	before, err := do(f, order{})
	require.NoError(t, err)
	_, err = do(f, order{Do: "fail", Text: "no luck"})
	require.ErrorContains(t, err, "no luck")
	after, err := do(f, order{})
	require.NoError(t, err)
	require.Equal(t, before.PID, after.PID)
}

func TestAProcessThatDiesIsReplaced(t *testing.T) {
	for _, how := range []order{{Do: "panic", Text: "oh"}, {Do: "exit"}, {Pause: time.Minute}} {
		f, _ := start(t, 2*time.Second)
		before, err := do(f, order{})
		require.NoError(t, err)
		_, err = do(f, how)
		require.Error(t, err, how)
		after, err := do(f, order{})
		require.NoError(t, err, how)
		require.NotEqual(t, before.PID, after.PID, how)
		require.ErrorIs(t, syscall.Kill(before.PID, 0), syscall.ESRCH, "nothing of it is left")
	}
}

func TestPayloadsHaveTheLimitOfALambda(t *testing.T) {
	f, _ := start(t, time.Minute)
	_, err := do(f, order{Text: strings.Repeat("x", runtimeapi.MaxPayload)})
	require.ErrorIs(t, err, runtimeapi.ErrTooLarge)
	require.Empty(t, f.PIDs(), "it was not asked")
	_, err = do(f, order{Do: "grow", Size: runtimeapi.MaxPayload})
	require.ErrorIs(t, err, runtimeapi.ErrTooLarge)
	r, err := do(f, order{Do: "grow", Size: runtimeapi.MaxPayload - 200})
	require.NoError(t, err)
	require.Len(t, r.Text, runtimeapi.MaxPayload-200)
}

func TestAFunctionKnowsItsOwnEnvironmentOnly(t *testing.T) {
	f, log := start(t, time.Minute)
	r, err := do(f, order{Do: "environment"})
	require.NoError(t, err)
	require.Contains(t, r.Text, "OWN=1")
	require.Contains(t, r.Text, "AWS_LAMBDA_FUNCTION_NAME=test")
	require.NotContains(t, r.Text, "HOME=")
	_, err = do(f, order{Do: "print", Text: "a line"})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return strings.Count(log.String(), "a line\n") == 2 }, 10*time.Second, time.Millisecond)
}

func TestAFunctionThatCannotStart(t *testing.T) {
	missing := runtimeapi.New(runtimeapi.Config{Name: "test", Binary: "/nowhere", Timeout: time.Minute, Log: &stacktest.Log{}})
	_, err := do(missing, order{})
	require.ErrorContains(t, err, "/nowhere")
	ends := runtimeapi.New(runtimeapi.Config{Name: "test", Binary: "/bin/true", Timeout: time.Minute, Log: &stacktest.Log{}})
	_, err = do(ends, order{})
	require.ErrorContains(t, err, "ended")
}

func TestAFunctionThatWasClosedHasNoProcesses(t *testing.T) {
	f, _ := start(t, time.Minute)
	r, err := do(f, order{})
	require.NoError(t, err)
	f.Close()
	require.ErrorIs(t, syscall.Kill(r.PID, 0), syscall.ESRCH)
	_, err = do(f, order{})
	require.ErrorContains(t, err, "closed")
}
