// Package clamdtest runs clamd, the daemon of ClamAV, for tests. The daemon finds Mark alone.
package clamdtest

import (
	"context"
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

// Mark is the text of the signature.
const Mark = "LECTERN-TEST-FILE-WITH-A-MARK"

const (
	// startTime limits the start of the daemon, stopTime its end.
	startTime, stopTime = time.Minute, 10 * time.Second
	// poll is the time between two looks for the socket.
	poll = 20 * time.Millisecond
)

// clamd is a running daemon.
type clamd struct {
	process *child.Process
	socket  string
}

func (c clamd) stop() { _ = c.process.Stop(stopTime) }

// answers reports whether the daemon takes connections.
func (c clamd) answers() bool {
	conn, err := new(net.Dialer).DialContext(context.Background(), "unix", c.socket)
	return err == nil && conn.Close() == nil
}

// Start runs a clamd with more lines of configuration until the end of the test. Start returns the path
// of the socket.
func Start(t *testing.T, more ...string) string {
	t.Helper()
	binary, dir := find(t), t.TempDir()
	socket, config := filepath.Join(dir, "socket"), filepath.Join(dir, "clamd.conf")
	signature := "Lectern.Test.Mark:0:*:" + hex.EncodeToString([]byte(Mark)) + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "test.ndb"), []byte(signature), 0o600))
	lines := append([]string{"Foreground yes", "LocalSocket " + socket, "DatabaseDirectory " + dir, "TemporaryDirectory " + dir}, more...)
	require.NoError(t, os.WriteFile(config, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	cmd := exec.Command(binary, "--config-file", config) //nolint:gosec,noctx // the end of the test stops the program
	output := child.NewOutput("")
	cmd.Stdout, cmd.Stderr = output, output
	process, err := child.Start(cmd)
	require.NoError(t, err)
	daemon := clamd{process, socket}
	t.Cleanup(daemon.stop)
	require.Eventually(t, daemon.answers, startTime, poll, "clamd did not start: %s", output)
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
