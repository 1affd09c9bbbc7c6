package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/functions"
	"lectern/shared/api"
)

func TestTheGatewaysOwnAnswersAreInTheServicesShape(t *testing.T) {
	for _, at := range []string{"us", "eu"} {
		answers := bodyOf(t, ofDefaults(t)["Lectern-"+at+"-Service"]).Answers
		for kind, want := range map[string]struct {
			status, code, wait string
		}{
			"DEFAULT_4XX":                  {"", "VALIDATION_ERROR", ""},
			"DEFAULT_5XX":                  {"", "INTERNAL_ERROR", ""},
			"REQUEST_TOO_LARGE":            {"413", "PAYLOAD_TOO_LARGE", ""},
			"UNSUPPORTED_MEDIA_TYPE":       {"415", "UNSUPPORTED_MEDIA_TYPE", ""},
			"THROTTLED":                    {"429", "RATE_LIMITED", "'1'"},
			"QUOTA_EXCEEDED":               {"429", "RATE_LIMITED", "'1'"},
			"WAF_FILTERED":                 {"429", "RATE_LIMITED", "'300'"},
			"MISSING_AUTHENTICATION_TOKEN": {"404", "NOT_FOUND", ""},
			"RESOURCE_NOT_FOUND":           {"404", "NOT_FOUND", ""},
			"UNAUTHORIZED":                 {"401", "UNAUTHORIZED", ""},
			"ACCESS_DENIED":                {"403", "INSUFFICIENT_SCOPE", ""},
			"EXPIRED_TOKEN":                {"403", "INSUFFICIENT_SCOPE", ""},
			"INVALID_API_KEY":              {"403", "INSUFFICIENT_SCOPE", ""},
			"INVALID_SIGNATURE":            {"403", "INSUFFICIENT_SCOPE", ""},
			"INTEGRATION_FAILURE":          {"503", "SERVICE_UNAVAILABLE", "'1'"},
			"INTEGRATION_TIMEOUT":          {"504", "SERVICE_UNAVAILABLE", "'1'"},
		} {
			got, there := answers[kind]
			require.True(t, there, kind)
			require.Equal(t, want.status, got.StatusCode, kind)
			require.Equal(t, want.wait, got.ResponseParameters["gatewayresponse.header.Retry-After"], kind)
			delete(got.ResponseParameters, "gatewayresponse.header.Retry-After")
			challenge := map[string]string{"UNAUTHORIZED": "'Bearer'"}[kind]
			require.Equal(t, challenge, got.ResponseParameters["gatewayresponse.header.WWW-Authenticate"], kind)
			delete(got.ResponseParameters, "gatewayresponse.header.WWW-Authenticate")
			require.Equal(t, ofTheService(t), got.ResponseParameters, kind)
			var e map[string]string
			require.NoError(t, json.Unmarshal([]byte(got.ResponseTemplates["application/json"]), &e), kind)
			require.Equal(t, want.code, e["code"], kind)
			require.Equal(t, e["name"], e["error"], kind)
			require.NotEmpty(t, e["message"], kind)
			require.Len(t, e, 4, kind)
		}
		require.Len(t, answers, 16)
		require.Contains(t, answers["DEFAULT_4XX"].ResponseTemplates["application/json"],
			`"The request was refused before it reached the service."`, "which holds for a 400 and for a 413")
		require.Contains(t, answers["REQUEST_TOO_LARGE"].ResponseTemplates["application/json"], `The request body is too large.`)
	}
}

// TestTheGatewayTellsAnAssistantWhereToSignIn: it refuses a message to the MCP server without the header Authorization itself, and at a
// domain names the description of the region.
func TestTheGatewayTellsAnAssistantWhereToSignIn(t *testing.T) {
	service := ofEverything(t)["Lectern-us-Service"]
	b := bodyOf(t, service)
	require.Equal(t, `'Bearer resource_metadata="https://api.example.org/.well-known/oauth-protected-resource/mcp"'`,
		b.Answers["UNAUTHORIZED"].ResponseParameters["gatewayresponse.header.WWW-Authenticate"])
	asked := b.Components.SecuritySchemes["application"]
	require.Equal(t, []string{"apiKey", "Authorization", "header", "custom"}, []string{asked.Type, asked.Name, asked.In, asked.AuthType})
	require.Equal(t, []any{"request", "method.request.header.Authorization", 3600.0},
		[]any{asked.Authorizer["type"], asked.Authorizer["identitySource"], asked.Authorizer["authorizerResultTtlInSeconds"]})
	require.Equal(t, asked.Authorizer["authorizerUri"].(map[string]any)["Fn::Sub"], b.Paths["/mcp"]["post"].Integration.URI["Fn::Sub"])
	for path, methods := range b.Paths {
		for method, described := range methods {
			require.Equal(t, path == "/mcp" && method == "post", described.Security != nil, "%s %s", method, path)
		}
	}
	var sources []any
	for _, permission := range service.of("AWS::Lambda::Permission") {
		if text := plain(t, permission.Properties["SourceArn"]); strings.Contains(text, "/authorizers/*") {
			sources = append(sources, permission.Properties["Principal"])
		}
	}
	require.Equal(t, []any{"apigateway.amazonaws.com"}, sources)
}

