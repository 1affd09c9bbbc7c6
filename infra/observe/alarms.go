package observe

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/config"
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

// raise creates an alarm on a metric, or on the value of an expression with several metrics.
// CloudWatch bills each metric of an alarm.
func (a *alarms) raise(name, description string, metric awscloudwatch.IMetric, at threshold) {
	a.add(name, description, &awscloudwatch.AlarmProps{
		Metric:             metric,
		Threshold:          &at.value,
		EvaluationPeriods:  &at.periods,
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		// Without requests there are no values, and no alarm.
		TreatMissingData: awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
}

// add creates an alarm with a name and a description.
func (a *alarms) add(name, description string, props *awscloudwatch.AlarmProps) {
	props.AlarmName, props.AlarmDescription = jsii.String(a.in.Region.Prefix()+"-"+name), &description
	alarm := awscloudwatch.NewAlarm(a.in.Scope, jsii.String("Alarm-"+name), props)
	if len(a.actions) > 0 {
		alarm.AddAlarmAction(a.actions...)
	}
}

// functions watches the functions together. The metrics are of all functions in the account's
// AWS region, because AWS has no metric of a part of them.
func (a *alarms) functions(m *metrics) {
	a.raise("functions-fail", "A function of the account in this AWS region ended with an error, or ran out of time or memory.",
		m.failed, atOnce)
	a.raise("functions-throttled", "A function of the account in this AWS region was not invoked: all instances that it may have, "+
		"or that the account has, were busy.", m.throttled, atOnce)
}

// each watches each function and each kind of call to the table, and the sign-ins.
func (a *alarms) each(functions []function.Function, m *metrics) {
	for _, f := range functions {
		a.function(f)
	}
	for _, call := range calls {
		a.raise("table-fails-"+call, "The table failed 5 calls of "+call+" or more in five minutes.", m.failing[call], threshold{5, 1})
	}
	a.raise("sign-ins-misused", "10 lines or more in five minutes: sign-ins were refused, or codes and refresh tokens of applications were "+
		"used again, which somebody may have stolen.", m.signals["SignInsMisused"], threshold{10, 1})
}

// function watches the errors and throttles of a function, and its time unless it is a worker: a
// worker may take all of its time, and a worker that is too slow has old messages.
func (a *alarms) function(f function.Function) {
	failing := byName{"errors": f.Lambda.MetricErrors(over("Sum")), "throttles": f.Lambda.MetricThrottles(over("Sum"))}
	a.raise(f.Name+"-fails", "The function "+f.Name+" ended with an error, or ran out of time or memory, or was not invoked, since "+
		"all instances that it may have, or that the account has, were busy.", failing.math(failing.sum()), atOnce)
	if f.Source != "" {
		return
	}
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

// table watches the throttles of the table. Throttled calls are retried, so only many raise an
// alarm. Calls that fail are retried too; when retries end, the answers raise busy or api-fails.
func (a *alarms) table(m *metrics) {
	a.raise("table-throttles-reads", "The table throttled 100 reads or more in five minutes.", m.throttledReads, threshold{100, 1})
	a.raise("table-throttles-writes", "The table throttled 100 writes or more in five minutes.", m.throttledWrites, threshold{100, 1})
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
	a.raise("operator-used", "The operator's function got a command other than maintain.", m.signals["OperatorUsed"], atOnce)
}

// renewalDays is the number of days before the end of a certificate in which AWS has failed to
// renew it: the renewal begins 60 days before the end.
const renewalDays = 30

// certificate watches the end of the certificate of the API's own host. AWS publishes the number
// of days twice a day, and none after the end; the alarm then stays.
func (a *alarms) certificate(of *config.Domain) {
	a.add("certificate-ends", "The certificate of "+of.Name+" ends in 30 days or less and was not renewed.", &awscloudwatch.AlarmProps{
		Metric: awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
			Namespace: jsii.String("AWS/CertificateManager"), MetricName: jsii.String("DaysToExpiry"),
			DimensionsMap: &map[string]*string{"CertificateArn": &of.CertificateARN},
			Statistic:     jsii.String("Minimum"), Period: awscdk.Duration_Days(jsii.Number(1)),
		}),
		Threshold:          jsii.Number(renewalDays),
		EvaluationPeriods:  jsii.Number(1),
		ComparisonOperator: awscloudwatch.ComparisonOperator_LESS_THAN_OR_EQUAL_TO_THRESHOLD,
		TreatMissingData:   awscloudwatch.TreatMissingData_IGNORE,
	})
}
