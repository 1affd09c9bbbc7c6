package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPreflightEndsWithAnErrorOnlyIfACheckFailed: a warning leaves the decision to the reader.
func TestPreflightEndsWithAnErrorOnlyIfACheckFailed(t *testing.T) {
	account := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/account" {
			_, _ = io.WriteString(w, `{"throttleSettings": {"rateLimit": 10000, "burstLimit": 5000}}`)
			return
		}
		_, _ = io.WriteString(w, `{"AccountLimit": {"ConcurrentExecutions": 10, "UnreservedConcurrentExecutions": 10}}`)
	}))
	t.Cleanup(account.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": account.URL, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_PROFILE": "",
	} {
		t.Setenv(name, value)
	}
	config := filepath.Join(t.TempDir(), "cdk.json")
	for context, failure := range map[string]string{
		`{}`:                          "",
		`{"cloudWatchRole": false}`:   "the account is not ready, checks failed: 1",
		`{"reservedConcurrency": 10}`: "the account is not ready, checks failed: 1",
	} {
		require.NoError(t, os.WriteFile(config, []byte(`{"context": `+context+`}`), 0o600))
		var out strings.Builder
		c := command()
		c.SetOut(&out)
		c.SetArgs([]string{"preflight", "--region", "eu", "--config", config})
		err := c.ExecuteContext(t.Context())
		require.True(t, strings.HasPrefix(out.String(), "eu in eu-central-1\n"), out.String())
		if failure == "" {
			require.NoError(t, err)
			require.Contains(t, out.String(), "\nwarning  concurrent executions: the account has 10, 10 of them unreserved: ")
			continue
		}
		require.EqualError(t, err, failure)
		require.Contains(t, out.String(), "\nfailed   ")
	}
	c := command()
	c.SetArgs([]string{"preflight", "--config", config + ".not"})
	require.ErrorIs(t, c.ExecuteContext(t.Context()), os.ErrNotExist)
}