// ofTheService are the headers of a refusal by the service, as the gateway is told to
// send them: all but the one whose value cannot stand in single quotes.
func ofTheService(t *testing.T) map[string]string {
	t.Helper()
	at := slices.IndexFunc(functions.Groups, func(g api.Group) bool { return g.Name == "root" })
	refused := httptest.NewRecorder()
	env := api.Env{Region: "us", Now: time.Now, NewID: uuid.NewString, Log: slog.New(slog.DiscardHandler)}
	functions.Groups[at].Handler(env).ServeHTTP(refused, httptest.NewRequest(http.MethodGet, "/nothing", http.NoBody))
	require.Equal(t, http.StatusNotFound, refused.Code)
	header := map[string]string{}
	for name := range refused.Header() {
		header["gatewayresponse.header."+name] = "'" + refused.Header().Get(name) + "'"
	}
	header["gatewayresponse.header.X-Request-Id"] = "context.requestId"
	require.Contains(t, header["gatewayresponse.header.Content-Security-Policy"], "'none'")
	delete(header, "gatewayresponse.header.Content-Security-Policy")
	return header
}

func TestTheStageThrottlesAndLogs(t *testing.T) {
	for name, want := range map[string]struct {
		rate, burst, days float64
		stage             string
		templates         map[string]template
	}{
		"defaults":   {500, 1000, 90, "live", ofDefaults(t)},
		"everything": {50, 100, 30, "v1", ofEverything(t)},
	} {
		service := want.templates["Lectern-us-Service"]
		stage := service.one(t, "AWS::ApiGateway::Stage").Properties
		require.Equal(t, want.stage, stage["StageName"], name)
		settings := stage["MethodSettings"].([]any)
		require.Len(t, settings, 1, name)
		for key, value := range map[string]any{
			"ThrottlingRateLimit": want.rate, "ThrottlingBurstLimit": want.burst, "HttpMethod": "*", "ResourcePath": "/*",
			"LoggingLevel": "OFF", "DataTraceEnabled": false,
		} {
			require.Equal(t, value, settings[0].(map[string]any)[key], "%s %s", name, key)
		}
		for id, log := range service.of("AWS::Logs::LogGroup") {
			require.Equal(t, want.days, log.Properties["RetentionInDays"], id)
		}
	}
}

func TestTheAccessLogTellsNothingThatAClientWrote(t *testing.T) {
	stage := ofDefaults(t)["Lectern-us-Service"].one(t, "AWS::ApiGateway::Stage").Properties
	var line map[string]string
	require.NoError(t, json.Unmarshal([]byte(stage["AccessLogSetting"].(map[string]any)["Format"].(string)), &line))
	require.Equal(t, map[string]string{
		"request_id": "$context.requestId", "time": "$context.requestTimeEpoch", "method": "$context.httpMethod",
		"route": "$context.resourcePath", "status": "$context.status", "ms": "$context.responseLatency",
		"function_ms": "$context.integrationLatency", "function_status": "$context.integrationStatus",
		"bytes": "$context.responseLength", "refusal": "$context.error.responseType",
	}, line)
}

func TestTheRoleForLogsIsMadeUnlessTheAccountHasIt(t *testing.T) {
	service := ofDefaults(t)["Lectern-us-Service"]
	require.Equal(t, "Retain", service.one(t, "AWS::ApiGateway::Account").DeletionPolicy)
	require.Empty(t, ofEverything(t)["Lectern-us-Service"].of("AWS::ApiGateway::Account"))
}

