package bedrock_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/api"
	"lectern/shared/insight/writer"
	"lectern/shared/insight/writer/bedrock"
)

func TestARegionWithoutAModelHasNone(t *testing.T) {
	require.Nil(t, bedrock.New(api.Env{QueryModelRegion: "us-east-1"}))
}

// TestTheModelIsCalledInItsRegion, with the configuration of the environment.
func TestTheModelIsCalledInItsRegion(t *testing.T) {
	var path, signed string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, signed = r.URL.EscapedPath(), r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"output": {"message": {"role": "assistant", "content": [{"text": "A"}, {"text": "B"}]}}, "stopReason": "end_turn"}`)
	}))
	defer server.Close()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": server.URL, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1",
		"AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
	} {
		t.Setenv(name, value)
	}
	m := bedrock.New(api.Env{QueryModel: "maker.model-v1:0", QueryModelRegion: "us-west-2"})
	for range 2 {
		text, err := m.Answer(t.Context(), "system", []writer.Message{{Role: writer.RoleUser, Content: "Hello"}})
		require.NoError(t, err)
		require.Equal(t, "AB", text)
	}
	require.Equal(t, "/model/maker.model-v1%3A0/converse", path)
	require.Contains(t, signed, "/us-west-2/bedrock/aws4_request")
}
