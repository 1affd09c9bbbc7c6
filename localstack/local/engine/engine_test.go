package engine

import (
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// start starts an engine as a child, also where the environment names another.
func start(t *testing.T, c Config) *Engine {
	t.Helper()
	t.Setenv(EnvURL, "")
	e, err := Start(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Stop()) })
	return e
}

func answers(t *testing.T, url string) {
	t.Helper()
	answer, err := http.Get(url)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
}

// gone is whether no process with the id runs any more.
func gone(pid int) func() bool {
	return func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH }
}

func TestStartAnswersUntilStop(t *testing.T) {
	for name, end := range map[string]func(*Engine) error{"stop": (*Engine).Stop, "kill": (*Engine).Kill} {
		t.Run(name, func(t *testing.T) {
			e := start(t, Config{Dir: filepath.Join(t.TempDir(), "new")})
			answers(t, e.URL)
			require.NoError(t, end(e))
			require.True(t, gone(e.PID())())
			_, err := net.Dial("tcp", strings.TrimPrefix(e.URL, "http://"))
			require.Error(t, err)
			require.NoError(t, end(e), "ending twice is nothing")
		})
	}
}

func TestStartAgainOnTheSamePortAndData(t *testing.T) {
	dir := t.TempDir()
	first := start(t, Config{Dir: dir})
	port, err := strconv.Atoi(first.URL[strings.LastIndex(first.URL, ":")+1:])
	require.NoError(t, err)
	require.NoError(t, first.Kill())
	second := start(t, Config{Dir: dir, Port: port})
	require.Equal(t, first.URL, second.URL)
	answers(t, second.URL)
}

func TestTakenPortIsAnError(t *testing.T) {
	t.Setenv(EnvURL, "")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	_, err = Start(t.Context(), Config{InMemory: true, Port: listener.Addr().(*net.TCPAddr).Port})
	require.ErrorIs(t, err, errTaken)
}

func TestManyStartAtOnce(t *testing.T) {
	t.Setenv(EnvURL, "")
	var mu sync.Mutex
	urls := map[string]bool{}
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			e, err := Start(t.Context(), Config{InMemory: true})
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { require.NoError(t, e.Stop()) })
			mu.Lock()
			defer mu.Unlock()
			urls[e.URL] = true
		})
	}
	all.Wait()
	require.Len(t, urls, 12)
}

func TestNamedEngineIsUsed(t *testing.T) {
	t.Setenv(EnvURL, "http://127.0.0.1:9")
	e, err := Start(t.Context(), Config{})
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:9", e.URL)
	require.Zero(t, e.PID())
	require.NoError(t, e.Stop())
	require.NoError(t, e.Kill())
}

func TestNoEngineSaysWhatToDo(t *testing.T) {
	t.Setenv(EnvURL, "")
	t.Chdir(t.TempDir())
	_, err := Start(t.Context(), Config{InMemory: true})
	require.ErrorContains(t, err, "npm ci")
	require.ErrorContains(t, err, EnvURL)
	require.ErrorContains(t, err, EnvBinary)
}

func TestNotAnEngineIsAnError(t *testing.T) {
	t.Setenv(EnvURL, "")
	t.Setenv(EnvBinary, "/bin/false")
	_, err := Start(t.Context(), Config{InMemory: true})
	require.ErrorContains(t, err, "it ended at once")
	_, err = Start(t.Context(), Config{})
	require.ErrorContains(t, err, "neither a directory")
}
