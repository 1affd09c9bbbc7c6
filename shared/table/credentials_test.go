package table_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/table"
)

// TestWhoseCredentialsALocalEngineIsSent: the role's from within a function, and
// never those that a developer's environment holds.
func TestWhoseCredentialsALocalEngineIsSent(t *testing.T) {
	seen := make(chan http.Header, 1)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header
		w.WriteHeader(http.StatusBadRequest)
	}))
	t.Cleanup(door.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIAOWN")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_SESSION_TOKEN", "session")
	for function, want := range map[string][2]string{"": {"Credential=local/"}, "lectern-us-events": {"Credential=AKIAOWN/", "session"}} {
		t.Setenv("AWS_LAMBDA_FUNCTION_NAME", function)
		client, err := table.Open(t.Context(), table.Config{Endpoint: door.URL, Region: region})
		require.NoError(t, err)
		_, err = table.New(client, "any").Get(t.Context(), key("a"))
		require.Error(t, err)
		header := <-seen
		require.Contains(t, header.Get("Authorization"), want[0])
		require.Equal(t, want[1], header.Get("X-Amz-Security-Token"))
	}
}
