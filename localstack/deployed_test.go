package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions/operator"
	"lectern/localstack/cloud/target"
	"lectern/localstack/content/seed"
	"lectern/localstack/local/datadir"
	"lectern/localstack/test/stacktest"
)

// runOn returns a function that runs commands with LECTERN_DEPLOYED naming
// regions.
func runOn(t *testing.T, regions target.Regions) func(args ...string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "deployed.json")
	require.NoError(t, regions.Write(file))
	return func(args ...string) (string, error) {
		return lecternWith(t, []string{target.Env + "=" + file}, args...).output()
	}
}

// TestWhatBelongsToOneServiceStaysThere: the demo reaches a deployed service when it is
// told to, and never with the seed of another one.
func TestWhatBelongsToOneServiceStaysThere(t *testing.T) {
	// Nothing listens there.
	one := target.Region{URL: "http://127.0.0.1:9", Operator: "lectern-us-operator", AWSRegion: "us-east-1", Endpoint: "http://127.0.0.1:9"}
	run := runOn(t, target.Regions{"eu": one})
	printed, err := run("demo", "--data", t.TempDir())
	require.Error(t, err)
	require.Contains(t, printed, datadir.ErrNotRunning.Error(), "it was not told to")
	printed, err = run("operator", "organization-show", "--region", "us")
	require.Error(t, err)
	require.Contains(t, printed, "does not say where the region us is")
	printed, err = run("operator", "organization-show", "--data", t.TempDir())
	require.Error(t, err)
	require.Contains(t, printed, "leave one of them out")

	data := t.TempDir()
	folder := filepath.Join(data, deployedName)
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "eu"), 0o700))
	require.NoError(t, os.WriteFile(seed.Path(folder, "eu"), []byte(`{"organization": 1, "event": 3, "token_id": 4, "token": "another's"}`), 0o600))
	other := stacktest.Start(t, stacktest.InRegion("eu"))
	one.URL = other.URL
	printed, err = runOn(t, target.Regions{"eu": one})("demo", "--deployed", "--data", data)
	require.Error(t, err)
	require.Contains(t, printed, "region eu answers 401 Unauthorized to the token of its seed.json")
}

// TestADeployedServiceMayHaveOneRegion, and its demo is made by one process at a time.
func TestADeployedServiceMayHaveOneRegion(t *testing.T) {
	s := stacktest.Start(t, stacktest.InRegion("eu"))
	s.Inside(t, "it stands for a deployed one")
	function := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		payload, err := io.ReadAll(r.Body)
		answer, failed := operator.New(s.Env(t)).Invoke(r.Context(), payload)
		if err = errors.Join(err, failed, json.NewEncoder(w).Encode(answer)); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	t.Cleanup(function.Close)
	data, run := t.TempDir(), runOn(t, target.Regions{"eu": {
		URL: s.URL, Operator: "lectern-eu-operator", AWSRegion: "eu-central-1", Endpoint: function.URL}})
	folder := filepath.Join(data, deployedName)
	for range 2 {
		printed, err := run("demo", "--deployed", "--data", data)
		require.NoError(t, err, printed)
		require.Contains(t, printed, "shell variables: . "+filepath.Join(folder, datadir.EnvName))
	}
	text, err := os.ReadFile(filepath.Join(folder, datadir.EnvName))
	require.NoError(t, err)
	require.Contains(t, string(text), "LECTERN_EU_URL="+s.URL+"\n")
	require.NotContains(t, string(text), "LECTERN_US_")
	printed, err := run("operator", "organization-list", "--region", "eu", "--json", "{bad")
	require.Error(t, err)
	require.Contains(t, printed, "VALIDATION_ERROR")

	held, err := datadir.Lock(folder)
	require.NoError(t, err)
	defer held.Close()
	printed, err = run("demo", "--deployed", "--data", data)
	require.Error(t, err)
	require.Contains(t, printed, "another lectern runs on "+folder)

	printed, err = runOn(t, target.Regions{})("demo", "--deployed", "--data", t.TempDir())
	require.Error(t, err)
	require.Contains(t, printed, "names no region")
}

// TestTestsCallEmulatorsAlone, since they make records and change roles.
func TestTestsCallEmulatorsAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deployed.json")
	require.NoError(t, target.Regions{"us": {URL: "https://api.example.org", Operator: "lectern-us-operator", AWSRegion: "us-east-1"}}.Write(file))
	t.Setenv(target.Env, file)
	_, err := target.Emulated()
	require.ErrorContains(t, err, "of an account")
}
