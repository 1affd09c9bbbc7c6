package main

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
)

// calls are the calls that shared/table makes.
var calls = []string{"BatchGetItem", "GetItem", "Query", "TransactGetItems", "TransactWriteItems", updateItem}

// signal is something that functions tell by lines of their log alone.
type signal struct {
	// name is the metric's.
	name string
	// pattern finds the lines.
	pattern awslogs.IFilterPattern
	// from is whether a function can write such a line.
	from func(function) bool
}

// signals are what docs/operations.md tells of, "When something is wrong".
func signals() []signal {
	serves := func(f function) bool { return f.name != operator && f.permits(authenticate) }
	maintains := func(f function) bool { return f.name == operator }
	reads := func(f function) bool { return f.name == operator || serves(f) }
	text := func(field, pattern string) awslogs.JsonPattern {
		return awslogs.FilterPattern_StringValue(jsii.String("$."+field), jsii.String("="), &pattern)
	}
	return []signal{
		{"RateLimiterFailedOpen", text("metric", "ratelimit_failed_open"), func(f function) bool { return f.permits(limit) }},
		{"Busy", awslogs.FilterPattern_NumberValue(jsii.String("$.status"), jsii.String("="), jsii.Number(503)), serves},
		{"VersionsDisagree", awslogs.FilterPattern_Any(text("error", "*disagree*"), text("error", "*do not agree*"), text("metric", "shard_mismatch")), reads},
		{"MaintainFails", awslogs.FilterPattern_Any(text("metric", "maintain_failed"), awslogs.FilterPattern_All(text("command", "maintain"), text("level", "ERROR"))), maintains},
	}
}

// metrics are what is looked at beside the functions themselves.
type metrics struct {
	requests, faults, latency                              awscloudwatch.IMetric
	read, written, throttledReads, throttledWrites, losing awscloudwatch.IMetric
	// failing are by the calls that fail.
	failing map[string]awscloudwatch.IMetric
	// signals are by their names.
	signals map[string]awscloudwatch.IMetric
}

func newMetrics(at region, functions []built, g *gateway) *metrics {
	stage := g.api.DeploymentStage()
	m := &metrics{
		requests:        stage.MetricCount(over("Sum")),
		faults:          stage.MetricServerError(over("Sum")),
		latency:         stage.MetricLatency(over("p99")),
		read:            tableMetric(at, "ConsumedReadCapacityUnits", ""),
		written:         tableMetric(at, "ConsumedWriteCapacityUnits", ""),
		losing:          tableMetric(at, "TransactionConflict", ""),
		throttledReads:  tableMetric(at, "ReadThrottleEvents", ""),
		throttledWrites: tableMetric(at, "WriteThrottleEvents", ""),
		failing:         map[string]awscloudwatch.IMetric{},
		signals:         map[string]awscloudwatch.IMetric{},
	}
	for _, call := range calls {
		m.failing[call] = tableMetric(at, "SystemErrors", call)
	}
	for _, s := range signals() {
		m.signals[s.name] = newSignal(at, functions, s)
	}
	return m
}

// tableMetric is the sum of one of the table's metrics, of one kind of call where
// that is given.
func tableMetric(at region, name, call string) awscloudwatch.IMetric {
	dimensions := map[string]*string{"TableName": jsii.String(at.table())}
	if call != "" {
		dimensions["Operation"] = &call
	}
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: jsii.String("AWS/DynamoDB"), MetricName: &name, DimensionsMap: &dimensions,
		Statistic: jsii.String("Sum"), Period: period(),
	})
}

// newSignal has the lines of all functions that can write them counted as one
// metric, and returns it.
func newSignal(at region, functions []built, s signal) awscloudwatch.IMetric {
	namespace := "Lectern/" + at.name
	for _, f := range functions {
		if s.from(f.function) {
			f.log.AddMetricFilter(jsii.String(s.name), &awslogs.MetricFilterOptions{
				FilterName:      jsii.String(fmt.Sprintf("%s-%s-%s", at.prefix(), f.name, s.name)),
				FilterPattern:   s.pattern,
				MetricNamespace: &namespace, MetricName: jsii.String(s.name), MetricValue: jsii.String("1"),
			})
		}
	}
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: &namespace, MetricName: &s.name, Statistic: jsii.String("Sum"), Period: period(),
	})
}