func TestADomainAndAFirewallStandBeforeTheStage(t *testing.T) {
	plainly, all := ofDefaults(t)["Lectern-us-Service"], ofEverything(t)
	for _, kind := range []string{
		"AWS::ApiGateway::DomainName", "AWS::ApiGateway::BasePathMapping", "AWS::Route53::RecordSet",
		"AWS::WAFv2::WebACL", "AWS::WAFv2::WebACLAssociation",
	} {
		require.Empty(t, plainly.of(kind), kind)
		require.Len(t, all["Lectern-us-Service"].of(kind), 1, kind)
		zone := kind != "AWS::Route53::RecordSet"
		require.Equal(t, zone, len(all["Lectern-eu-Service"].of(kind)) == 1, kind)
	}
}

func TestADomainLeadsToTheStage(t *testing.T) {
	for at, want := range map[string][]string{"us": {"api.example.org", "us-west-2", "1"}, "eu": {"eu.example.org", "eu-west-1", "2"}} {
		service := ofEverything(t)["Lectern-"+at+"-Service"]
		require.Equal(t, map[string]any{
			"DomainName":             want[0],
			"EndpointConfiguration":  map[string]any{"Types": []any{"REGIONAL"}},
			"RegionalCertificateArn": "arn:aws:acm:" + want[1] + ":123456789012:certificate/" + want[2],
			"SecurityPolicy":         "TLS_1_2",
			"Tags":                   []any{map[string]any{"Key": "team", "Value": "programme"}},
		}, service.one(t, "AWS::ApiGateway::DomainName").Properties)
		mapping := written(service.one(t, "AWS::ApiGateway::BasePathMapping").Properties).(map[string]any)
		require.Equal(t, map[string]any{
			"DomainName": "${" + service.id(t, "AWS::ApiGateway::DomainName") + "}",
			"RestApiId":  "${" + service.id(t, "AWS::ApiGateway::RestApi") + "}",
			"Stage":      "${" + service.id(t, "AWS::ApiGateway::Stage") + "}",
		}, mapping)
		require.Equal(t, "https://"+want[0], service.Outputs["Address"].Value)
		require.Equal(t, "${"+service.id(t, "AWS::ApiGateway::DomainName")+".RegionalDomainName}", written(service.Outputs["DomainTarget"].Value))
	}
	service := ofEverything(t)["Lectern-us-Service"]
	host := service.id(t, "AWS::ApiGateway::DomainName")
	require.Equal(t, map[string]any{
		"Name": "api.example.org.", "Type": "A", "HostedZoneId": "Z123",
		"AliasTarget": map[string]any{"DNSName": "${" + host + ".RegionalDomainName}", "HostedZoneId": "${" + host + ".RegionalHostedZoneId}"},
	}, written(service.one(t, "AWS::Route53::RecordSet").Properties))
}

func TestTheFirewallBlocksAnAddressAndNothingElse(t *testing.T) {
	service := ofEverything(t)["Lectern-us-Service"]
	seen := map[string]any{"CloudWatchMetricsEnabled": true, "MetricName": "lectern-us-rate", "SampledRequestsEnabled": false}
	acl := service.one(t, "AWS::WAFv2::WebACL").Properties
	delete(acl, "Tags")
	require.Equal(t, map[string]any{
		"Name": "lectern-us-rate", "Scope": "REGIONAL", "VisibilityConfig": seen,
		"DefaultAction": map[string]any{"Allow": map[string]any{}},
		"Rules": []any{map[string]any{
			"Name": "lectern-us-rate", "Priority": 0.0, "VisibilityConfig": seen,
			"Action":    map[string]any{"Block": map[string]any{}},
			"Statement": map[string]any{"RateBasedStatement": map[string]any{"AggregateKeyType": "IP", "EvaluationWindowSec": 300.0, "Limit": 2000.0}},
		}},
	}, acl)
	require.Equal(t, map[string]any{
		"WebACLArn": "${" + service.id(t, "AWS::WAFv2::WebACL") + ".Arn}",
		"ResourceArn": "arn:aws:apigateway:us-west-2::/restapis/${" + service.id(t, "AWS::ApiGateway::RestApi") +
			"}/stages/${" + service.id(t, "AWS::ApiGateway::Stage") + "}",
	}, written(service.one(t, "AWS::WAFv2::WebACLAssociation").Properties))
}
