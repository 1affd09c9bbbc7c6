package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// watched tells in lines what is counted in logs, what raises alarms and what is shown.
func watched(t *testing.T, service template) (lines []string) {
	t.Helper()
	add := func(kind, name string, what any) { lines = append(lines, kind+"\t"+name+"\t"+plain(t, what)) }
	for _, alarm := range service.of("AWS::CloudWatch::Alarm") {
		add("alarm", alarm.Properties["AlarmName"].(string), without(alarm.Properties, "AlarmName", "AlarmActions", "AlarmDescription", "Tags"))
	}
	for _, filter := range service.of("AWS::Logs::MetricFilter") {
		what := without(filter.Properties, "FilterName", "LogGroupName")
		log := service.Resources[filter.Properties["LogGroupName"].(map[string]any)["Ref"].(string)]
		what["LogGroupName"] = log.Properties["LogGroupName"]
		add("filter", filter.Properties["FilterName"].(string), what)
	}
	var dashboard struct {
		Widgets []struct {
			Properties struct {
				Title, Region string
				Metrics       [][]any
			}
		}
	}
	text := written(service.one(t, "AWS::CloudWatch::Dashboard").Properties["DashboardBody"]).(string)
	require.NoError(t, json.Unmarshal([]byte(text), &dashboard))
	for i, w := range dashboard.Widgets {
		for _, metric := range w.Properties.Metrics {
			add(fmt.Sprintf("shown %d", i+1), w.Properties.Title+", "+w.Properties.Region, metric)
		}
	}
	slices.Sort(lines)
	return lines
}

// without is properties but for some, as text where CloudFormation fills something in.
func without(properties map[string]any, some ...string) map[string]any {
	rest := map[string]any{}
	for name, value := range properties {
		if !slices.Contains(some, name) {
			rest[name] = written(value)
		}
	}
	return rest
}

// Every function, the table and the API are watched, in both regions alike.
func TestWhatIsWatchedIsGolden(t *testing.T) {
	lines := watched(t, ofDefaults(t)["Lectern-us-Service"])
	golden(t, "watched.golden.txt", lines)
	require.Equal(t, inEurope(lines), watched(t, ofDefaults(t)["Lectern-eu-Service"]))
}

func TestEveryAlarmSaysWhatItIs(t *testing.T) {
	for id, alarm := range ofDefaults(t)["Lectern-us-Service"].of("AWS::CloudWatch::Alarm") {
		require.NotEmpty(t, alarm.Properties["AlarmDescription"], id)
		require.NotContains(t, alarm.Properties, "AlarmActions", id)
	}
}

func TestAlarmsTellWhoIsConfigured(t *testing.T) {
	service := ofEverything(t)["Lectern-us-Service"]
	for id, alarm := range service.of("AWS::CloudWatch::Alarm") {
		actions := plain(t, alarm.Properties["AlarmActions"])
		require.Contains(t, actions, `"arn:aws:sns:us-west-2:123456789012:pager"`, id)
		require.Contains(t, actions, `{"Ref":"AlarmTopic`, id)
	}
	require.Equal(t, "ops@example.org", service.one(t, "AWS::SNS::Subscription").Properties["Endpoint"])
}

// A topic's own policy takes the place of the one by which alarms publish.
func TestAlarmsMayPublishToTheTopic(t *testing.T) {
	for at, awsRegion := range map[string]string{"us": "us-west-2", "eu": "eu-west-1"} {
		service := ofEverything(t)["Lectern-"+at+"-Service"]
		policy := written(service.one(t, "AWS::SNS::TopicPolicy").Properties).(map[string]any)
		topic := "${" + service.id(t, "AWS::SNS::Topic") + "}"
		require.Equal(t, []any{topic}, policy["Topics"])
		require.Equal(t, "AlarmTopic", digest.ReplaceAllString(service.id(t, "AWS::SNS::Topic"), ""))
		allowed := slices.DeleteFunc(policy["PolicyDocument"].(map[string]any)["Statement"].([]any), func(s any) bool {
			return s.(map[string]any)["Effect"] == "Deny"
		})
		require.Equal(t, []any{map[string]any{
			"Sid": "1", "Effect": "Allow", "Action": "sns:Publish", "Resource": topic,
			"Principal": map[string]any{"Service": "cloudwatch.amazonaws.com"},
			"Condition": map[string]any{
				"StringEquals": map[string]any{"aws:SourceAccount": "123456789012"},
				"ArnLike":      map[string]any{"aws:SourceArn": "arn:aws:cloudwatch:" + awsRegion + ":123456789012:alarm:*"},
			},
		}}, allowed)
	}
}
