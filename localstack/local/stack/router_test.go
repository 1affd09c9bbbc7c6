package stack

import (
	"context"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/stretchr/testify/require"

	"lectern/shared/api"
)

// named is a group that answers with its name.
func named(name string) function {
	return function{invoke: func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		return events.APIGatewayProxyResponse{Body: name}, nil
	}}
}

func TestRouter(t *testing.T) {
	r := router{rest: named("root")}
	for _, c := range [][3]string{
		{"GET", "/", "root"}, {"GET", "/v1/events", "events"}, {"POST", "/v1/event/{eventId}/sessions", "sessions"},
		{"GET", "/v1/event/{eventId}/sessions/{sessionId}", "sessions"}, {"POST", "/v1/event/{eventId}/sessions/create", "writes"},
		{"GET", "/v1/event/{eventId}/content/{kind}/last", "content"}, {"GET", "/v1/event/{eventId}/content/items/{id}", "items"},
	} {
		r.add(api.Operation{Method: c[0], Path: c[1]}, named(c[2]))
	}
	for _, c := range []struct {
		method, path, group, template string
		parameters                    map[string]string
	}{
		{"GET", "/", "root", "/", map[string]string{}},
		{"GET", "/v1/events", "events", "/v1/events", map[string]string{}},
		{"HEAD", "/v1/events", "events", "/v1/events", map[string]string{}},
		{"GET", "/v1/events/", "events", "/v1/events", map[string]string{}},
		{"GET", "/v1/event/7/content/x/last/", "content", "/v1/event/{eventId}/content/{kind}/last", map[string]string{"eventId": "7", "kind": "x"}},
		{"POST", "/v1/event/7/sessions", "sessions", "/v1/event/{eventId}/sessions", map[string]string{"eventId": "7"}},
		{"POST", "/v1/event/7/sessions/create", "writes", "/v1/event/{eventId}/sessions/create", map[string]string{"eventId": "7"}},
		{"GET", "/v1/event/7/sessions/a%20b", "sessions", "/v1/event/{eventId}/sessions/{sessionId}", map[string]string{"eventId": "7", "sessionId": "a b"}},
		{"GET", "/v1/event/7/content/items/last", "items", "/v1/event/{eventId}/content/items/{id}", map[string]string{"eventId": "7", "id": "last"}},
		{"GET", "/v1/event/7/content/x/last", "content", "/v1/event/{eventId}/content/{kind}/last", map[string]string{"eventId": "7", "kind": "x"}},
		// What is left goes to the root group: unknown paths, wrong methods, empty variables.
		{"POST", "/", "root", "/", nil},
		{"DELETE", "/v1/events", "root", "/{proxy+}", map[string]string{"proxy": "v1/events"}},
		{"GET", "/v1/events//", "root", "/{proxy+}", map[string]string{"proxy": "v1/events//"}},
		{"GET", "/v1/event//sessions/x", "root", "/{proxy+}", map[string]string{"proxy": "v1/event//sessions/x"}},
		{"OPTIONS", "/v1/events", "root", "/{proxy+}", map[string]string{"proxy": "v1/events"}},
	} {
		got := r.find(c.method, c.path)
		answer, err := got.group.invoke(t.Context(), events.APIGatewayProxyRequest{})
		require.NoError(t, err)
		require.Equal(t, c.group, answer.Body, "%s %s", c.method, c.path)
		require.Equal(t, c.template, got.template, "%s %s", c.method, c.path)
		require.Equal(t, c.parameters, got.parameters, "%s %s", c.method, c.path)
	}
}

func TestAnswersALambdaCannotSend(t *testing.T) {
	large := events.APIGatewayProxyResponse{StatusCode: http.StatusOK, Body: string(make([]byte, maxAnswer+1))}
	require.Error(t, write(nil, large))
	broken := events.APIGatewayProxyResponse{StatusCode: http.StatusOK, Body: "%", IsBase64Encoded: true}
	require.Error(t, write(nil, broken))
}
