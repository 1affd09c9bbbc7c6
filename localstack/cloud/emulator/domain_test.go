package emulator

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/cloud/target"
)

// TestADoorAsksForItsDomain: the path, the query and the body pass the door unchanged, and the
// other region has a door of its own.
func TestADoorAsksForItsDomain(t *testing.T) {
	emulated := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, err = io.WriteString(w, r.Host+" "+r.RequestURI+" "+string(body))
		}
		if err != nil {
			panic(err)
		}
	}))
	t.Cleanup(emulated.Close)
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	e := At(emulated.URL)
	regions, err := e.AtDomains(t.Context(), App{Root: root}, target.Regions{"us": {Table: "lectern-us"}, "eu": {URL: "elsewhere"}})
	require.NoError(t, err)
	require.Equal(t, "lectern-us", regions["us"].Table)
	for name, host := range map[string]string{"us": "api.example.org", "eu": "eu.example.org"} {
		require.Equal(t, host, regions[name].Domain)
		got, err := post(t, regions[name].URL+"/v1/a%2Fb?c=d%20e")
		require.NoError(t, err)
		require.Equal(t, host+" /v1/a%2Fb?c=d%20e body", got)
	}
	require.NoError(t, e.Stop())
	_, err = post(t, regions["us"].URL)
	require.Error(t, err)
}

// post sends a body and returns the answer.
func post(t *testing.T, address string) (string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader("body"))
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}
