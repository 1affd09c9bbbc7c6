package observe

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/function"
	"lectern/infra/stack"
)

// alarms creates the alarms of a region.
type alarms struct {
	in      *stack.Stack
	actions []awscloudwatch.IAlarmAction
}

// threshold is the lowest value that raises an alarm, and the number of consecutive periods
// of five minutes with that value.
type threshold struct{ value, periods float64 }

// atOnce raises an alarm at the first event.
var atOnce = threshold{1, 1}

// raise creates an alarm on a metric.
func (a *alarms) raise(name, description string, metric awscloudwatch.IMetric, at threshold) {
	alarm := awscloudwatch.NewAlarm(a.in.Scope, jsii.String("Alarm-"+name), &awscloudwatch.AlarmProps{
		AlarmName:          jsii.String(a.in.Region.Prefix() + "-" + name),
		AlarmDescription:   &description,
		Metric:             metric,
		Threshold:          &at.value,
		EvaluationPeriods:  &at.periods,
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		// Without requests there are no values, and no alarm.
		TreatMissingData: awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
	if len(a.actions) > 0 {
		alarm.AddAlarmAction(a.actions...)
	}
}

// function watches the errors, throttles and time of a function.
func (a *alarms) function(f function.Function) {
	a.raise(f.Name+"-fails", "The function "+f.Name+" ended with an error, or ran out of time or memory.",
		f.Lambda.MetricErrors(over("Sum")), atOnce)
	a.raise(f.Name+"-throttled", "The function "+f.Name+" was not invoked: all instances that it may have, or that the account "+
		"has, were busy.",
		f.Lambda.MetricThrottles(over("Sum")), atOnce)
	const near = 0.75
	a.raise(f.Name+"-slow", "An invocation of "+f.Name+" took three quarters of its time or more.",
		f.Lambda.MetricDuration(over("Maximum")), threshold{float64(f.Seconds) * 1000 * near, 1})
}

// gateway watches the answers of the API. A few failures are only in the log; many failures,
// or slow answers for a quarter of an hour, raise an alarm: a warm search takes far less than
// a second, a cold search of the largest event a few seconds.
func (a *alarms) gateway(m *metrics) {
	a.raise("api-fails", "The API answered 5 requests or more in five minutes with 5xx.", m.faults, threshold{5, 1})
	a.raise("api-slow", "For a quarter of an hour, one answer of the API in a hundred took 5 seconds or "+
		"longer.", m.latency, threshold{5000, 3})
}

// table watches the table. Throttled calls are retried, so only many raise an alarm.
func (a *alarms) table(m *metrics) {
	a.raise("table-throttles-reads", "The table throttled 100 reads or more in five minutes.", m.throttledReads, threshold{100, 1})
	a.raise("table-throttles-writes", "The table throttled 100 writes or more in five minutes.", m.throttledWrites, threshold{100, 1})
	for _, call := range calls {
		a.raise("table-fails-"+call, "The table failed 5 calls of "+call+" or more in five minutes.", m.failing[call], threshold{5, 1})
	}
}

// signals watches the log lines of the functions; see docs/operations.md, "When something is
// wrong".
func (a *alarms) signals(m *metrics) {
	a.raise("limiter-open", "The rate limiter could not count in the table and let requests pass.", m.signals["RateLimiterFailedOpen"], atOnce)
	a.raise("busy", "5 lines or more with 503 in five minutes: requests, or parts of bulks, were given "+
		"up.", m.signals["Busy"], threshold{5, 1})
	a.raise("versions-disagree", "What was read disagreed with its version until the request was given "+
		"up.", m.signals["VersionsDisagree"], atOnce)
	a.raise("maintain-fails", "What is purged, or filled in, once a day could not be.", m.signals["MaintainFails"], atOnce)
}
