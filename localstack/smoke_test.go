package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/cloud/target"
)

// TestSmokeNeedsADeployedRegion: there is no default, since the checks create records.
func TestSmokeNeedsADeployedRegion(t *testing.T) {
	smoke := func(args ...string) error {
		c := command()
		c.SetArgs(append([]string{"smoke"}, args...))
		return c.ExecuteContext(t.Context())
	}
	t.Setenv(target.Env, "")
	require.ErrorContains(t, smoke(), "no deployed service: set LECTERN_DEPLOYED")
	file := filepath.Join(t.TempDir(), "deployed.json")
	// Nothing listens there.
	require.NoError(t, target.Regions{"eu": {URL: "http://127.0.0.1:9", Operator: "lectern-eu-operator", AWSRegion: "eu-central-1",
		Endpoint: "http://127.0.0.1:9"}}.Write(file))
	t.Setenv(target.Env, file)
	require.ErrorContains(t, smoke("--region", "us"), "does not say where the region us is")
	require.ErrorContains(t, smoke("--region", "eu", "--config", "../cdk.json"), "prepare the organization")
}
