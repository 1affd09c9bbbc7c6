package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/jsii-runtime-go"
)

// observe makes alarms, and a dashboard of what they look at.
func observe(stack awscdk.Stack, c *config, at region, functions []built, g *gateway) {
	watched := newMetrics(at, functions, g)
	a := &alarms{stack: stack, at: at, actions: alarmActions(stack, c, at)}
	for _, f := range functions {
		a.function(f)
	}
	a.gateway(watched)
	a.table(watched)
	a.signals(watched)
	newDashboard(stack, at, functions, watched)
}

// alarmActions is who is told of alarms; nobody where nothing is configured.
func alarmActions(stack awscdk.Stack, c *config, at region) (actions []awscloudwatch.IAlarmAction) {
	tell := func(topic awssns.ITopic) {
		actions = append(actions, awscloudwatchactions.NewSnsAction(topic))
	}
	if at.alarmTopicARN != "" {
		tell(awssns.Topic_FromTopicArn(stack, jsii.String("AlarmTopicGiven"), &at.alarmTopicARN))
	}
	if c.alarmEmail != "" {
		topic := awssns.NewTopic(stack, jsii.String("AlarmTopic"), &awssns.TopicProps{
			TopicName: jsii.String(at.prefix() + "-alarms"), EnforceSSL: jsii.Bool(true),
		})
		topic.AddToResourcePolicy(alarmsPublish(stack, topic))
		topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(&c.alarmEmail, nil))
		accept(topic, "AwsSolutions-SNS2", "Alarms name functions and numbers, nothing of a tenant, and leave by e-mail anyway.")
		tell(topic)
	}
	return actions
}

// alarmsPublish lets the account's alarms in the region publish to a topic, and no one
// else's. It has to be said: a policy of a topic's own stands in the place of the one
// that AWS gives a topic, which would let them.
func alarmsPublish(stack awscdk.Stack, topic awssns.ITopic) awsiam.PolicyStatement {
	every := stack.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("cloudwatch"), Resource: jsii.String("alarm"), ResourceName: jsii.String("*"),
		ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
	})
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sns:Publish"),
		Resources:  &[]*string{topic.TopicArn()},
		Conditions: &map[string]any{
			"StringEquals": map[string]any{"aws:SourceAccount": stack.Account()},
			"ArnLike":      map[string]any{"aws:SourceArn": every},
		},
	})
}

// period is what the values of a metric are put together over, for alarms.
func period() awscdk.Duration { return awscdk.Duration_Minutes(jsii.Number(5)) }

// over is a statistic of a metric over such spans.
func over(statistic string) *awscloudwatch.MetricOptions {
	return &awscloudwatch.MetricOptions{Statistic: &statistic, Period: period()}
}
