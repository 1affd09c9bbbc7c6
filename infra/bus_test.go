package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/events"
	"lectern/events/matcher"
)

// queuesOf gives the settings of the queues by the ends of their names.
func queuesOf(service template) map[string]map[string]any {
	all := map[string]map[string]any{}
	for _, q := range service.of("AWS::SQS::Queue") {
		all[strings.TrimPrefix(q.Properties["QueueName"].(string), "lectern-us-")] = without(q.Properties, "QueueName", "Tags")
	}
	return all
}

// TestTheQueuesOfTheWorkers: a message is hidden for six times the time of its function, goes to the
// dead-letter queue after five times, and stays in both for 14 days. All are encrypted. The matcher
// knows for how long its queue hides a message.
func TestTheQueuesOfTheWorkers(t *testing.T) {
	for _, all := range []map[string]template{ofDefaults(t), ofEverything(t)} {
		service := all["Lectern-us-Service"]
		queue := func(seconds float64, dead string) map[string]any {
			return map[string]any{
				"SqsManagedSseEnabled": true, "VisibilityTimeout": seconds, "MessageRetentionPeriod": float64(14 * 24 * 3600),
				"RedrivePolicy": map[string]any{"deadLetterTargetArn": arnOf(t, service, dead), "maxReceiveCount": 5.0},
			}
		}
		dead := map[string]any{"SqsManagedSseEnabled": true, "MessageRetentionPeriod": float64(14 * 24 * 3600)}
		want := map[string]map[string]any{
			"webhooks": queue(matcher.Late.Seconds(), "webhooks-dead"), "deliveries": queue(360, "deliveries-dead"),
			"work": queue(5400, "work-dead"), "work-dead": dead,
			"webhooks-dead": dead, "deliveries-dead": dead, "bus-dead": dead, "changes-dead": dead, "ingest-dead": dead,
		}
		if options(all) == events.Every {
			want["media"], want["media-dead"] = queue(1800, "media-dead"), dead
			want["drawings"], want["drawings-dead"] = queue(720, "drawings-dead"), dead
		}
		require.Equal(t, want, queuesOf(service))
	}
}

// senders gives what the policy of a queue allows. It fails unless the policy refuses every call
// without TLS.
func senders(t *testing.T, service template, queue string) (allowed []map[string]any) {
	t.Helper()
	for _, p := range service.of("AWS::SQS::QueuePolicy") {
		policy := written(p.Properties).(map[string]any)
		if plain(t, policy["Queues"]) != plain(t, []string{"${" + queue + "}"}) {
			continue
		}
		refused := 0
		for _, s := range policy["PolicyDocument"].(map[string]any)["Statement"].([]any) {
			statement := s.(map[string]any)
			if statement["Effect"] == "Allow" {
				allowed = append(allowed, statement)
				continue
			}
			refused++
			require.Equal(t, map[string]any{
				"Effect": "Deny", "Principal": map[string]any{"AWS": "*"}, "Action": "sqs:*", "Resource": "${" + queue + ".Arn}",
				"Condition": map[string]any{"Bool": map[string]any{"aws:SecureTransport": "false"}},
			}, statement)
		}
		require.Equal(t, 1, refused)
		return allowed
	}
	require.Fail(t, "the queue has no policy", queue)
	return nil
}

// TestARuleSendsWhatIsPublishedToItsQueue, and what it cannot send to the dead-letter queue of the
// bus. Both queues take messages of this rule, and no other queue takes messages of EventBridge.
func TestARuleSendsWhatIsPublishedToItsQueue(t *testing.T) {
	for _, all := range []map[string]template{ofDefaults(t), ofEverything(t)} {
		service := all["Lectern-us-Service"]
		bus := service.id(t, "AWS::Events::EventBus")
		require.Equal(t, "lectern-us", service.Resources[bus].Properties["Name"])
		taken := map[string][]string{}
		_, rules := events.With(options(all))
		for _, r := range rules {
			id := service.logical(t, "AWS::Events::Rule", "Name", "lectern-us-"+r.Name)
			rule := without(service.Resources[id].Properties, "Name", "Description", "Tags")
			require.JSONEq(t, plain(t, r.Pattern), plain(t, rule["EventPattern"]))
			delete(rule, "EventPattern")
			if r.OfAWS {
				require.NotContains(t, rule, "EventBusName", "the account's default bus has the events of AWS")
				rule["EventBusName"] = "${" + bus + "}"
			}
			require.Equal(t, map[string]any{
				"EventBusName": "${" + bus + "}",
				"Targets": []any{map[string]any{
					"Id": r.Queue, "Arn": arnOf(t, service, r.Queue), "DeadLetterConfig": map[string]any{"Arn": arnOf(t, service, "bus-dead")},
					"RetryPolicy": map[string]any{"MaximumEventAgeInSeconds": float64(24 * 3600), "MaximumRetryAttempts": 185.0},
				}},
			}, rule)
			taken["lectern-us-"+r.Queue] = append(taken["lectern-us-"+r.Queue], id)
			taken["lectern-us-bus-dead"] = append(taken["lectern-us-bus-dead"], id)
		}
		for id, q := range service.of("AWS::SQS::Queue") {
			allowed := senders(t, service, id)
			var want []map[string]any
			for _, rule := range taken[q.Properties["QueueName"].(string)] {
				want = append(want, map[string]any{
					"Effect": "Allow", "Principal": map[string]any{"Service": "events.amazonaws.com"}, "Action": "sqs:SendMessage",
					"Resource": "${" + id + ".Arn}", "Condition": map[string]any{"ArnEquals": map[string]any{"aws:SourceArn": "${" + rule + ".Arn}"}},
				})
			}
			require.ElementsMatch(t, want, allowed, q.Properties["QueueName"])
		}
	}
}

