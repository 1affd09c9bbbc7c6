package stack

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions"
	"lectern/shared/api"
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

	new(door).refuse(ofDoor, "id", apierr.NotFound("Route"))
	want := ofService.Header()
	require.NotEmpty(t, want.Get("Content-Security-Policy"))
	want.Del("Content-Security-Policy")
	require.Equal(t, want, ofDoor.Header())
	require.JSONEq(t, ofService.Body.String(), ofDoor.Body.String())
}
