package stack

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/stretchr/testify/require"

	"lectern/shared/api"
)

// TestADoorWithAStage passes the path without the stage, and the whole path in the context, as
// API Gateway does. It answers other paths itself.
func TestADoorWithAStage(t *testing.T) {
	var got *events.APIGatewayProxyRequest
	env := api.Env{Now: time.Now, NewID: func() string { return "id" }, Log: slog.New(slog.DiscardHandler)}
	d := newDoor(env, []api.Group{{Name: "root"}}, func(api.Group) function {
		return function{invoke: func(_ context.Context, r events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
			got = &r
			return events.APIGatewayProxyResponse{StatusCode: http.StatusNoContent}, nil
		}}
	})
	server := httptest.NewServer(d)
	defer server.Close()
	for _, c := range []struct{ stage, sent, path, inContext string }{
		{"", "/", "/", "local"},
		{"", "/live/docs", "/live/docs", "local"},
		{"live", "/live", "/", "live"},
		{"live", "/live/", "/", "live"},
		{"live", "/live/a%2Fb?x=1", "/a%2Fb", "live"},
		{"live", "/live/live", "/live", "live"},
	} {
		got, d.stage = nil, c.stage
		status, _ := read(t, server.URL+c.sent)
		require.Equal(t, http.StatusNoContent, status, c.sent)
		require.Equal(t, c.path, got.Path, c.sent)
		require.Equal(t, c.inContext, got.RequestContext.Stage, c.sent)
		want, _, _ := strings.Cut(c.sent, "?")
		require.Equal(t, want, got.RequestContext.Path, c.sent)
	}
	for _, sent := range []string{"/", "/docs", "/lively/docs", "/v1/live/docs", "/l%69ve/docs"} {
		got, d.stage = nil, "live"
		status, text := read(t, server.URL+sent)
		require.Equal(t, http.StatusForbidden, status, sent)
		require.Equal(t, `{"message":"Forbidden"}`, text, sent)
		require.Nil(t, got, sent)
	}
}

// read returns the status and the body of an answer to GET.
func read(t *testing.T, url string) (int, string) {
	t.Helper()
	answer, err := http.Get(url)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}
