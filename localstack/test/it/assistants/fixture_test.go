package assistants_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/granttest"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/auth"
)

type object = map[string]any

// assistant is an assistant of a member, with the library of a stranger.
type assistant struct {
	*it.Client
	granttest.Connector
	t       *testing.T
	token   string
	session *sdk.ClientSession
	tools   map[string]*sdk.Tool
}

// bearer sends each request with an access token.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// newAssistant connects an assistant to the region of d, with scopes; all without any.
func newAssistant(t *testing.T, d *it.Client, scopes ...auth.Scope) *assistant {
	t.Helper()
	if scopes == nil {
		scopes = auth.APIScopes
	}
	a := &assistant{Client: d, Connector: granttest.New(t, d.Stack), t: t, tools: map[string]*sdk.Tool{}}
	tokens, _ := a.Connect(a.Member(nil), scopes...)
	a.token = tokens.AccessToken
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: d.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer(a.token)}, DisableStandaloneSSE: true,
	}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, session.Close()) })
	a.session = session
	for tool, err := range session.Tools(t.Context(), nil) {
		require.NoError(t, err)
		a.tools[tool.Name] = tool
	}
	return a
}

// call calls a tool, and returns its answer, which has the schema of the tool.
func (a *assistant) call(tool string, args object) object {
	a.t.Helper()
	result := a.try(tool, args)
	require.False(a.t, result.IsError, "%s: %s", tool, said(result))
	answer, is := result.StructuredContent.(object)
	require.True(a.t, is, tool)
	a.conforms(tool, answer)
	require.JSONEq(a.t, said(result), string(mustJSON(a.t, answer)))
	return answer
}

// refused calls a tool that refuses the call, and returns what it says.
func (a *assistant) refused(tool string, args object) string {
	a.t.Helper()
	result := a.try(tool, args)
	require.True(a.t, result.IsError, "%s: %s", tool, said(result))
	require.Nil(a.t, result.StructuredContent)
	return said(result)
}

func (a *assistant) try(tool string, args object) *sdk.CallToolResult {
	a.t.Helper()
	result, err := a.session.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	require.NoError(a.t, err, tool)
	return result
}

// conforms checks an answer against the schema of its tool.
func (a *assistant) conforms(tool string, answer object) {
	a.t.Helper()
	var schema jsonschema.Schema
	require.NoError(a.t, json.Unmarshal(mustJSON(a.t, a.tools[tool].OutputSchema), &schema))
	resolved, err := schema.Resolve(nil)
	require.NoError(a.t, err, tool)
	require.NoError(a.t, resolved.Validate(answer), tool)
}

// said returns the text of a result.
func said(result *sdk.CallToolResult) string { return result.Content[0].(*sdk.TextContent).Text }

// read returns the text of a resource.
func (a *assistant) read(uri string) (string, error) {
	result, err := a.session.ReadResource(a.t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	return result.Contents[0].Text, nil
}

// first returns the first result of a list.
func first(answer object) object { return answer["results"].([]any)[0].(object) }

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}

// message returns a body with the headers of a client that speaks the protocol, and more headers.
func message(body any, headers ...string) any {
	return stacktest.WithHeaders(body, append([]string{"Accept", "application/json, text/event-stream"}, headers...)...)
}

// id returns an id as text.
func id(n int64) string { return strconv.FormatInt(n, 10) }
