package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/events"
	"lectern/functions"
	"lectern/infra/config"
	"lectern/infra/function"
)

// mapping gives what invokes a worker with records, as text where CloudFormation fills something in.
func mapping(t *testing.T, service template, worker string) map[string]any {
	t.Helper()
	invoked := map[string]any{"Ref": service.logical(t, "AWS::Lambda::Function", "FunctionName", "lectern-us-"+worker)}
	for _, m := range service.of("AWS::Lambda::EventSourceMapping") {
		if plain(t, m.Properties["FunctionName"]) == plain(t, invoked) {
			return without(m.Properties, "FunctionName", "Tags")
		}
	}
	require.Fail(t, "nothing invokes it", worker)
	return nil
}

// statements gives the statements of a policy of a worker's role.
func statements(t *testing.T, service template, worker, policy string) (all []map[string]any) {
	t.Helper()
	for _, g := range grants(t, service) {
		if g.of == "lectern-us-"+worker && g.policy == policy {
			all = append(all, g.statement)
		}
	}
	return all
}

// arnOf gives the ARN of a queue as the templates name it.
func arnOf(t *testing.T, service template, queue string) string {
	t.Helper()
	return "${" + service.logical(t, "AWS::SQS::Queue", "QueueName", "lectern-us-"+queue) + ".Arn}"
}

// TestThePublisherReadsTheStreamOfTheTable: the parameter of the stack of state names the stream,
// only new change records invoke the publisher, and what fails for good goes to a dead-letter queue.
func TestThePublisherReadsTheStreamOfTheTable(t *testing.T) {
	service := ofDefaults(t)["Lectern-us-Service"]
	require.Equal(t, "AWS::SSM::Parameter::Value<String>", service.Parameters["StreamArn"]["Type"])
	require.Equal(t, "/lectern/us/stream", service.Parameters["StreamArn"]["Default"])

	filter, err := json.Marshal(events.NewChanges)
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"EventSourceArn": "${StreamArn}", "StartingPosition": "TRIM_HORIZON", "BatchSize": 100.0, "BisectBatchOnFunctionError": true,
		"MaximumRetryAttempts": 10.0, "MaximumRecordAgeInSeconds": float64(24 * 3600),
		"DestinationConfig":     map[string]any{"OnFailure": map[string]any{"Destination": arnOf(t, service, "changes-dead")}},
		"FunctionResponseTypes": []any{"ReportBatchItemFailures"},
		"FilterCriteria":        map[string]any{"Filters": []any{map[string]any{"Pattern": string(filter)}}},
	}, mapping(t, service, events.Publisher))

	require.Equal(t, []map[string]any{{
		"Effect": "Allow", "Resource": "${StreamArn}",
		"Action": []any{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"},
	}}, statements(t, service, events.Publisher, "stream"))
	require.Equal(t, []map[string]any{{"Effect": "Allow", "Resource": arnOf(t, service, "changes-dead"), "Action": "sqs:SendMessage"}},
		statements(t, service, events.Publisher, "dead"))
	require.Empty(t, statements(t, service, events.Publisher, "table"))
}

// TestThePublisherReadsTheStreamOfARestoredTable, whose records are encrypted as the table is.
func TestThePublisherReadsTheStreamOfARestoredTable(t *testing.T) {
	const table = "arn:aws:dynamodb:us-west-2:123456789012:table/lectern-us-restored"
	context := everything(t)
	service := ofEverything(t)["Lectern-us-Service"]
	require.NotContains(t, service.Parameters, "StreamArn")
	require.Equal(t, table+"/stream/2027-05-01T09:30:00.000", mapping(t, service, events.Publisher)["EventSourceArn"])
	require.Contains(t, plain(t, statements(t, service, events.Publisher, "stream")), table+"/stream/")
	require.Equal(t, []any{"kms:Decrypt", "kms:DescribeKey"}, statements(t, service, events.Publisher, "key")[0]["Action"])

	delete(context["us"].(map[string]any), "restoredStreamArn")
	c, err := config.Read(context)
	require.NoError(t, err)
	require.EqualError(t, build(nil, c, declared, ""),
		"infra: us.restoredStreamArn is missing: publisher reads the stream of lectern-us-restored")
}

