package observe

import (
	"fmt"
	"maps"
	"slices"

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
	// in are the names of the logs that have such lines.
	in []string
	// field is the field of a line that the metric takes as its value; empty to count the lines.
	field string
	// longest takes the highest value of a period instead of the sum.
	longest bool
}

// signals lists the signals of docs/operations.md, "When something is wrong".
func signals() []signal {
	busy := awslogs.FilterPattern_NumberValue(jsii.String("$.status"), jsii.String("="), jsii.Number(503))
	disagree := awslogs.FilterPattern_Any(text("error", "*disagree*"), text("error", "*do not agree*"), text("metric", "shard_mismatch"))
	failed := awslogs.FilterPattern_All(text("command", command.Maintain), text("level", "ERROR"))
	// The schedule sends maintain every hour.
	used := awslogs.FilterPattern_All(text("command", "*"), awslogs.FilterPattern_StringValue(
		jsii.String("$.command"), jsii.String("!="), jsii.String(command.Maintain)))
	api, operator, workers := []string{function.API}, []string{function.Operator}, []string{function.Workers}
	return []signal{
		{"RateLimiterFailedOpen", text("metric", "ratelimit_failed_open"), api, "", false},
		{"Busy", busy, api, "", false},
		{"VersionsDisagree", disagree, []string{function.API, function.Operator}, "", false},
		{"MaintainFails", awslogs.FilterPattern_Any(text("metric", "maintain_failed"), failed), operator, "", false},
		{"OperatorUsed", used, operator, "", false},
		{"SignInsMisused", awslogs.FilterPattern_Any(text("metric", "connection_reuse"), text("metric", "signin_refused")), api, "", false},
		{workersFail, text("metric", "*_failed"), workers, "", false},
		{receiversFail, delivered("failed"), workers, "failed", false},
		{firstAttempt, delivered("latency_ms"), workers, "latency_ms", true},
	}
}

// The signals of the workers: lines about work that failed and is tried again, attempts that receivers
// did not take, and the longest time from a change to its first attempt.
const (
	workersFail   = "WorkersFail"
	receiversFail = "ReceiversFail"
	firstAttempt  = "FirstAttempt"
)

// delivered returns the pattern of the deliverer's lines in which a field is above zero. A line without
// deliveries gives no value, so an idle region has no metric to pay.
func delivered(field string) awslogs.IFilterPattern {
	some := awslogs.FilterPattern_NumberValue(jsii.String("$."+field), jsii.String(">"), jsii.Number(0))
	return awslogs.FilterPattern_All(text("msg", "delivered"), some)
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
	signals byName
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
		signals:         byName{},
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

// newSignal counts the lines of a signal in the logs as one metric, or takes the values of a field.
func newSignal(at config.Region, in function.Logs, s signal) awscloudwatch.IMetric {
	namespace, value, statistic := "Lectern/"+at.Name, "1", "Sum"
	if s.field != "" {
		value = "$." + s.field
	}
	if s.longest {
		statistic = "Maximum"
	}
	logs := map[string]awslogs.ILogGroup{function.Operator: in.Operator, function.Workers: in.Workers}
	maps.Copy(logs, in.Requests())
	of := s.in
	if slices.Contains(of, function.API) && in.Uploads != nil {
		of = append(slices.Clone(of), function.Uploads) // Its lines are those of requests too.
	}
	for _, name := range of {
		logs[name].AddMetricFilter(jsii.String(s.name), &awslogs.MetricFilterOptions{
			FilterName:      jsii.String(fmt.Sprintf("%s-%s-%s", at.Prefix(), name, s.name)),
			FilterPattern:   s.pattern,
			MetricNamespace: &namespace, MetricName: jsii.String(s.name), MetricValue: &value,
		})
	}
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: &namespace, MetricName: &s.name, Statistic: &statistic, Period: period(),
	})
}
