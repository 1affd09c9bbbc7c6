package observe

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"lectern/events"
	"lectern/infra/function"
)

// mostAge is the age in seconds of the oldest message of a queue that raises an alarm. A message of
// deliveries may be delayed by up to 15 minutes, and then be held for 6 by an instance that ended. A
// message of work comes again after 90 minutes, of drawings after 12, and of media after 30, with a delay of up to
// 15 before. The slides of a large event take half an hour.
var mostAge = map[string]string{
	events.Webhooks: "300", events.Deliveries: "1500", events.Work: "5400", events.Drawings: "3600", events.Media: "3600",
}

// byName has metrics by the names of queues, functions or rules.
type byName map[string]awscloudwatch.IMetric

// changeMetrics holds the metrics of the way of changes from the stream to the receivers.
type changeMetrics struct {
	// late is the age of the change that a reader of the stream has read last, and the time from a change
	// to its first attempt.
	late byName
	// waiting is the age of the oldest message of a queue, dead the number of messages in a
	// dead-letter queue.
	waiting, dead byName
	// invoked is of the functions that a schedule invokes.
	invoked byName
	// lost is the number of records that could not be sent to a dead-letter queue.
	lost byName
	// failed is the work of workers, and the attempts at receivers, that failed.
	failed byName
}

// newChangeMetrics declares the metrics of workers, queues and rules. signals are those of the logs.
func newChangeMetrics(of Parts, signals byName) *changeMetrics {
	m := &changeMetrics{waiting: byName{}, dead: byName{}, invoked: byName{}, lost: byName{}}
	m.late = byName{firstAttempt: signals[firstAttempt]}
	m.failed = byName{workersFail: signals[workersFail], receiversFail: signals[receiversFail]}
	for _, name := range of.Bus.Waiting() {
		m.waiting[name] = of.Bus.Queue(name).MetricApproximateAgeOfOldestMessage(over("Maximum"))
	}
	for _, name := range of.Bus.DeadLetters() {
		m.dead[name] = of.Bus.Queue(name).MetricApproximateNumberOfMessagesVisible(over("Maximum"))
	}
	for _, f := range of.Functions {
		m.function(f)
	}
	for name, rule := range of.Bus.Rules {
		// Only a rule of a bus that is not the account's default bus has the name of its bus.
		dimensions := map[string]*string{"EventBusName": of.Bus.Bus.Ref(), "RuleName": &rule}
		if of.Bus.OfAWS[name] {
			delete(dimensions, "EventBusName")
		}
		m.lost["rule-"+name] = awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
			Namespace: jsii.String("AWS/Events"), MetricName: jsii.String("InvocationsFailedToBeSentToDlq"),
			DimensionsMap: &dimensions, Statistic: jsii.String("Sum"), Period: period(),
		})
	}
	return m
}

// function declares the metrics of a worker by its source.
func (m *changeMetrics) function(f function.Function) {
	switch f.Source {
	case events.Stream:
		m.late[f.Name] = f.Lambda.Metric(jsii.String("IteratorAge"), over("Maximum"))
		m.lost[f.Name] = f.Lambda.Metric(jsii.String("DestinationDeliveryFailures"), over("Sum"))
	case events.Log:
		m.lost[f.Name] = f.Lambda.Metric(jsii.String("DestinationDeliveryFailures"), over("Sum"))
	case events.Schedule:
		m.invoked[f.Name] = f.Lambda.MetricInvocations(over("Sum"))
	}
}

const (
	// mostLate is the age in milliseconds of a change, read or attempted first, that raises an alarm.
	mostLate = "300000"
	// mostWorkersFail and mostReceiversFail are the numbers in five minutes that raise an alarm. The
	// breaker lets about ten attempts through to a receiver that always fails, so a hundred are of many
	// receivers, or of one that fails now and then.
	mostWorkersFail   = "5"
	mostReceiversFail = "100"
)

// changes watches the way of changes. Metrics that mean one thing to an operator share an alarm by metric
// math: CloudWatch bills such an alarm by its metrics, and a reader has one line to look up.
func (a *alarms) changes(m *changeMetrics) {
	late, limits := maps.Clone(m.late), maps.Clone(mostAge)
	maps.Copy(late, m.waiting)
	for name := range m.late {
		limits[name] = mostLate
	}
	a.raise("changes-late", "A change was read, or sent to its first receiver, 5 minutes late or later, or a message of "+
		strings.Join(m.waiting.names(), " or ")+" was not handled in time.", late.math(late.worst(limits)), atOnce)
	a.raise("deliveries-fail", "In five minutes, workers failed 5 times or more, or receivers did not take 100 attempts or more.",
		m.failed.math(m.failed.worst(map[string]string{workersFail: mostWorkersFail, receiversFail: mostReceiversFail})), atOnce)
	a.raise("dead-letters", "A dead-letter queue has messages: "+strings.Join(m.dead.names(), ", ")+".", m.dead.math(m.dead.sum()), atOnce)
	a.raise("dead-letters-lost", "What could not be handled could not be sent to its dead-letter queue either.",
		m.lost.math(m.lost.sum()), atOnce)
	for _, name := range m.invoked.names() {
		a.silent(name, m)
	}
}

// silent watches a function that a schedule invokes each minute. Without an invocation there is no
// value, which raises the alarm too. Invocations that fail raise functions-fail.
func (a *alarms) silent(name string, m *changeMetrics) {
	const periods = 2
	a.add(name+"-silent", "For ten minutes, the function "+name+" was not invoked.", &awscloudwatch.AlarmProps{
		Metric:             m.invoked[name],
		Threshold:          jsii.Number(1),
		EvaluationPeriods:  jsii.Number(periods),
		ComparisonOperator: awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD,
		TreatMissingData:   awscloudwatch.TreatMissingData_BREACHING,
	})
}

// worst returns the expression of the highest value in parts of its limit.
func (b byName) worst(limits map[string]string) string {
	var parts []string
	for _, name := range b.names() {
		parts = append(parts, id(name)+" / "+limits[name])
	}
	return "MAX([" + strings.Join(parts, ", ") + "])"
}

// names returns the names of the metrics, in order.
func (b byName) names() []string { return slices.Sorted(maps.Keys(b)) }

// sum returns the expression of the sum of all metrics, in which a metric without values counts
// nothing.
func (b byName) sum() string {
	var ids []string
	for _, name := range b.names() {
		ids = append(ids, id(name))
	}
	return "SUM([" + strings.Join(ids, ", ") + "])"
}

// math returns the value of an expression with all metrics.
func (b byName) math(expression string) awscloudwatch.IMetric {
	using := map[string]awscloudwatch.IMetric{}
	for name, metric := range b {
		using[id(name)] = metric
	}
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression: &expression, UsingMetrics: &using, Period: period(),
	})
}

// all returns the metrics in the order of their names.
func (b byName) all() (metrics []awscloudwatch.IMetric) {
	for _, name := range b.names() {
		metrics = append(metrics, b[name])
	}
	return metrics
}

// id returns a name as the id of a metric in an expression, which begins with a small letter.
func id(name string) string {
	return strings.ToLower(name[:1]) + strings.ReplaceAll(name[1:], "-", "_")
}
