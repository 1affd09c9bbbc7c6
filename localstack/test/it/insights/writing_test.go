package insights_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions/insights"
	"lectern/localstack/test/it"
	"lectern/shared/api"
)

// TestMain starts a language model for the tests of written queries: the client of the service finds it by the environment. The model
// answers with the last message of the user.
func TestMain(m *testing.M) {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Messages []struct{ Content []struct{ Text string } }
		}
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &asked)
		content := asked.Messages[len(asked.Messages)-1].Content
		text, _ := json.Marshal(content[len(content)-1].Text)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"output": {"message": {"role": "assistant", "content": [{"text": `+string(text)+`}]}}, "stopReason": "end_turn"}`)
	}))
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": model.URL, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		if os.Getenv("LECTERN_DEPLOYED") == "" {
			_ = os.Setenv(name, value)
		}
	}
	code := m.Run()
	model.Close()
	os.Exit(code)
}

// TestWrittenQueries are those that the caller may run: a query about personal data is written for a caller who may see the data.
func TestWrittenQueries(t *testing.T) {
	a := newAsker(t)
	writing := &asker{it.ProgrammeOf(a.ServeGroup(insights.Group, func(env *api.Env) {
		env.QueryModel, env.QueryModelRegion = "maker.model-v1:0", "us-east-1"
	}))}
	masked := &asker{it.ProgrammeOf(writing.WithToken(a.NewToken(t, "read:insights")))}
	const (
		byTrack   = `{"query": "SELECT track.name FROM tracks", "explanation": "The tracks."}`
		byAddress = `{"query": "SELECT contact.id FROM contacts WHERE contact.email = 'ann@example.org'", "explanation": "Ann."}`
	)
	for _, path := range []string{a.EventPath("/insights/ai/generate"), "/v1/insights/ai/generate"} {
		write := func(by *asker, status int, prompt string, more ...object) it.Entity {
			return it.Entity(by.Call(t, status, http.MethodPost, path, it.Merged(object{"prompt": prompt}, more...)).JSON(t))
		}
		require.Equal(t, it.Entity{"query": "SELECT track.name FROM tracks", "explanation": "The tracks."}, write(writing, 200, byTrack))
		write(writing, 200, byTrack, object{"conversationHistory": []any{
			object{"role": "user", "content": "x"}, object{"role": "assistant", "content": "y"},
		}})
		written := write(writing, 200, byAddress).Text("query")
		require.Len(t, a.column(written), 1)
		require.Equal(t, "QUERY_NOT_WRITTEN", write(masked, 422, byAddress)["code"])
		require.Equal(t, "QUERY_NOT_WRITTEN", write(writing, 422, strings.Replace(byTrack, "track.name", "track.title", 1))["code"])
		require.Equal(t, "QUERY_NOT_WRITTEN", write(writing, 422, `{"query": "", "explanation": "There is no weather."}`)["code"])
		require.Equal(t, "QUERY_NOT_WRITTEN", write(writing, 422, "How are you?")["code"])
	}
}
