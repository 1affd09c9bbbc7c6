package observe

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	command "lectern/functions/operator"
	"lectern/infra/config"
	"lectern/infra/function"
)

// calls lists the calls of shared/table.
var calls = []string{"BatchGetItem", "GetItem", "Query", "TransactGetItems", "TransactWriteItems", "UpdateItem"}

// signal is an event that only log lines show.
type signal struct {
	// name is the name of the metric.
	name string
	// pattern finds the lines.
	pattern awslogs.IFilterPattern
	// api and operator report whether the functions of the API and the operator's function
	// write lines of this kind.
	api, operator bool
}

// signals lists the signals of docs/operations.md, "When something is wrong".
func signals() []signal {
	busy := awslogs.FilterPattern_NumberValue(jsii.String("$.status"), jsii.String("="), jsii.Number(503))
	disagree := awslogs.FilterPattern_Any(text("error", "*disagree*"), text("error", "*do not agree*"), text("metric", "shard_mismatch"))
	failed := awslogs.FilterPattern_All(text("command", command.Maintain), text("level", "ERROR"))
	// The schedule sends maintain every hour.
	used := awslogs.FilterPattern_All(text("command", "*"), awslogs.FilterPattern_StringValue(
		jsii.String("$.command"), jsii.String("!="), jsii.String(command.Maintain)))
	return []signal{
		{"RateLimiterFailedOpen", text("metric", "ratelimit_failed_open"), true, false},
		{"Busy", busy, true, false},
		{"VersionsDisagree", disagree, true, true},
		{"MaintainFails", awslogs.FilterPattern_Any(text("metric", "maintain_failed"), failed), false, true},
		{"OperatorUsed", used, false, true},
	}
}

// text returns the pattern of lines with a field.
func text(field, pattern string) awslogs.JsonPattern {
	return awslogs.FilterPattern_StringValue(jsii.String("$."+field), jsii.String("="), &pattern)
}

// metrics holds the metrics of functions, gateway, table and logs.
type metrics struct {
	// Metrics of all functions in the account's AWS region.
	invoked, failed, throttled, running, duration          awscloudwatch.IMetric
	requests, faults, latency                              awscloudwatch.IMetric
	read, written, throttledReads, throttledWrites, losing awscloudwatch.IMetric
	// failing has a metric for each of calls.
	failing map[string]awscloudwatch.IMetric
	// signals has a metric for each signal, by name.
	signals map[string]awscloudwatch.IMetric
}

// newMetrics declares the metrics of a region.
func newMetrics(at config.Region, of Parts) *metrics {
	stage := of.API.DeploymentStage()
	m := &metrics{
		invoked:         awslambda.Function_MetricAllInvocations(over("Sum")),
		failed:          awslambda.Function_MetricAllErrors(over("Sum")),
		throttled:       awslambda.Function_MetricAllThrottles(over("Sum")),
		running:         awslambda.Function_MetricAllConcurrentExecutions(over("Maximum")),
		duration:        awslambda.Function_MetricAllDuration(over("p99")),
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
		m.signals[s.name] = newSignal(at, of.Logs, s)
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

// newSignal counts the lines of a signal in the logs as one metric.
func newSignal(at config.Region, in function.Logs, s signal) awscloudwatch.IMetric {
	namespace := "Lectern/" + at.Name
	count := func(log awslogs.LogGroup, name string) {
		log.AddMetricFilter(jsii.String(s.name), &awslogs.MetricFilterOptions{
			FilterName:      jsii.String(fmt.Sprintf("%s-%s-%s", at.Prefix(), name, s.name)),
			FilterPattern:   s.pattern,
			MetricNamespace: &namespace, MetricName: jsii.String(s.name), MetricValue: jsii.String("1"),
		})
	}
	if s.api {
		count(in.API, function.API)
	}
	if s.operator {
		count(in.Operator, function.Operator)
	}
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: &namespace, MetricName: &s.name, Statistic: jsii.String("Sum"), Period: period(),
	})
}
