// Package clamdtest runs clamd, the daemon of ClamAV, for tests. The daemon has one signature, which
// finds Mark.
package clamdtest

import (
	"encoding/hex"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/child"
)

// Mark is the text that the signature finds, anywhere in a file.
const Mark = "LECTERN-TEST-FILE-WITH-A-MARK"

const (
	// startTime limits the start of the daemon, stopTime its end.
	startTime, stopTime = time.Minute, 10 * time.Second
	// poll is the time between two looks for the socket.
	poll = 20 * time.Millisecond
)

// Start runs a clamd with more lines of configuration until the end of the test. It returns the
// path of the socket.
func Start(t *testing.T, more ...string) string {
	t.Helper()
	binary := find(t)
	dir, err := os.MkdirTemp("", "clamd") //nolint:usetesting // the path of a socket has at most 108 bytes
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, config := filepath.Join(dir, "socket"), filepath.Join(dir, "clamd.conf")
	signature := "Lectern.Test.Mark:0:*:" + hex.EncodeToString([]byte(Mark)) + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "test.ndb"), []byte(signature), 0o600))
	lines := append([]string{"Foreground yes", "LocalSocket " + socket, "DatabaseDirectory " + dir, "TemporaryDirectory " + dir}, more...)
	require.NoError(t, os.WriteFile(config, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	cmd := exec.Command(binary, "--config-file", config) //nolint:gosec,noctx // the program of the project, which the end of the test stops
	output := child.NewOutput("")
	cmd.Stdout, cmd.Stderr = output, output
	daemon, err := child.Start(cmd)
	require.NoError(t, err)
	t.Cleanup(func() { _ = daemon.Stop(stopTime) })
	require.Eventually(t, func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "unix", socket)
		return err == nil && conn.Close() == nil
	}, startTime, poll, "clamd did not start: %s", output)
	return socket
}

// find returns the program. A machine without clamd leaves the test out.
func find(t *testing.T) string {
	t.Helper()
	binary, ok := child.Find(filepath.Join(".local", "clamav", "clamd"))
	if !ok {
		t.Skip("clamd is not installed (make clamav): the test is left out") //nolint:forbidigo // the test runs where clamd is
	}
	return binary
}
