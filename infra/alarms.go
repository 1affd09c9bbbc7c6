package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

// alarms makes the alarms of a region.
type alarms struct {
	stack   awscdk.Stack
	at      region
	actions []awscloudwatch.IAlarmAction
}

// when is from which value on, and for how many periods of five minutes in a row, an
// alarm is raised.
type when struct{ value, periods float64 }

// atOnce is the first value of one in five minutes.
var atOnce = when{1, 1}

func (a *alarms) raise(name, description string, metric awscloudwatch.IMetric, w when) {
	alarm := awscloudwatch.NewAlarm(a.stack, jsii.String("Alarm-"+name), &awscloudwatch.AlarmProps{
		AlarmName:          jsii.String(a.at.prefix() + "-" + name),
		AlarmDescription:   &description,
		Metric:             metric,
		Threshold:          &w.value,
		EvaluationPeriods:  &w.periods,
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		// No requests are no trouble.
		TreatMissingData: awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
	if len(a.actions) > 0 {
		alarm.AddAlarmAction(a.actions...)
	}
}

// function watches one function: that it ends as it should, is not held back, and
// does not come near the end of its time.
func (a *alarms) function(f built) {
	a.raise(f.name+"-fails", "The function "+f.name+" ended with an error, or ran out of time or memory.", f.lambda.MetricErrors(over("Sum")), atOnce)
	a.raise(f.name+"-throttled", "The function "+f.name+" was not invoked: all instances that it may have, or that the account has, were busy.", f.lambda.MetricThrottles(over("Sum")), atOnce)
	const near = 0.75
	a.raise(f.name+"-slow", "An invocation of "+f.name+" took three quarters of its time or more.",
		f.lambda.MetricDuration(over("Maximum")), when{float64(f.seconds) * 1000 * near, 1})
}

// gateway watches the API as a client sees it. A few failures stand in the log; more
// of them, or answers that are slow for a quarter of an hour, are worth waking up for:
// a warm search takes far less than a second, a cold one of the largest event some.
func (a *alarms) gateway(m *metrics) {
	a.raise("api-fails", "The API answered 5 requests or more in five minutes with 5xx.", m.faults, when{5, 1})
	a.raise("api-slow", "For a quarter of an hour, one answer of the API in a hundred took 5 seconds or longer.", m.latency, when{5000, 3})
}

// table watches the table. A throttled call is tried again, so that few of them are
// no trouble.
func (a *alarms) table(m *metrics) {
	a.raise("table-throttles-reads", "The table throttled 100 reads or more in five minutes.", m.throttledReads, when{100, 1})
	a.raise("table-throttles-writes", "The table throttled 100 writes or more in five minutes.", m.throttledWrites, when{100, 1})
	for _, call := range calls {
		a.raise("table-fails-"+call, "The table failed 5 calls of "+call+" or more in five minutes.", m.failing[call], when{5, 1})
	}
}

// signals watches what functions write into their logs; see docs/operations.md,
// "When something is wrong".
func (a *alarms) signals(m *metrics) {
	a.raise("limiter-open", "The rate limiter could not count in the table and let requests pass.", m.signals["RateLimiterFailedOpen"], atOnce)
	a.raise("busy", "5 lines or more with 503 in five minutes: requests, or parts of bulks, were given up.", m.signals["Busy"], when{5, 1})
	a.raise("versions-disagree", "What was read disagreed with its version until the request was given up.", m.signals["VersionsDisagree"], atOnce)
	a.raise("maintain-fails", "What is purged, or filled in, once a day could not be.", m.signals["MaintainFails"], atOnce)
}
