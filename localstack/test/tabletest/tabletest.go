// Package tabletest gives the tests of record packages a table on the real engine. Tests of
// the whole service start a region instead (stacktest).
package tabletest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/engine"
	"lectern/shared/table"
)

const tableName = "lectern"

// Start creates an empty table on an engine in memory. The engine stops when the test ends.
func Start(t testing.TB) *table.Table {
	t.Helper()
	return table.New(client(t), tableName)
}

// Behind creates a table as Start does, with a door before the engine.
func Behind(t testing.TB, door func(table.Client) table.Client) *table.Table {
	t.Helper()
	return table.New(door(client(t)), tableName)
}

// client starts an engine with an empty table and returns a client of that engine.
func client(t testing.TB) table.Client {
	t.Helper()
	e, err := engine.Start(t.Context(), engine.Config{InMemory: true})
	require.NoError(t, err)
	t.Cleanup(started{t, e}.stop)
	client, err := table.Open(t.Context(), table.Config{Endpoint: e.URL, Region: "us-east-1"})
	require.NoError(t, err)
	require.NoError(t, table.Create(t.Context(), client, tableName))
	return client
}

// started is the engine of a test.
type started struct {
	t      testing.TB
	engine *engine.Engine
}

func (s started) stop() { require.NoError(s.t, s.engine.Stop()) }
