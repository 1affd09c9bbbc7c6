// Package observe watches a region: metrics, alarms, a dashboard and a budget. Read observe.go
// first, then metrics.go, alarms.go, changes.go, dashboard.go, budget.go and uploads.go.
package observe

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/bus"
	"lectern/infra/function"
	"lectern/infra/stack"
)

// Parts has the parts of a stack that are watched.
type Parts struct {
	Functions []function.Function
	Logs      function.Logs
	Bus       *bus.Bus
	API       awsapigateway.SpecRestApi
}

// Add creates the alarms of functions, API, table, changes and certificate, and by choice a dashboard
// of the same metrics and a budget.
func Add(in *stack.Stack, of Parts) {
	watched := newMetrics(in.Region, of)
	a := &alarms{in, alarmActions(in)}
	if in.Config.EachAlarm {
		a.each(of.Functions, watched)
	} else {
		a.functions(watched)
	}
	a.gateway(watched)
	a.table(watched)
	a.signals(watched)
	changes := newChangeMetrics(of, watched.signals)
	a.changes(changes)
	if in.Region.Domain != nil {
		a.certificate(in.Region.Domain)
	}
	if in.Config.Dashboard {
		newDashboard(in, watched, changes)
	}
	if in.Config.MonthlyBudget > 0 {
		newBudget(in)
	}
}

// alarmActions returns the notifications of an alarm: to the configured topic, and to the
// configured address by a topic of the stack.
func alarmActions(in *stack.Stack) []awscloudwatch.IAlarmAction {
	actions := givenActions(in)
	if in.Config.AlarmEmail != "" {
		topic := awssns.NewTopic(in.Scope, jsii.String("AlarmTopic"), &awssns.TopicProps{
			TopicName: jsii.String(topicName(in)), EnforceSSL: jsii.Bool(true),
		})
		topic.AddToResourcePolicy(alarmsPublish(in.Scope, topic))
		topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(&in.Config.AlarmEmail, nil))
		stack.Accept(topic, "AwsSolutions-SNS2", "Alarms name functions and numbers, nothing of a tenant, and leave by e-mail anyway.")
		actions = append(actions, awscloudwatchactions.NewSnsAction(topic))
	}
	return actions
}

// givenActions returns the notification of an alarm to the configured topic, if any.
func givenActions(in *stack.Stack) []awscloudwatch.IAlarmAction {
	if in.Region.AlarmTopicARN == "" {
		return nil
	}
	topic := awssns.Topic_FromTopicArn(in.Scope, jsii.String("AlarmTopicGiven"), &in.Region.AlarmTopicARN)
	return []awscloudwatch.IAlarmAction{awscloudwatchactions.NewSnsAction(topic)}
}

// topicName returns the name of the topic for alarms in the stack of service.
func topicName(in *stack.Stack) string { return in.Region.Prefix() + "-alarms" }

// alarmsPublish allows the account's alarms in the region to publish to a topic. A topic with
// a policy of its own loses the default policy of AWS, so the permission must be explicit.
func alarmsPublish(scope awscdk.Stack, topic awssns.ITopic) awsiam.PolicyStatement {
	every := scope.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("cloudwatch"), Resource: jsii.String("alarm"), ResourceName: jsii.String("*"),
		ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
	})
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sns:Publish"),
		Resources:  &[]*string{topic.TopicArn()},
		Conditions: &map[string]any{
			"StringEquals": map[string]any{"aws:SourceAccount": scope.Account()},
			"ArnLike":      map[string]any{"aws:SourceArn": every},
		},
	})
}

// period returns the time over which a metric adds up values.
func period() awscdk.Duration { return awscdk.Duration_Minutes(jsii.Number(5)) }

// over returns a statistic of a metric over a period.
func over(statistic string) *awscloudwatch.MetricOptions {
	return &awscloudwatch.MetricOptions{Statistic: &statistic, Period: period()}
}