// TestWhoCallsAPartOfTheRegionIsToldOfIt: a function has the variable of a part that its role
// allows it to call, and no other.
func TestWhoCallsAPartOfTheRegionIsToldOfIt(t *testing.T) {
	service := finished(t, nil)
	url := func(queue string) string {
		return "${" + service.logical(t, "AWS::SQS::Queue", "QueueName", "lectern-us-"+queue) + "}"
	}
	bus, keys := "${"+service.id(t, "AWS::Events::EventBus")+"}", "${KeysArn}"
	const bucket = "lectern-us-files-${AWS::AccountId}-us-east-1"
	want := map[string]map[string]any{
		"publisher": {"LECTERN_BUS": bus, "LECTERN_QUEUE_CHANGES_DEAD": url("changes-dead")}, "media": {"LECTERN_BUCKET": bucket}, "recordings": {"LECTERN_BUCKET": bucket},
		"sessionfiles": {"LECTERN_BUCKET": bucket, "LECTERN_KEYS": keys},
		"matcher":      {"LECTERN_QUEUE_DELIVERIES": url("deliveries")},
		"deliverer":    {"LECTERN_QUEUE_DELIVERIES": url("deliveries"), "LECTERN_KEYS": keys},
		"sweeper":      {"LECTERN_QUEUE_DELIVERIES": url("deliveries")},
		"webhooks":     {"LECTERN_KEYS": keys},
		"oauth":        {"LECTERN_KEYS": keys},
		"gdpr":         {"LECTERN_KEYS": keys}, "dataworker": {"LECTERN_QUEUE_WORK": url("work"), "LECTERN_BUCKET": bucket},
		"operator": {
			"LECTERN_KEYS": keys, "LECTERN_BUS": bus, "LECTERN_BUCKET": bucket, "LECTERN_QUEUE_WEBHOOKS": url("webhooks"), "LECTERN_QUEUE_DELIVERIES": url("deliveries"),
			"LECTERN_QUEUE_WEBHOOKS_DEAD": url("webhooks-dead"), "LECTERN_QUEUE_DELIVERIES_DEAD": url("deliveries-dead"),
			"LECTERN_QUEUE_WORK": url("work"), "LECTERN_QUEUE_WORK_DEAD": url("work-dead"),
		},
	}
	for _, f := range service.of("AWS::Lambda::Function") {
		name := strings.TrimPrefix(f.Properties["FunctionName"].(string), "lectern-us-")
		told := map[string]any{}
		for variable, value := range environment(f) {
			if slices.Contains([]string{"LECTERN_BUS", "LECTERN_KEYS", "LECTERN_BUCKET"}, variable) || strings.HasPrefix(variable, "LECTERN_QUEUE") {
				told[variable] = written(value)
			}
		}
		if want[name] == nil {
			require.Empty(t, told, name)
			require.Empty(t, statements(t, service, name, "calls"), name)
			continue
		}
		require.Equal(t, want[name], told, name)
	}
}

// TestTheSecretIsReadByThoseWhoSign: the parameter of the stack of state has the ARN, and with a key
// of the account the secret is decrypted through Secrets Manager alone.
func TestTheSecretIsReadByThoseWhoSign(t *testing.T) {
	service := finished(t, everything(t))
	require.Equal(t, "/lectern/us/keys", service.Parameters["KeysArn"]["Default"])
	require.Equal(t, "AWS::SSM::Parameter::Value<String>", service.Parameters["KeysArn"]["Type"])
	for _, g := range grants(t, service) {
		name := strings.TrimPrefix(g.of, "lectern-us-")
		text, err := json.Marshal(g.statement)
		require.NoError(t, err)
		if !strings.Contains(string(text), "secretsmanager") {
			continue
		}
		require.Contains(t, []string{"deliverer", "gdpr", "oauth", "operator", "sessionfiles", "slides", "webhooks"}, name)
		if g.policy == "key" {
			require.Equal(t, "kms:Decrypt", g.statement["Action"])
			require.Equal(t, map[string]any{
				"StringEquals":             map[string]any{"kms:ViaService": "secretsmanager.us-west-2.amazonaws.com"},
				"ForAnyValue:StringEquals": map[string]any{"kms:ResourceAliases": "alias/lectern-us"},
			}, g.statement["Condition"])
			continue
		}
		require.Equal(t, map[string]any{"Effect": "Allow", "Action": "secretsmanager:GetSecretValue", "Resource": "${KeysArn}"}, g.statement)
	}
	for _, name := range []string{"deliverer", "gdpr", "operator", "sessionfiles", "slides", "webhooks"} {
		require.Contains(t, plain(t, statements(t, service, name, "calls")), "secretsmanager:GetSecretValue", name)
		require.Contains(t, plain(t, statements(t, service, name, "key")), "secretsmanager.us-west-2", name)
	}
}

// TestAChainOfMessagesMayBeLong: AWS ends no chain of a worker that goes on by messages to itself.
func TestAChainOfMessagesMayBeLong(t *testing.T) {
	service := ofEverything(t)["Lectern-us-Service"]
	for name, want := range map[string]any{"dataworker": "Allow", "transcriber": "Allow", "slides": "Allow", "deliverer": "Allow", "matcher": nil} {
		id := service.logical(t, "AWS::Lambda::Function", "FunctionName", "lectern-us-"+name)
		require.Equal(t, want, service.Resources[id].Properties["RecursiveLoop"], name)
	}
}
