package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/cloud/target"
)

// envProgram makes the test binary this program, or the part of it that runs the command
// of its arguments, with the folder for its file.
const envProgram = "LECTERN_TEST_DEPLOY"

func TestMain(m *testing.M) {
	switch folder := os.Getenv(envProgram); folder {
	case "":
		os.Exit(m.Run())
	case "main":
		main()
	default:
		ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		_, err := options{command: os.Args[1:]}.against(ctx, target.Regions{}, filepath.Join(folder, "deployed.json"))
		fmt.Fprintln(os.Stderr, err)
	}
}

// running is a process that runs a command, which has said that it has started.
type running struct {
	*exec.Cmd
	out    *os.File
	stderr bytes.Buffer
}

func start(t *testing.T, script string) *running {
	t.Helper()
	out, in, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, out.Close()) })
	p := &running{Cmd: exec.Command(os.Args[0], "sh", "-c", script), out: out}
	p.Env = append(os.Environ(), envProgram+"="+t.TempDir())
	p.Stdout, p.Stderr = in, &p.stderr
	require.NoError(t, p.Start())
	require.NoError(t, in.Close())
	require.NoError(t, out.SetReadDeadline(time.Now().Add(30*time.Second)))
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "started\n", line)
	return p
}

// silent waits until nobody is left who could write to the process's output.
func (p *running) silent(t *testing.T) {
	t.Helper()
	_, err := io.ReadAll(p.out)
	require.NoError(t, err)
}

func TestACommandEndsWithAllItHasStarted(t *testing.T) {
	p := start(t, "sleep 60 & echo started; wait")
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	p.silent(t)
	require.NoError(t, p.Wait())
	require.Contains(t, p.stderr.String(), "sh was ended: terminated")
}

// TestOnlyTheCommandsOwnStatusIsNoError: what else fails is told.
func TestOnlyTheCommandsOwnStatusIsNoError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deployed.json")
	against := func(command ...string) (int, error) {
		return options{command: command}.against(t.Context(), target.Regions{}, file)
	}
	for _, want := range []int{0, 3} {
		status, err := against("sh", "-c", fmt.Sprintf(`test "$%s" = "%s" && exit %d`, target.Env, file, want))
		require.NoError(t, err)
		require.Equal(t, want, status)
	}
	_, err := against("sh", "-c", "kill -9 $$")
	require.ErrorContains(t, err, "sh: signal: killed")
	_, err = against(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)

	// There is no CDK app in this folder.
	cmd := exec.Command(os.Args[0], "-endpoint", "http://127.0.0.1:9", "-out", t.TempDir(), "true")
	cmd.Env = append(os.Environ(), envProgram+"=main")
	said, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, 1, cmd.ProcessState.ExitCode())
	require.Contains(t, string(said), "deploy: emulator: open ")
}
