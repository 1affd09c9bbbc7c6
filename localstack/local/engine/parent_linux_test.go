package engine

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// envParent makes the test binary a parent: it starts an engine, prints its
// address, and waits to be killed.
const envParent = "LECTERN_TEST_ENGINE_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(envParent) == "" {
		os.Exit(m.Run())
	}
	e, err := Start(context.Background(), Config{InMemory: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, e.URL)
	time.Sleep(time.Hour)
}

func TestEngineDiesWithItsParent(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), envParent+"=1", EnvURL+"=")
	out, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	url := strings.TrimSpace(line)
	answers(t, url)
	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait() // killed
	require.Eventually(t, func() bool {
		connection, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err == nil {
			_ = connection.Close()
		}
		return err != nil
	}, 30*time.Second, time.Millisecond)
}
