package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions"
)

func TestEveryFunctionTheTableAndTheAPIAreWatched(t *testing.T) {
	names := []string{
		"api-fails", "api-slow", "table-throttles-reads", "table-throttles-writes", "limiter-open", "busy", "versions-disagree",
	}
	for _, call := range calls {
		names = append(names, "table-fails-"+call)
	}
	all, err := functionsOf(functions.Groups)
	require.NoError(t, err)
	for _, f := range all {
		names = append(names, f.name+"-fails", f.name+"-throttled", f.name+"-slow")
	}
	for _, at := range []string{"us", "eu"} {
		var found []string
		service := ofDefaults(t)["Lectern-"+at+"-Service"]
		for id, alarm := range service.of("AWS::CloudWatch::Alarm") {
			found = append(found, strings.TrimPrefix(alarm.Properties["AlarmName"].(string), "lectern-"+at+"-"))
			require.Equal(t, "notBreaching", alarm.Properties["TreatMissingData"], id)
			require.NotEmpty(t, alarm.Properties["AlarmDescription"], id)
			require.NotContains(t, alarm.Properties, "AlarmActions", id)
		}
		require.ElementsMatch(t, names, found)
		require.Len(t, service.of("AWS::CloudWatch::Dashboard"), 1)
	}
}

func TestAlarmsTellWhoIsConfigured(t *testing.T) {
	service := ofEverything(t)["Lectern-us-Service"]
	for id, alarm := range service.of("AWS::CloudWatch::Alarm") {
		actions := plain(t, alarm.Properties["AlarmActions"])
		require.Contains(t, actions, `"arn:aws:sns:us-east-1:123456789012:pager"`, id)
		require.Contains(t, actions, `{"Ref":"AlarmTopic`, id)
	}
	require.Equal(t, "ops@example.org", service.one(t, "AWS::SNS::Subscription").Properties["Endpoint"])
	require.Contains(t, plain(t, service.one(t, "AWS::SNS::TopicPolicy").Properties), `"aws:SecureTransport":"false"`)
}

func TestLinesOfTheLogBecomeMetrics(t *testing.T) {
	service := ofDefaults(t)["Lectern-us-Service"]
	patterns := map[string]string{
		"RateLimiterFailedOpen": `{ $.metric = "ratelimit_failed_open" }`,
		"Busy":                  `{ $.status = 503 }`,
		"VersionsDisagree":      `{ ($.error = "*disagree*") || ($.error = "*do not agree*") }`,
	}
	from := map[string][]string{}
	for id, filter := range service.of("AWS::Logs::MetricFilter") {
		made := filter.Properties["MetricTransformations"].([]any)[0].(map[string]any)
		name := made["MetricName"].(string)
		require.Equal(t, "Lectern/us", made["MetricNamespace"], id)
		require.Equal(t, patterns[name], filter.Properties["FilterPattern"], id)
		from[name] = append(from[name], filter.Properties["FilterName"].(string))
	}
	require.Len(t, from["Busy"], len(functions.Groups)-1) // Root asks the table for nothing.
	require.Len(t, from["VersionsDisagree"], len(functions.Groups)-1)
	require.Contains(t, from["RateLimiterFailedOpen"], "lectern-us-sessions-RateLimiterFailedOpen")
	require.NotContains(t, from["RateLimiterFailedOpen"], "lectern-us-events-RateLimiterFailedOpen")
}
