package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/events"
	"lectern/functions"
	"lectern/infra/config"
	"lectern/infra/function"
)

// reader is a worker of a test. No worker reads the stream so far.
var reader = events.Worker{Name: "reader", Memory: 256, Seconds: 60, Source: events.Stream}

// withReader gives the stack of service of us with the worker.
func withReader(t *testing.T, context map[string]any) template {
	t.Helper()
	context["functions"] = t.TempDir()
	all, err := function.Specs(functions.Groups)
	require.NoError(t, err)
	for _, f := range append(all, function.Spec{Name: reader.Name}) {
		require.NoError(t, standIn(context["functions"].(string), f.Name, f.Name))
	}
	c, err := config.Read(context)
	require.NoError(t, err)
	app := newApp(t)
	require.NoError(t, build(app, c, functions.Groups, []events.Worker{reader}, ""))
	return readTemplates(t, app)["Lectern-us-Service"]
}

// TestAWorkerReadsTheStreamOfTheTable: the parameter of the stack of state names the stream,
// only new change records invoke the worker, and it may read this stream and nothing else.
func TestAWorkerReadsTheStreamOfTheTable(t *testing.T) {
	service := withReader(t, map[string]any{"regions": "us"})
	require.Equal(t, "AWS::SSM::Parameter::Value<String>", service.Parameters["StreamArn"]["Type"])
	require.Equal(t, "/lectern/us/stream", service.Parameters["StreamArn"]["Default"])

	filter, err := json.Marshal(events.NewChanges)
	require.NoError(t, err)
	mapping := written(service.one(t, "AWS::Lambda::EventSourceMapping").Properties).(map[string]any)
	require.Regexp(t, `^\$\{Functionreader[0-9A-F]{8}\}$`, mapping["FunctionName"])
	delete(mapping, "FunctionName")
	require.Equal(t, map[string]any{
		"EventSourceArn": "${StreamArn}", "StartingPosition": "TRIM_HORIZON", "BatchSize": 100.0, "BisectBatchOnFunctionError": true,
		"FunctionResponseTypes": []any{"ReportBatchItemFailures"},
		"FilterCriteria":        map[string]any{"Filters": []any{map[string]any{"Pattern": string(filter)}}},
	}, mapping)

	require.Equal(t, []map[string]any{{
		"Effect": "Allow", "Resource": "${StreamArn}",
		"Action": []any{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"},
	}}, about(t, service, "dynamodb:"))
	require.NotContains(t, service.Resources, "Invokereader", "the gateway invokes the groups alone")
}

// about gives the statements of the worker's role with a text.
func about(t *testing.T, service template, text string) (found []map[string]any) {
	t.Helper()
	for _, s := range policies(t, service)[reader.Name] {
		if strings.Contains(plain(t, s["Action"]), text) {
			found = append(found, s)
		}
	}
	return found
}

// TestAWorkerReadsTheStreamOfARestoredTable, whose records are encrypted as the table is.
func TestAWorkerReadsTheStreamOfARestoredTable(t *testing.T) {
	const table = "arn:aws:dynamodb:us-east-1:123456789012:table/lectern-us-2"
	context := map[string]any{"regions": "us", "customerKey": true, "us": map[string]any{
		"restoredTable": "lectern-us-2", "restoredStreamArn": table + "/stream/2027-05-01T09:30:00.000",
	}}
	service := withReader(t, context)
	require.NotContains(t, service.Parameters, "StreamArn")
	require.Equal(t, table+"/stream/2027-05-01T09:30:00.000", service.one(t, "AWS::Lambda::EventSourceMapping").Properties["EventSourceArn"])
	require.Contains(t, plain(t, about(t, service, "dynamodb:")), table+"/stream/")
	require.Equal(t, []any{"kms:Decrypt", "kms:DescribeKey"}, about(t, service, "kms:")[0]["Action"])

	delete(context["us"].(map[string]any), "restoredStreamArn")
	c, err := config.Read(context)
	require.NoError(t, err)
	require.EqualError(t, build(nil, c, functions.Groups, []events.Worker{reader}, ""),
		"infra: us.restoredStreamArn is missing: reader reads the stream of lectern-us-2")
}

// TestWithoutAWorkerNothingReadsTheStream: a template may have no parameter without a use.
func TestWithoutAWorkerNothingReadsTheStream(t *testing.T) {
	for _, all := range []map[string]template{ofDefaults(t), ofEverything(t)} {
		require.NotContains(t, all["Lectern-us-Service"].Parameters, "StreamArn")
		require.Empty(t, all["Lectern-us-Service"].of("AWS::Lambda::EventSourceMapping"))
	}
}

// TestWhatTheTemplatesLackIsRefused: a declaration that is not deployed would be a mistake
// that nobody sees.
func TestWhatTheTemplatesLackIsRefused(t *testing.T) {
	require.Empty(t, events.Rules, "the templates have no bus")
	sweeper := events.Worker{Name: "sweeper", Memory: 256, Seconds: 50, Source: events.Schedule, From: "rate(1 minute)"}
	_, err := function.WorkerSpecs([]events.Worker{sweeper})
	require.EqualError(t, err, "infra: sweeper: the templates have no source schedule")
	_, err = function.WorkerSpecs([]events.Worker{{Name: "reader", Memory: 256, Seconds: 60, Source: events.Log, From: "operator"}})
	require.EqualError(t, err, "infra: reader: the templates have no subscription of the log operator")
	_, err = function.WorkerSpecs([]events.Worker{reader, reader})
	require.EqualError(t, err, "events: worker reader needs a name of its own")
}
