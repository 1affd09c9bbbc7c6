package main

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
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
			"INTEGRATION_FAILURE":          {"503", "SERVICE_UNAVAILABLE", ""},
			"INTEGRATION_TIMEOUT":          {"504", "SERVICE_UNAVAILABLE", ""},
		} {
			got, there := answers[kind]
			require.True(t, there, kind)
			require.Equal(t, want.status, got.StatusCode, kind)
			header := map[string]string{
				"gatewayresponse.header.Content-Type":                "'application/json'",
				"gatewayresponse.header.Access-Control-Allow-Origin": "'*'",
				"gatewayresponse.header.X-Request-Id":                "context.requestId",
			}
			if want.wait != "" {
				header["gatewayresponse.header.Retry-After"] = want.wait
			}
			require.Equal(t, header, got.ResponseParameters, kind)
			var e map[string]string
			require.NoError(t, json.Unmarshal([]byte(got.ResponseTemplates["application/json"]), &e), kind)
			require.Equal(t, want.code, e["code"], kind)
			require.Equal(t, e["name"], e["error"], kind)
			require.NotEmpty(t, e["message"], kind)
			require.Len(t, e, 4, kind)
		}
		require.Len(t, answers, len(ownAnswers()))
	}
}

// A status that is replaced is one that the error has, but for the timeout, which
// has no error of its own.
func TestTheStatusOfAnOwnAnswerIsTheErrors(t *testing.T) {
	for _, a := range ownAnswers() {
		if a.status != 0 && a.status != http.StatusGatewayTimeout {
			require.Equal(t, a.err.Status, a.status, a.kind)
		}
	}
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
	plainly, service := ofDefaults(t)["Lectern-us-Service"], ofEverything(t)["Lectern-us-Service"]
	for _, kind := range []string{
		"AWS::ApiGateway::DomainName", "AWS::ApiGateway::BasePathMapping", "AWS::Route53::RecordSet",
		"AWS::WAFv2::WebACL", "AWS::WAFv2::WebACLAssociation",
	} {
		require.Empty(t, plainly.of(kind), kind)
		require.Len(t, service.of(kind), 1, kind)
	}
	require.Equal(t, "https://api.example.org", service.Outputs["Address"].Value)
	require.Equal(t, "TLS_1_2", service.one(t, "AWS::ApiGateway::DomainName").Properties["SecurityPolicy"])
	rule := plain(t, service.one(t, "AWS::WAFv2::WebACL").Properties["Rules"])
	require.Contains(t, rule, `"RateBasedStatement":{"AggregateKeyType":"IP","EvaluationWindowSec":300,"Limit":`+strconv.Itoa(2000)+`}`)
}
