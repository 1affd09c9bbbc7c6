package observe

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/config"
	"lectern/infra/function"
	"lectern/infra/gateway"
)

// calls lists the calls of shared/table.
var calls = []string{"BatchGetItem", "GetItem", "Query", "TransactGetItems", "TransactWriteItems", "UpdateItem"}

// signal is an event that only log lines show.
type signal struct {
	// name is the name of the metric.
	name string
	// pattern finds the lines.
	pattern awslogs.IFilterPattern
	// from reports whether a function can write a line of this kind.
	from func(function.Function) bool
}

// signals lists the signals of docs/operations.md, "When something is wrong".
func signals() []signal {
	busy := awslogs.FilterPattern_NumberValue(jsii.String("$.status"), jsii.String("="), jsii.Number(503))
	disagree := awslogs.FilterPattern_Any(text("error", "*disagree*"), text("error", "*do not agree*"), text("metric", "shard_mismatch"))
	failed := awslogs.FilterPattern_All(text("command", "maintain"), text("level", "ERROR"))
	return []signal{
		{"RateLimiterFailedOpen", text("metric", "ratelimit_failed_open"), function.Function.CountsRequests},
		{"Busy", busy, function.Function.Authenticates},
		{"VersionsDisagree", disagree, reads},
		{"MaintainFails", awslogs.FilterPattern_Any(text("metric", "maintain_failed"), failed), maintains},
	}
}

// text returns the pattern of lines with a field.
func text(field, pattern string) awslogs.JsonPattern {
	return awslogs.FilterPattern_StringValue(jsii.String("$."+field), jsii.String("="), &pattern)
}

// maintains reports whether the function does maintenance.
func maintains(f function.Function) bool { return f.Name == function.Operator }

// reads reports whether the function reads records.
func reads(f function.Function) bool { return maintains(f) || f.Authenticates() }

// metrics holds the metrics of gateway, table and logs.
type metrics struct {
	requests, faults, latency                              awscloudwatch.IMetric
	read, written, throttledReads, throttledWrites, losing awscloudwatch.IMetric
	// failing has a metric for each of calls.
	failing map[string]awscloudwatch.IMetric
	// signals has a metric for each signal, by name.
	signals map[string]awscloudwatch.IMetric
}

// newMetrics declares the metrics of a region.
func newMetrics(at config.Region, functions []function.Function, g *gateway.Gateway) *metrics {
	stage := g.API.DeploymentStage()
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

// tableMetric returns the sum of a metric of the table, for a kind of call unless call is
// empty.
func tableMetric(at config.Region, name, call string) awscloudwatch.IMetric {
	dimensions := map[string]*string{"TableName": jsii.String(at.Table())}
	if call != "" {
		dimensions["Operation"] = &call
	}
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: jsii.String("AWS/DynamoDB"), MetricName: &name, DimensionsMap: &dimensions,
		Statistic: jsii.String("Sum"), Period: period(),
	})
}

// newSignal counts the lines of a signal in the logs of all functions as one metric.
func newSignal(at config.Region, functions []function.Function, s signal) awscloudwatch.IMetric {
	namespace := "Lectern/" + at.Name
	for _, f := range functions {
		if s.from(f) {
			f.Log.AddMetricFilter(jsii.String(s.name), &awslogs.MetricFilterOptions{
				FilterName:      jsii.String(fmt.Sprintf("%s-%s-%s", at.Prefix(), f.Name, s.name)),
				FilterPattern:   s.pattern,
				MetricNamespace: &namespace, MetricName: jsii.String(s.name), MetricValue: jsii.String("1"),
			})
		}
	}
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: &namespace, MetricName: &s.name, Statistic: jsii.String("Sum"), Period: period(),
	})
}
