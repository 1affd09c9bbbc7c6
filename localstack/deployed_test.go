package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/deployed"
)

// TestWhatBelongsToOneServiceStaysThere: the demo reaches a deployed service when it is
// told to, and never with the seed of another one.
func TestWhatBelongsToOneServiceStaysThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deployed.json")
	// Nothing listens there.
	one := deployed.Region{URL: "http://127.0.0.1:9", Operator: "lectern-us-operator", AWSRegion: "us-east-1", Endpoint: "http://127.0.0.1:9"}
	require.NoError(t, deployed.Regions{"eu": one}.Write(file))
	t.Setenv(deployed.Env, file)

	said, err := run(t, "demo", "--data", t.TempDir())
	require.Error(t, err)
	require.Contains(t, said, errNotRunning.Error(), "it was not told to")
	said, err = run(t, "demo", "--deployed", "--data", t.TempDir())
	require.Error(t, err)
	require.Contains(t, said, "does not say where the region us is")
	said, err = run(t, "operator", "organization-show", "--region", "us")
	require.Error(t, err)
	require.Contains(t, said, "does not say where the region us is")

	require.NoError(t, deployed.Regions{"us": one}.Write(file))
	data := t.TempDir()
	folder := filepath.Join(data, deployedName)
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "us"), 0o700))
	for _, service := range []string{"", "https://other.example.org/live"} {
		require.NoError(t, os.WriteFile(seedPath(folder, "us"), fmt.Appendf(nil, `{"organization": 1, "event": 3, "token_id": 4, "service": %q}`, service), 0o600))
		said, err = run(t, "demo", "--deployed", "--data", data)
		require.Error(t, err)
		require.Contains(t, said, "is of another service")
	}
	said, err = run(t, "operator", "organization-show", "--data", data)
	require.Error(t, err)
	require.Contains(t, said, "leave one of them out")
}

// TestTestsCallEmulatorsAlone, since they make records and change roles.
func TestTestsCallEmulatorsAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deployed.json")
	require.NoError(t, deployed.Regions{"us": {URL: "https://api.example.org", Operator: "lectern-us-operator", AWSRegion: "us-east-1"}}.Write(file))
	t.Setenv(deployed.Env, file)
	_, err := deployed.Emulated()
	require.ErrorContains(t, err, "of an account")
}
