package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheLogOfTheAPIInvokesTheIngester with the lines of requests alone. CloudWatch may invoke it
// for this log of this account, and for no other.
func TestTheLogOfTheAPIInvokesTheIngester(t *testing.T) {
	for _, at := range []string{"us", "eu"} {
		service := ofEverything(t)["Lectern-"+at+"-Service"]
		log, function := service.logical(t, "AWS::Logs::LogGroup", "LogGroupName", "/lectern/"+at+"/api"),
			service.logical(t, "AWS::Lambda::Function", "FunctionName", "lectern-"+at+"-ingester")
		filter := service.one(t, "AWS::Logs::SubscriptionFilter")
		require.Equal(t, map[string]any{
			"FilterName": "lectern-" + at + "-ingester", "FilterPattern": `{ $.msg = "request" }`,
			"LogGroupName": "${" + log + "}", "DestinationArn": "${" + function + ".Arn}",
		}, written(filter.Properties))
		// CloudFormation creates the permission before the subscription, which tries the permission.
		require.Len(t, filter.DependsOn, 1)
		require.Equal(t, map[string]any{
			"Action": "lambda:InvokeFunction", "FunctionName": "${" + function + ".Arn}", "Principal": "logs.amazonaws.com",
			"SourceAccount": "123456789012", "SourceArn": "${" + log + ".Arn}",
		}, written(service.Resources[filter.DependsOn[0]].Properties))
	}
	defaults := ofDefaults(t)["Lectern-us-Service"]
	require.Equal(t, "${AWS::AccountId}", written(defaults.Resources[defaults.one(t, "AWS::Logs::SubscriptionFilter").DependsOn[0]].Properties).(map[string]any)["SourceAccount"])
}

// TestTheIngesterDoesNotReadItsOwnLines: its log has no subscription, or each line would bring the
// next.
func TestTheIngesterDoesNotReadItsOwnLines(t *testing.T) {
	for _, all := range []map[string]template{ofDefaults(t), ofEverything(t)} {
		service := all["Lectern-us-Service"]
		function := service.Resources[service.logical(t, "AWS::Lambda::Function", "FunctionName", "lectern-us-ingester")]
		own := function.Properties["LoggingConfig"].(map[string]any)["LogGroup"]
		require.Equal(t, "${"+service.logical(t, "AWS::Logs::LogGroup", "LogGroupName", "/lectern/us/workers")+"}", written(own))
		require.NotEqual(t, own, service.one(t, "AWS::Logs::SubscriptionFilter").Properties["LogGroupName"])
	}
}

// TestWhatTheIngesterFailsToHandleIsKept in a dead-letter queue.
func TestWhatTheIngesterFailsToHandleIsKept(t *testing.T) {
	for _, all := range []map[string]template{ofDefaults(t), ofEverything(t)} {
		service := all["Lectern-us-Service"]
		queue := service.logical(t, "AWS::SQS::Queue", "QueueName", "lectern-us-ingest-dead")
		require.Equal(t, "Deadingester", digest.ReplaceAllString(queue, ""), "another id would be another queue of the same name")
		settings := without(service.Resources[queue].Properties, "Tags")
		require.Equal(t, map[string]any{
			"QueueName": "lectern-us-ingest-dead", "MessageRetentionPeriod": float64(14 * 24 * 3600), "SqsManagedSseEnabled": true,
		}, settings)
		require.Empty(t, senders(t, service, queue))

		tries := triesOf(t, service, "ingester")
		require.Equal(t, map[string]any{"OnFailure": map[string]any{"Destination": "${" + queue + ".Arn}"}}, written(tries["DestinationConfig"]))
		require.Equal(t, []any{2.0, "$LATEST"}, []any{tries["MaximumRetryAttempts"], tries["Qualifier"]})
	}
}

// TestTheIngesterMayStoreRequestsAndNothingElse: it reads nothing, and sends to its queue alone.
func TestTheIngesterMayStoreRequestsAndNothingElse(t *testing.T) {
	service := ofDefaults(t)["Lectern-us-Service"]
	var actions []string
	for _, s := range policies(t, service)["ingester"] {
		for _, action := range many(s["Action"]) {
			actions = append(actions, action.(string))
		}
		if strings.Contains(plain(t, s["Action"]), "sqs:") {
			require.Equal(t, "${"+service.logical(t, "AWS::SQS::Queue", "QueueName", "lectern-us-ingest-dead")+".Arn}", s["Resource"])
		}
	}
	require.ElementsMatch(t, []string{
		"dynamodb:PutItem", "dynamodb:UpdateItem", "logs:CreateLogStream", "logs:PutLogEvents", "sqs:SendMessage",
	}, actions)
	require.NotContains(t, service.Resources, "Invokeingester", "the gateway invokes the groups alone")
}
