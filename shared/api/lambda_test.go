package api

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/stretchr/testify/require"

	"lectern/shared/scan"
)

func TestEveryMistakeInTheConfigurationIsNamed(t *testing.T) {
	set := map[string]string{
		"LECTERN_REGION": "us", "LECTERN_ADMIN_URL": "admin", "AWS_ENDPOINT_URL": "http://127.0.0.1:4566/", "LECTERN_DAILY_WRITES": "-1",
		"LECTERN_SEARCH_UNITS": "many", "LECTERN_SCANNER": "clamd", "LECTERN_TRANSCRIBER": "whisper",
	}
	_, err := configured(func(name string) string { return set[name] })
	for _, name := range []string{
		"LECTERN_TABLE", "AWS_REGION", "LECTERN_ADMIN_URL", "LECTERN_DAILY_WRITES", "LECTERN_SEARCH_UNITS", "LECTERN_SCANNER must be",
		"LECTERN_TRANSCRIBER",
	} {
		require.ErrorContains(t, err, name)
	}
	require.NotContains(t, err.Error(), "LECTERN_REGION")

	set["LECTERN_DAILY_WRITES"], set["LECTERN_SEARCH_UNITS"] = "10000", "60000"
	set["LECTERN_SCANNER"] = "clamd://127.0.0.1:3310"
	set["LECTERN_TABLE"], set["AWS_REGION"], set["LECTERN_ADMIN_URL"], set["LECTERN_BUCKET"] = "t", "us-east-1", "", "b"
	set["LECTERN_TRANSCRIBER"], set["LECTERN_HOLDING_SLIDES"], set["LECTERN_QUERY_MODEL"] = "amazon", "1", "maker.model-v1:0"
	c, err := configured(func(name string) string { return set[name] })
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:3310", c.scanner.(*scan.Clamd).Address)
	c.scanner = nil
	require.Equal(t, config{
		table: "t", region: "us", awsRegion: "us-east-1", endpoint: "http://127.0.0.1:4566", dailyWrites: 10_000, searchUnits: 60_000, bucket: "b",
		transcriber: "amazon", holdingSlides: true, queryModel: "maker.model-v1:0", queryModelRegion: "us-east-1",
	}, c)
	set["LECTERN_QUERY_MODEL_REGION"] = "us-west-2"
	c, err = configured(func(name string) string { return set[name] })
	require.NoError(t, err)
	require.Equal(t, "us-west-2", c.queryModelRegion)

	set["AWS_ENDPOINT_URL_DYNAMODB"], set["LECTERN_SCANNER"] = "http://127.0.0.1:8000", "guardduty"
	c, err = configured(func(name string) string { return set[name] })
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:8000", c.endpoint, "the address of all services is not that of DynamoDB")
	require.IsType(t, scan.GuardDuty{}, c.scanner)
	set["AWS_ENDPOINT_URL_DYNAMODB"] = "engine"
	_, err = configured(func(name string) string { return set[name] })
	require.ErrorContains(t, err, "AWS_ENDPOINT_URL_DYNAMODB is not an address")
	set["AWS_ENDPOINT_URL_DYNAMODB"], set["LECTERN_LOCAL_RECEIVERS"] = "", "1"
	c, err = configured(func(name string) string { return set[name] })
	require.NoError(t, err)
	require.True(t, c.localReceivers)
	delete(set, "AWS_ENDPOINT_URL")
	c, err = configured(func(name string) string { return set[name] })
	require.NoError(t, err)
	require.False(t, c.localReceivers, "on AWS")
	set["LECTERN_TRANSCRIBER"] = "stand-in"
	_, err = configured(func(name string) string { return set[name] })
	require.EqualError(t, err, "LECTERN_TRANSCRIBER must not be stand-in on AWS")
}

