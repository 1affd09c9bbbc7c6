package observe

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/stack"
)

// Uploads names the parts of the upload service that are watched, as the metrics of load balancers name them.
type Uploads struct{ Balancer, Targets *string }

// AddUploads creates the alarms of the upload service: forms that fail, and no server that takes forms. The time
// of a form says how slow its client is, so no alarm watches it.
func AddUploads(in *stack.Stack, of Uploads) {
	a := &alarms{in, uploadActions(in)}
	failed := byName{
		"servers":  of.metric("HTTPCode_Target_5XX_Count", "Sum", nil),
		"balancer": of.metric("HTTPCode_ELB_5XX_Count", "Sum", nil),
	}
	a.raise("uploads-fail", "5 forms or more in five minutes were answered with 5xx.", failed.math(failed.sum()), threshold{5, 1})
	const periods = 2
	a.add("uploads-down", "For ten minutes, no server took forms.", &awscloudwatch.AlarmProps{
		Metric:             of.metric("HealthyHostCount", "Maximum", of.Targets),
		Threshold:          jsii.Number(1),
		EvaluationPeriods:  jsii.Number(periods),
		ComparisonOperator: awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD,
		TreatMissingData:   awscloudwatch.TreatMissingData_BREACHING,
	})
}

// metric returns a metric of the load balancer, or of its targets.
func (u Uploads) metric(name, statistic string, targets *string) awscloudwatch.IMetric {
	dimensions := map[string]*string{"LoadBalancer": u.Balancer}
	if targets != nil {
		dimensions["TargetGroup"] = targets
	}
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: jsii.String("AWS/ApplicationELB"), MetricName: &name, DimensionsMap: &dimensions, Statistic: &statistic, Period: period(),
	})
}

// uploadActions returns the notifications of an alarm of the upload service: to the configured topic, and to the
// topic of the stack of service by its name. CloudWatch does not ask whether a topic is there.
func uploadActions(in *stack.Stack) []awscloudwatch.IAlarmAction {
	actions := givenActions(in)
	if in.Config.AlarmEmail != "" {
		arn := in.Scope.FormatArn(&awscdk.ArnComponents{Service: jsii.String("sns"), Resource: jsii.String(topicName(in))})
		actions = append(actions, awscloudwatchactions.NewSnsAction(awssns.Topic_FromTopicArn(in.Scope, jsii.String("AlarmTopic"), arn)))
	}
	return actions
}