// TestQueuesInvokeTheirWorkers with ten messages at most, dataworker with one, of which only those
// that failed are received again, and with a limited number of instances.
func TestQueuesInvokeTheirWorkers(t *testing.T) {
	for title, service := range map[string]template{
		"defaults": ofDefaults(t)["Lectern-us-Service"], "everything": ofEverything(t)["Lectern-us-Service"],
	} {
		for _, w := range []struct {
			name, queue             string
			batch, most, ofReserved float64
		}{
			{events.Matcher, events.Webhooks, 10, 10, 10}, {events.Deliverer, events.Deliveries, 10, 50, 20},
			{events.Dataworker, events.Work, 1, 2, 2}, {events.Slides, events.Drawings, 10, 5, 5},
		} {
			most := w.most
			if title == "everything" { // Each function has 20 reserved instances.
				most = w.ofReserved
			}
			require.Equal(t, map[string]any{
				"EventSourceArn": arnOf(t, service, w.queue), "BatchSize": w.batch, "FunctionResponseTypes": []any{"ReportBatchItemFailures"},
				"ScalingConfig": map[string]any{"MaximumConcurrency": most},
			}, mapping(t, service, w.name), title)
			require.Equal(t, []map[string]any{{
				"Effect": "Allow", "Resource": arnOf(t, service, w.queue),
				"Action": []any{"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"},
			}}, statements(t, service, w.name, "queue"))
			require.Empty(t, statements(t, service, w.name, "dead"), "SQS moves the messages")
		}
	}
}

// TestAScheduleInvokesTheSweeper each minute, by a role that may invoke it and nothing else, and that
// no other account's schedule can use. An invocation is not repeated.
func TestAScheduleInvokesTheSweeper(t *testing.T) {
	service := ofEverything(t)["Lectern-us-Service"]
	sweeper := "${" + service.logical(t, "AWS::Lambda::Function", "FunctionName", "lectern-us-sweeper") + ".Arn}"
	role := service.logical(t, "AWS::IAM::Role", "RoleName", "lectern-us-sweeper-schedule")
	require.Equal(t, map[string]any{
		"Name": "lectern-us-sweeper", "Description": "Invokes the function lectern-us-sweeper.", "ScheduleExpression": "rate(1 minute)",
		"FlexibleTimeWindow": map[string]any{"Mode": "OFF"},
		"Target": map[string]any{
			"Arn": sweeper, "RoleArn": "${" + role + ".Arn}",
			"RetryPolicy": map[string]any{"MaximumEventAgeInSeconds": 60.0, "MaximumRetryAttempts": 0.0},
		},
	}, written(service.one(t, "AWS::Scheduler::Schedule").Properties))
	require.Equal(t, []map[string]any{{"Effect": "Allow", "Resource": sweeper, "Action": "lambda:InvokeFunction"}},
		statements(t, service, "sweeper-schedule", "invoke"))
	require.Equal(t, []map[string]any{{
		"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": map[string]any{"Service": "scheduler.amazonaws.com"},
		"Condition": map[string]any{"StringEquals": map[string]any{
			"aws:SourceAccount": "123456789012", "aws:SourceArn": "arn:aws:scheduler:us-west-2:123456789012:schedule-group/default",
		}},
	}}, statements(t, service, "sweeper-schedule", "trust"))
	tries := triesOf(t, service, events.Sweeper)
	require.Equal(t, []any{0.0, 60.0, nil}, []any{tries["MaximumRetryAttempts"], tries["MaximumEventAgeInSeconds"], tries["DestinationConfig"]})
}

// TestTheGatewayInvokesNoWorker: it may invoke the groups alone.
func TestTheGatewayInvokesNoWorker(t *testing.T) {
	service := ofDefaults(t)["Lectern-us-Service"]
	for _, w := range events.Workers {
		require.NotContains(t, service.Resources, "Invoke"+w.Name)
	}
}

// TestWhatTheTemplatesLackIsRefused: a declaration that is not deployed would be a mistake
// that nobody sees.
func TestWhatTheTemplatesLackIsRefused(t *testing.T) {
	reader := events.Worker{Name: "reader", Memory: 256, Seconds: 60, Source: events.Log, From: "operator"}
	_, err := function.WorkerSpecs([]events.Worker{reader}, nil)
	require.EqualError(t, err, "infra: reader: the templates have no subscription of the log operator")
	reader.From = function.API
	_, err = function.WorkerSpecs([]events.Worker{reader, reader}, nil)
	require.EqualError(t, err, "events: worker reader needs a name of its own")

	c, err := config.Read(map[string]any{})
	require.NoError(t, err)
	err = build(nil, c, declarations{functions.Groups, []events.Worker{reader}, nil}, "")
	for _, queue := range []string{"webhooks", "deliveries", "webhooks-dead", "deliveries-dead"} {
		require.ErrorContains(t, err, "infra: operator uses the queue "+queue+", which no worker has")
	}
}