func TestARequestHasTheGatewaysIDUnlessItsClientGaveOne(t *testing.T) {
	var got string
	proxy := Proxy(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get(headerRequestID)
		w.WriteHeader(http.StatusNoContent)
	}))
	for sent, want := range map[string]string{"": "of-the-gateway", "a b": "of-the-gateway", "own": "own"} {
		_, err := proxy(t.Context(), events.APIGatewayProxyRequest{
			HTTPMethod: http.MethodGet, Path: "/", MultiValueHeaders: map[string][]string{headerRequestID: {sent}},
			RequestContext: events.APIGatewayProxyRequestContext{RequestID: "of-the-gateway"},
		})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// TestTheAddressOfTheEdges is that of links, wherever the caller has found the API.
func TestTheAddressOfTheEdges(t *testing.T) {
	var address, base string
	proxy := Proxy(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address, base = Address(r.Context()), BasePath(r.Context())
		w.WriteHeader(http.StatusNoContent)
	}))
	for set, want := range map[string]string{"": "https://id.example/live", "https://d1.example/live": "https://d1.example/live"} {
		_, err := proxy(t.Context(), events.APIGatewayProxyRequest{
			HTTPMethod: http.MethodGet, Path: "/docs", StageVariables: map[string]string{StageAddress: set},
			RequestContext: events.APIGatewayProxyRequestContext{Stage: "live", Path: "/live/docs", DomainName: "id.example"},
		})
		require.NoError(t, err)
		require.Equal(t, []string{want, "/live"}, []string{address, base})
	}
}

func TestTheBasePathIsTheStageOfTheGatewaysContextAlone(t *testing.T) {
	var got string
	proxy := Proxy(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = BasePath(r.Context())
		w.WriteHeader(http.StatusNoContent)
	}))
	for _, c := range []struct{ stage, whole, path, want string }{
		{"live", "/live/docs", "/docs", "/live"},
		{"live", "/live/", "/", "/live"},
		{"live", "/live", "/", "/live"},
		{"live", "/live/a%20b", "/a%20b", "/live"},
		{"live", "/live/live", "/live", "/live"},
		{"live", "/docs", "/docs", ""},           // at a domain
		{"live", "/live/docs", "/live/docs", ""}, // at a domain
		{"live", "/", "/", ""},
		{"live", "//evil.example/docs", "/docs", ""}, // of no gateway
		{"live", "/live//evil.example/docs", "/docs", ""},
		{"live", "/live/../docs", "/docs", ""},
		{"live", "", "/docs", ""},
		{"", "", "/", ""},
		{"", "/docs", "/docs", ""},
	} {
		_, err := proxy(t.Context(), events.APIGatewayProxyRequest{
			HTTPMethod: http.MethodGet, Path: c.path,
			MultiValueHeaders: map[string][]string{
				"Host": {"evil.example"}, "X-Forwarded-Prefix": {"/evil"}, "X-Forwarded-Host": {"evil.example"},
				"Forwarded": {"host=evil.example"}, "X-Original-URL": {"/evil/docs"},
				"X-GoLambdaProxy-ApiGw-Context": {`{"stage": "evil", "path": "/evil/docs"}`},
			},
			RequestContext: events.APIGatewayProxyRequestContext{Stage: c.stage, Path: c.whole},
		})
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%+v", c)
	}
}

func TestSafePathKeepsWhatIsEncodedAndEncodesTheRest(t *testing.T) {
	for given, want := range map[string]string{
		"/v1/events": "/v1/events", "/a%3Fb": "/a%3Fb", "/a?b": "/a%3Fb", "/50%": "/50%25", "/a b": "/a%20b", "/a#b": "/a%23b", "/é": "/é",
	} {
		require.Equal(t, want, safePath(given), given)
	}
}

// TestAnAuthorizerAllowsEveryToken: the gateway asks so that it refuses requests without a token itself.
func TestAnAuthorizerAllowsEveryToken(t *testing.T) {
	var asked invocation
	require.NoError(t, json.Unmarshal([]byte(`{"type": "REQUEST", "methodArn": "arn:aws:execute-api:eu-west-1:1:a/live/POST/mcp", "headers": {}}`), &asked))
	require.Equal(t, askedForToken, asked.Type)
	text, err := json.Marshal(allowed(asked.MethodArn))
	require.NoError(t, err)
	require.JSONEq(t, `{"principalId": "application", "policyDocument": {"Version": "2012-10-17", "Statement": [
		{"Action": ["execute-api:Invoke"], "Effect": "Allow", "Resource": ["arn:aws:execute-api:eu-west-1:1:a/live/POST/mcp"]}]}}`, string(text))
	var request invocation
	require.NoError(t, json.Unmarshal([]byte(`{"httpMethod": "POST", "path": "/mcp", "requestContext": {"requestId": "1"}}`), &request))
	require.Equal(t, []string{"", "POST", "/mcp"}, []string{request.Type, request.HTTPMethod, request.Path})
}
