// Package tabletest gives the tests of record packages a table on the real
// engine. Tests of the whole service start a stack instead (stacktest).
package tabletest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/engine"
	"lectern/shared/table"
)

// Start gives an empty table on an engine in memory, which ends with the test.
func Start(t testing.TB) *table.Table {
	t.Helper()
	return Behind(t, func(c table.Client) table.Client { return c })
}

// Behind is Start with a door that the table's calls go through.
func Behind(t testing.TB, door func(table.Client) table.Client) *table.Table {
	t.Helper()
	e, err := engine.Start(t.Context(), engine.Config{InMemory: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Stop()) })
	client, err := table.Open(t.Context(), table.Config{Endpoint: e.URL, Region: "us-east-1"})
	require.NoError(t, err)
	const name = "lectern"
	require.NoError(t, table.Create(t.Context(), client, name))
	return table.New(door(client), name)
}
