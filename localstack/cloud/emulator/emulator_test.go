package emulator

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// envMinistack makes the test binary a ministack, as far as a start sees one: it says a
// port that is not free and ends, or answers at its health path. Where it names a folder,
// the first one to run makes it and finds its port taken.
const envMinistack = "LECTERN_TEST_EMULATOR"

func TestMain(m *testing.M) {
	folder, ministack := os.LookupEnv(envMinistack)
	if !ministack {
		os.Exit(m.Run())
	}
	address := net.JoinHostPort(os.Getenv("BIND_HOST"), os.Getenv("GATEWAY_PORT"))
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
	if err != nil || folder != "" && os.Mkdir(folder, 0o700) == nil {
		fmt.Fprintf(os.Stderr, "ERROR: %s is already in use.\n", address)
		os.Exit(1)
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("TMPDIR"), "unpacked"), nil, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	http.HandleFunc("GET "+health, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"edition": %q}`, os.Getenv("MINISTACK_EDITION"))
	})
	fmt.Fprintln(os.Stderr, http.Serve(listener, nil))
	os.Exit(1)
}

// TestStartTriesAnotherPortAndStopLeavesNothing also finds what one that was killed has
// left.
func TestStartTriesAnotherPortAndStopLeavesNothing(t *testing.T) {
	dir, first := t.TempDir(), filepath.Join(t.TempDir(), "first")
	t.Setenv(envMinistack, first)
	left := filepath.Join(dir, temporaryName, "left")
	require.NoError(t, os.MkdirAll(left, 0o700))
	e, err := Start(t.Context(), os.Args[0], dir)
	require.NoError(t, err)
	require.DirExists(t, first, "no port was taken")
	require.NoDirExists(t, left)
	require.FileExists(t, filepath.Join(dir, temporaryName, "unpacked"))
	require.NoError(t, e.Stop())
	require.NoDirExists(t, filepath.Join(dir, temporaryName))
	require.NoError(t, e.Stop(), "ending twice is nothing")
}

// TestAnAnswerOfAnotherProcessIsNotTheEmulators has another ministack on the port, as far as
// its answers tell, and one that answers all but that.
func TestAnAnswerOfAnotherProcessIsNotTheEmulators(t *testing.T) {
	t.Setenv(envMinistack, "")
	for name, status := range map[string]int{"another ministack": 200, "anything": 404} {
		t.Run(name, func(t *testing.T) {
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				fmt.Fprint(w, `{"edition": "light"}`)
			}))
			t.Cleanup(other.Close)
			port, err := strconv.Atoi(other.URL[strings.LastIndex(other.URL, ":")+1:])
			require.NoError(t, err)
			dir := t.TempDir()
			_, err = run(t.Context(), os.Args[0], dir, dir, port)
			require.ErrorIs(t, err, errTaken)
			require.ErrorContains(t, err, "it ended: exit status 1")
			require.ErrorContains(t, err, "is already in use.")
		})
	}
}

func TestNotAnEmulatorIsAnError(t *testing.T) {
	dir := t.TempDir()
	program, err := exec.LookPath("false")
	require.NoError(t, err)
	_, err = Start(t.Context(), program, dir)
	require.ErrorContains(t, err, "it ended: exit status 1")
	require.NoDirExists(t, filepath.Join(dir, temporaryName))
}
