package stack

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/stretchr/testify/require"

	"lectern/functions"
	"lectern/shared/api"
	"lectern/shared/api/server"
	"lectern/shared/apierr"
)

// TestARefusalAtTheDoorHasTheHeadersOfTheService: as the gateway's own answers on AWS, it
// has all of them but the policy for pages.
func TestARefusalAtTheDoorHasTheHeadersOfTheService(t *testing.T) {
	env := api.Env{Region: "us", Now: time.Now, NewID: func() string { return "id" }, Log: slog.New(slog.DiscardHandler)}
	root := functions.Groups[slices.IndexFunc(functions.Groups, func(g api.Group) bool { return g.Name == "root" })]
	ofService, ofDoor := httptest.NewRecorder(), httptest.NewRecorder()
	root.Handler(env).ServeHTTP(ofService, httptest.NewRequest(http.MethodGet, "/nothing", http.NoBody))
	require.Equal(t, http.StatusNotFound, ofService.Code)

	server.Refuse(ofDoor, "id", apierr.NotFound("Route"))
	want := ofService.Header()
	require.NotEmpty(t, want.Get("Content-Security-Policy"))
	want.Del("Content-Security-Policy")
	require.Equal(t, want, ofDoor.Header())
	require.JSONEq(t, ofService.Body.String(), ofDoor.Body.String())
}

// TestTheDoorRenamesTheHeaderOfAFunctions401 as API Gateway does, however the function writes
// the name, and leaves every other header alone.
func TestTheDoorRenamesTheHeaderOfAFunctions401(t *testing.T) {
	for _, name := range []string{"WWW-Authenticate", "Www-Authenticate", "www-authenticate"} {
		env := api.Env{Now: time.Now, NewID: func() string { return "id" }, Log: slog.New(slog.DiscardHandler)}
		d := newDoor(env, []api.Group{{Name: "root"}}, func(api.Group) function {
			return function{invoke: func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
				return events.APIGatewayProxyResponse{
					StatusCode: http.StatusUnauthorized, MultiValueHeaders: map[string][]string{name: {"Bearer", "Basic"}, "Etag": {"1"}},
				}, nil
			}}
		})
		server := httptest.NewServer(d)
		answer, err := http.Get(server.URL)
		server.Close()
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, []string{"Bearer", "Basic"}, answer.Header.Values("x-amzn-Remapped-WWW-Authenticate"), name)
		require.Empty(t, answer.Header.Values("WWW-Authenticate"), name)
		require.Equal(t, "1", answer.Header.Get("ETag"), name)
	}
}
