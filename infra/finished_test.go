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
	workers, err := function.WorkerSpecs(events.Workers, events.Rules)
	require.NoError(t, err)
	for _, s := range slices.Concat(specs, workers) {
		require.NoError(t, standIn(dist, s.Name, s.Name))
	}
	app := newApp(t)
	c, err := config.Read(context)
	require.NoError(t, err)
	(&service{groups, specs, workers, events.Rules, dist}).stack(app, c, c.Regions[len(c.Regions)-1])
	return readTemplates(t, app)["Lectern-us-Service"]
}

// Limits of AWS for a stack, an API and a function, and the part of the first two that the
// finished service may use.
const (
	mostResources, mostPaths = 250, 250 // Of 500 in a stack, of 300 in an API.
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

// idle has the list prices of a month in us-east-1, in USD, of the kinds of resources that
// cost without a request (tools/cost).
var idle = map[string]float64{"AWS::CloudWatch::Alarm": 0.10, "AWS::CloudWatch::Dashboard": 3}

// The rest of a month without requests (tools/cost, docs/operations.md): a secret and a table of 1 GB
// with its recovery in the stack of state, the polling of a queue, and a function of each minute.
const secretAndTable, polledQueue, eachMinute = 0.40 + 0.45, 0.27, 0.30

// TestMoreGroupsCostNothingIdle: the finished service has the alarms of today.
func TestMoreGroupsCostNothingIdle(t *testing.T) {
	now, then := ofDefaults(t)["Lectern-us-Service"], finished(t, nil)
	sum := 0.0
	for kind, price := range idle {
		require.Len(t, then.of(kind), len(now.of(kind)), kind)
		for _, r := range then.of(kind) {
			sum += price * float64(max(1, len(metricsOf(r))))
		}
	}
	for _, m := range then.of("AWS::Lambda::EventSourceMapping") {
		if m.Properties["StartingPosition"] == nil { // It reads a queue. The stream costs nothing to read.
			sum += polledQueue
		}
	}
	sum += secretAndTable + eachMinute*float64(len(then.of("AWS::Scheduler::Schedule")))
	require.Less(t, sum, 5.0)
	for _, kind := range []string{"AWS::Logs::LogGroup", "AWS::SQS::Queue"} {
		require.Len(t, then.of(kind), len(now.of(kind)), kind)
	}
	free := []string{
		"AWS::ApiGateway::Account", "AWS::ApiGateway::Deployment", "AWS::ApiGateway::RestApi", "AWS::ApiGateway::Stage", "AWS::CDK::Metadata",
		"AWS::Events::EventBus", "AWS::Events::Rule", "AWS::IAM::Role", "AWS::Lambda::EventInvokeConfig",
		"AWS::Lambda::Function", "AWS::Lambda::Permission", "AWS::Logs::LogGroup", "AWS::Logs::MetricFilter",
		// Nothing polls the dead-letter queues.
		"AWS::Logs::SubscriptionFilter", "AWS::SQS::Queue", "AWS::SQS::QueuePolicy",
	}
	// Lambda polls the queues and the stream, and a schedule invokes a function each minute, for a
	// price that does not grow with the groups (tools/cost).
	const polls, schedules = 4, 1
	require.Len(t, then.of("AWS::Lambda::EventSourceMapping"), polls)
	require.Len(t, then.of("AWS::Scheduler::Schedule"), schedules)
	free = append(free, "AWS::Lambda::EventSourceMapping", "AWS::Scheduler::Schedule")
	for id, r := range then.Resources {
		_, priced := idle[r.Type]
		require.True(t, priced || slices.Contains(free, r.Type), "%s: is %s free while nothing happens?", id, r.Type)
	}
	t.Logf("the finished service costs %.2f USD in a month without requests", sum)
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
