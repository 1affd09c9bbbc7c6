package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/events"
	"lectern/functions"
)

// watched tells in lines which logs there are, what is counted in logs, what raises alarms and
// what is shown.
func watched(t *testing.T, title string, service template) (lines []string) {
	t.Helper()
	add := func(kind, name string, what any) {
		lines = append(lines, title+"\t"+kind+"\t"+name+"\t"+plain(t, what))
	}
	for _, log := range service.of("AWS::Logs::LogGroup") {
		add("log", log.Properties["LogGroupName"].(string), without(log.Properties, "LogGroupName", "Tags"))
	}
	for _, alarm := range service.of("AWS::CloudWatch::Alarm") {
		add("alarm", alarm.Properties["AlarmName"].(string), without(alarm.Properties, "AlarmName", "AlarmActions", "AlarmDescription", "Tags"))
	}
	for _, filter := range service.of("AWS::Logs::MetricFilter") {
		what := without(filter.Properties, "FilterName", "LogGroupName")
		log := service.Resources[filter.Properties["LogGroupName"].(map[string]any)["Ref"].(string)]
		what["LogGroupName"] = log.Properties["LogGroupName"]
		add("filter", filter.Properties["FilterName"].(string), what)
	}
	for id, budget := range service.of("AWS::Budgets::Budget") {
		add("budget", id, without(budget.Properties))
	}
	for _, w := range widgets(t, service) {
		for _, metric := range w.Properties.Metrics {
			add("shown", w.Properties.Title+", "+w.Properties.Region, metric)
		}
	}
	slices.Sort(lines)
	return lines
}

// widget is a graph of a dashboard.
type widget struct {
	Properties struct {
		Title, Region string
		Metrics       [][]any
	}
}

