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
	"lectern/localstack/deployed"
	"lectern/localstack/stacktest"
)

// where gives a way to run commands that end by themselves where LECTERN_DEPLOYED names
// the regions.
func where(t *testing.T, regions deployed.Regions) func(args ...string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "deployed.json")
	require.NoError(t, regions.Write(file))
	return func(args ...string) (string, error) {
		return lecternWith(t, []string{deployed.Env + "=" + file}, args...).said()
	}
}

// TestWhatBelongsToOneServiceStaysThere: the demo reaches a deployed service when it is
// told to, and never with the seed of another one.
func TestWhatBelongsToOneServiceStaysThere(t *testing.T) {
	// Nothing listens there.
	one := deployed.Region{URL: "http://127.0.0.1:9", Operator: "lectern-us-operator", AWSRegion: "us-east-1", Endpoint: "http://127.0.0.1:9"}
	run := where(t, deployed.Regions{"eu": one})
	said, err := run("demo", "--data", t.TempDir())
	require.Error(t, err)
	require.Contains(t, said, errNotRunning.Error(), "it was not told to")
	said, err = run("operator", "organization-show", "--region", "us")
	require.Error(t, err)
	require.Contains(t, said, "does not say where the region us is")
	said, err = run("operator", "organization-show", "--data", t.TempDir())
	require.Error(t, err)
	require.Contains(t, said, "leave one of them out")

	data := t.TempDir()
	folder := filepath.Join(data, deployedName)
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "eu"), 0o700))
	require.NoError(t, os.WriteFile(seedPath(folder, "eu"), []byte(`{"organization": 1, "event": 3, "token_id": 4, "token": "another's"}`), 0o600))
	other := stacktest.Start(t, stacktest.InRegion("eu"))
	one.URL = other.URL
	said, err = where(t, deployed.Regions{"eu": one})("demo", "--deployed", "--data", data)
	require.Error(t, err)
	require.Contains(t, said, "region eu answers 401 Unauthorized to the token of its seed.json")
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
	data, run := t.TempDir(), where(t, deployed.Regions{"eu": {
		URL: s.URL, Operator: "lectern-eu-operator", AWSRegion: "eu-central-1", Endpoint: function.URL}})
	folder := filepath.Join(data, deployedName)
	for range 2 {
		said, err := run("demo", "--deployed", "--data", data)
		require.NoError(t, err, said)
		require.Contains(t, said, "shell variables: . "+filepath.Join(folder, envName))
	}
	text, err := os.ReadFile(filepath.Join(folder, envName))
	require.NoError(t, err)
	require.Contains(t, string(text), "LECTERN_EU_URL="+s.URL+"\n")
	require.NotContains(t, string(text), "LECTERN_US_")
	said, err := run("operator", "organization-list", "--region", "eu", "--json", "{bad")
	require.Error(t, err)
	require.Contains(t, said, "VALIDATION_ERROR")

	held, err := claim(folder)
	require.NoError(t, err)
	defer held.Close()
	said, err = run("demo", "--deployed", "--data", data)
	require.Error(t, err)
	require.Contains(t, said, "another lectern runs on "+folder)

	said, err = where(t, deployed.Regions{})("demo", "--deployed", "--data", t.TempDir())
	require.Error(t, err)
	require.Contains(t, said, "names no region")
}

// TestTestsCallEmulatorsAlone, since they make records and change roles.
func TestTestsCallEmulatorsAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deployed.json")
	require.NoError(t, deployed.Regions{"us": {URL: "https://api.example.org", Operator: "lectern-us-operator", AWSRegion: "us-east-1"}}.Write(file))
	t.Setenv(deployed.Env, file)
	_, err := deployed.Emulated()
	require.ErrorContains(t, err, "of an account")
}
