package main

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/events"
	"lectern/functions"
	"lectern/infra/config"
	"lectern/infra/function"
	"lectern/infra/gateway"
	"lectern/shared/api"
)

// finishedGroups gives the groups of testdata/finished.txt: those of today, with all the
// operations that they are to have, and those that are to come. A line is the function, the
// method and the path.
func finishedGroups(t *testing.T) (groups []api.Group) {
	t.Helper()
	text, err := os.ReadFile("testdata/finished.txt")
	require.NoError(t, err)
	all := map[string][]api.Operation{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		all[fields[0]] = append(all[fields[0]], api.Operation{Method: fields[1], Path: fields[2]})
	}
	for _, g := range functions.Groups {
		for _, op := range g.Operations {
			listed := func(other api.Operation) bool { return other.Method == op.Method && other.Path == op.Path }
			if !slices.ContainsFunc(all[g.Name], listed) {
				all[g.Name] = append(all[g.Name], op)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		groups = append(groups, api.Group{Name: name, Operations: all[name]})
	}
	return groups
}

// finished gives the stack of service of the finished service, with every option or none. A
// function that is to come and has no declared permissions has those of one with the most,
// sessionwrites.
func finished(t *testing.T, context map[string]any) template {
	t.Helper()
	groups := finishedGroups(t)
	require.NoError(t, gateway.CheckPaths(groups))
	specs, _ := function.Specs(groups) // The error names those without permissions.
	most := specs[slices.IndexFunc(specs, func(s function.Spec) bool { return s.Name == "sessionwrites" })]
	for i, s := range specs {
		if s.Memory == 0 {
			specs[i] = most
			specs[i].Name = s.Name
		}
	}
	dist := t.TempDir()
	c, err := config.Read(context)
	require.NoError(t, err)
	all, rules := events.With(c.Options())
	workers, err := function.WorkerSpecs(all, rules)
	require.NoError(t, err)
	for _, s := range slices.Concat(specs, workers) {
		require.NoError(t, standIn(dist, s.Name, s.Name))
	}
	app := newApp(t)
	(&service{groups, specs, workers, rules, dist}).stack(app, c, c.Regions[len(c.Regions)-1])
	return readTemplates(t, app)["Lectern-us-Service"]
}

// Limits of AWS for a stack, an API and a function, and the part of the first two that the
// finished service may use.
const (
	mostResources, mostPaths = 280, 250 // Of 500 in a stack, of 300 in an API.
	mostDefaults             = 200      // The same without options.
	mostTemplate             = 800_000  // Of a million bytes.
	mostRole                 = 10_240   // The inline policies of a role together.
	mostPolicy               = 20_480   // Who may invoke a function.
	mostInline               = 51_200   // A text that stands in a property.
)

// apiResources gives the number of resources of the API: every part of every path is one.
func apiResources(b body) int {
	nodes := map[string]bool{"/": true}
	for path := range b.Paths {
		for at := path; at != "/"; at = filepath.Dir(at) {
			nodes[at] = true
		}
	}
	return len(nodes)
}

// longest gives the longest text within a value, the description of the API aside.
func longest(value any) (n int) {
	switch value := value.(type) {
	case string:
		return len(value)
	case []any:
		for _, inner := range value {
			n = max(n, longest(inner))
		}
	case map[string]any:
		for _, inner := range value {
			n = max(n, longest(inner))
		}
	}
	return n
}

// TestTheFinishedServiceStaysWithinTheLimits with all its groups and operations, with every
// option and with none.
func TestTheFinishedServiceStaysWithinTheLimits(t *testing.T) {
	groups, operations := finishedGroups(t), 0
	for _, g := range groups {
		operations += len(g.Operations)
	}
	require.GreaterOrEqual(t, len(groups)+1, 30, "the operator's function is one more")
	require.GreaterOrEqual(t, operations, 257)
	for name, most := range map[string]int{"defaults": mostDefaults, "every option": mostResources} {
		context := map[string]any{}
		if name == "every option" {
			context = everything(t)
		}
		stack := finished(t, context)
		require.LessOrEqual(t, len(stack.Resources), most, name)
		require.LessOrEqual(t, len(stack.text), mostTemplate, name)
		paths := apiResources(bodyOf(t, stack))
		require.LessOrEqual(t, paths, mostPaths, name)
		invokers := map[string]int{}
		for id, r := range stack.Resources {
			switch r.Type {
			case "AWS::IAM::Role":
				require.LessOrEqual(t, len(plain(t, r.Properties["Policies"])), mostRole, id)
			case "AWS::Lambda::Permission":
				invokers[plain(t, r.Properties["FunctionName"])] += len(plain(t, r.Properties))
			case "AWS::ApiGateway::RestApi":
				continue
			}
			require.LessOrEqual(t, longest(r.Properties), mostInline, id)
		}
		for f, bytes := range invokers {
			require.LessOrEqual(t, bytes, mostPolicy, f)
		}
		t.Logf("%s: %d functions, %d operations, %d resources of the API, %d of the stack, %d bytes",
			name, len(stack.of("AWS::Lambda::Function")), operations, paths, len(stack.Resources), len(stack.text))
	}
}

// billed counts what AWS bills in a month without requests, by kind: the metrics of alarms, dashboards,
// polled queues and schedules (tools/cost has the prices of both regions). Logs and filters cost
// nothing without lines, but a function with a log of its own would be a hundred things to keep.
func billed(service template) map[string]int {
	n := map[string]int{"logs": len(service.of("AWS::Logs::LogGroup")), "filters": len(service.of("AWS::Logs::MetricFilter"))}
	for _, r := range service.of("AWS::CloudWatch::Alarm") {
		n["metrics of alarms"] += max(1, len(metricsOf(r)))
	}
	n["dashboards"] = len(service.of("AWS::CloudWatch::Dashboard"))
	for _, m := range service.of("AWS::Lambda::EventSourceMapping") {
		if m.Properties["StartingPosition"] == nil { // It polls a queue. The stream costs nothing to read.
			n["polled queues"]++
		}
	}
	n["schedules"] = len(service.of("AWS::Scheduler::Schedule"))
	return n
}

// free lists the kinds of resources that cost nothing without a request. Nothing polls the
// dead-letter queues.
var free = []string{
	"AWS::ApiGateway::Account", "AWS::ApiGateway::Deployment", "AWS::ApiGateway::RestApi", "AWS::ApiGateway::Stage", "AWS::CDK::Metadata",
	"AWS::Events::EventBus", "AWS::Events::Rule", "AWS::IAM::Role", "AWS::Lambda::EventInvokeConfig",
	"AWS::Lambda::Function", "AWS::Lambda::Permission", "AWS::Logs::LogGroup", "AWS::Logs::MetricFilter",
	"AWS::Logs::SubscriptionFilter", "AWS::SQS::Queue", "AWS::SQS::QueuePolicy",
}

// TestMoreGroupsCostNothingIdle: all groups together pay in a month without requests what the groups
// of today pay, which tools/cost computes and judges in both regions. The workers are those of today in
// both: a further worker with a queue costs more.
func TestMoreGroupsCostNothingIdle(t *testing.T) {
	now, then := ofDefaults(t)["Lectern-us-Service"], finished(t, nil)
	require.GreaterOrEqual(t, len(then.of("AWS::Lambda::Function")), len(now.of("AWS::Lambda::Function")))
	require.Equal(t, billed(now), billed(then))
	priced := []string{
		"AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard", "AWS::Lambda::EventSourceMapping", "AWS::Scheduler::Schedule",
	}
	for id, r := range then.Resources {
		require.True(t, slices.Contains(priced, r.Type) || slices.Contains(free, r.Type), "%s: is %s free while nothing happens?", id, r.Type)
	}
	t.Logf("the finished service costs without requests what %v cost (tools/cost)", billed(then))
}

// TestTheFinishedOperationsAreThoseOfTheTable, where the table stands beside the project.
func TestTheFinishedOperationsAreThoseOfTheTable(t *testing.T) {
	text, err := os.ReadFile("../../shared/operations.tsv")
	if errors.Is(err, fs.ErrNotExist) {
		t.Log("../shared/operations.tsv is not there")
		return
	}
	require.NoError(t, err)
	var table []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(line, "\t")
		table = append(table, strings.Join(fields[1:4], "\t")+"\n")
	}
	listed, err := os.ReadFile("testdata/finished.txt")
	require.NoError(t, err)
	require.ElementsMatch(t, table[1:], slices.Collect(strings.Lines(string(listed))))
}