// widgets gives the graphs of the stack's dashboards.
func widgets(t *testing.T, service template) (all []widget) {
	t.Helper()
	for _, dashboard := range service.of("AWS::CloudWatch::Dashboard") {
		var body struct{ Widgets []widget }
		require.NoError(t, json.Unmarshal([]byte(written(dashboard.Properties["DashboardBody"]).(string)), &body))
		all = append(all, body.Widgets...)
	}
	return all
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

// Functions, table and API are watched, in both regions alike.
func TestWhatIsWatchedIsGolden(t *testing.T) {
	in := func(stack string) []string {
		return slices.Concat(watched(t, "defaults", ofDefaults(t)[stack]), watched(t, "everything", ofEverything(t)[stack]))
	}
	lines := in("Lectern-us-Service")
	golden(t, "watched.golden.txt", lines)
	require.Equal(t, inEurope(lines), in("Lectern-eu-Service"))
}

// metricsOf gives the metrics of an alarm by metric math; none of an alarm on a metric alone.
func metricsOf(alarm resource) (all []map[string]any) {
	queries, _ := alarm.Properties["Metrics"].([]any)
	for _, query := range queries {
		if stat, ok := query.(map[string]any)["MetricStat"].(map[string]any); ok {
			all = append(all, stat)
		}
	}
	return all
}

// An alarm costs 0.10 a month for each of its metrics. Only the alarms about changes have several.
func TestFewAlarmsAreAtMostSeventeen(t *testing.T) {
	few := synthesized(t, map[string]any{"us": map[string]any{"domain": map[string]any{
		"name": "api.example.org", "certificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/1"}}})
	alarms := few["Lectern-us-Service"].of("AWS::CloudWatch::Alarm")
	require.LessOrEqual(t, len(alarms), 17)
	require.Len(t, few["Lectern-eu-Service"].of("AWS::CloudWatch::Alarm"), len(alarms)-1, "without a certificate")
	several := map[string]int{}
	for _, alarm := range alarms {
		if n := len(metricsOf(alarm)); n > 0 {
			several[strings.TrimPrefix(alarm.Properties["AlarmName"].(string), "lectern-us-")] = n
		}
	}
	require.Equal(t, map[string]int{"dead-letters": 6, "dead-letters-lost": 4, "changes-late": 5, "deliveries-fail": 2}, several)
}

// TestTheLinesOfTheWorkersAreRead: failures and the time to the first attempt, which only lines of the log
// have, are metrics that alarms read. No metric has a default value: an idle region would pay for it.
func TestTheLinesOfTheWorkersAreRead(t *testing.T) {
	service := ofDefaults(t)["Lectern-us-Service"]
	read := map[string]string{}
	for _, alarm := range service.of("AWS::CloudWatch::Alarm") {
		for _, stat := range metricsOf(alarm) {
			metric := stat["Metric"].(map[string]any)
			if metric["Namespace"] == "Lectern/us" {
				read[metric["MetricName"].(string)] = strings.TrimPrefix(alarm.Properties["AlarmName"].(string), "lectern-us-") + " " + stat["Stat"].(string)
			}
		}
	}
	require.Equal(t, map[string]string{
		"WorkersFail": "deliveries-fail Sum", "ReceiversFail": "deliveries-fail Sum", "FirstAttempt": "changes-late Maximum",
	}, read)
	want := map[string][]string{
		"WorkersFail":   {`{ $.metric = "*_failed" }`, "1"},
		"ReceiversFail": {`{ ($.msg = "delivered") && ($.failed > 0) }`, "$.failed"},
		"FirstAttempt":  {`{ ($.msg = "delivered") && ($.latency_ms > 0) }`, "$.latency_ms"},
	}
	for _, filter := range service.of("AWS::Logs::MetricFilter") {
		metric := filter.Properties["MetricTransformations"].([]any)[0].(map[string]any)
		require.NotContains(t, metric, "DefaultValue")
		name := metric["MetricName"].(string)
		if want[name] == nil {
			continue
		}
		log := service.Resources[filter.Properties["LogGroupName"].(map[string]any)["Ref"].(string)]
		require.Equal(t, "/lectern/us/workers", log.Properties["LogGroupName"])
		require.Equal(t, want[name], []string{filter.Properties["FilterPattern"].(string), metric["MetricValue"].(string)})
		delete(want, name)
	}
	require.Empty(t, want)
}

func TestAlarmsOfEachFunctionReplaceThoseOfAll(t *testing.T) {
	few, each := map[string]bool{}, map[string]bool{}
	for _, alarm := range ofDefaults(t)["Lectern-us-Service"].of("AWS::CloudWatch::Alarm") {
		few[alarm.Properties["AlarmName"].(string)] = true
	}
	for _, alarm := range ofEverything(t)["Lectern-us-Service"].of("AWS::CloudWatch::Alarm") {
		each[alarm.Properties["AlarmName"].(string)] = true
	}
	for name := range few {
		ofAll := name == "lectern-us-functions-fail" || name == "lectern-us-functions-throttled"
		require.Equal(t, !ofAll, each[name], name)
	}
	workers := map[string]bool{}
	declared, _ := events.With(events.Every)
	for _, w := range declared {
		workers[w.Name] = true
	}
	for _, g := range functions.Names() {
		require.True(t, each["lectern-us-"+g+"-fails"], g)
		require.Equal(t, !workers[g], each["lectern-us-"+g+"-slow"], g)
		for _, kind := range []string{"fails", "slow"} {
			require.False(t, few["lectern-us-"+g+"-"+kind], g+" "+kind)
		}
	}
}

// A log of the class for infrequent access has no metric filters, and CloudFormation cannot
// change the class of a log.
func TestOnlyTheAccessLogIsOfTheCheapClass(t *testing.T) {
	service := ofDefaults(t)["Lectern-us-Service"]
	classes := map[any]any{}
	for _, log := range service.of("AWS::Logs::LogGroup") {
		classes[log.Properties["LogGroupName"]] = log.Properties["LogGroupClass"]
	}
	require.Equal(t, map[any]any{
		"/lectern/us/api": nil, "/lectern/us/operator": nil, "/lectern/us/workers": nil, "/lectern/us/access": "INFREQUENT_ACCESS",
	}, classes)
	for id, filter := range service.of("AWS::Logs::MetricFilter") {
		log := service.Resources[filter.Properties["LogGroupName"].(map[string]any)["Ref"].(string)]
		require.NotContains(t, log.Properties, "LogGroupClass", id)
	}
}

func TestADashboardIsAChoiceOfAtMostFiftyMetrics(t *testing.T) {
	require.Empty(t, ofDefaults(t)["Lectern-us-Service"].of("AWS::CloudWatch::Dashboard"))
	shown := 0
	for _, w := range widgets(t, ofEverything(t)["Lectern-us-Service"]) {
		shown += len(w.Properties.Metrics)
	}
	require.Positive(t, shown)
	require.LessOrEqual(t, shown, 50)
}

func TestABudgetTellsTheAddressOfAlarms(t *testing.T) {
	require.Empty(t, ofDefaults(t)["Lectern-us-Service"].of("AWS::Budgets::Budget"))
	for at, awsRegion := range map[string]string{"us": "us-west-2", "eu": "eu-west-1"} {
		budget := ofEverything(t)["Lectern-"+at+"-Service"].one(t, "AWS::Budgets::Budget").Properties
		require.Equal(t, map[string]any{
			"BudgetType": "COST", "TimeUnit": "MONTHLY",
			"BudgetLimit": map[string]any{"Amount": 50.0, "Unit": "USD"}, "CostFilters": map[string]any{"Region": []any{awsRegion}},
		}, budget["Budget"])
		notifications := budget["NotificationsWithSubscribers"].([]any)
		require.Len(t, notifications, 2)
		for _, n := range notifications {
			require.Equal(t, []any{map[string]any{"SubscriptionType": "EMAIL", "Address": "ops@example.org"}}, n.(map[string]any)["Subscribers"])
		}
	}
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
