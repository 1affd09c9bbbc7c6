package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
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
		topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(&c.alarmEmail, nil))
		accept(topic, "AwsSolutions-SNS2", "Alarms name functions and numbers, nothing of a tenant, and leave by e-mail anyway.")
		tell(topic)
	}
	return actions
}

// period is what the values of a metric are put together over, for alarms.
func period() awscdk.Duration { return awscdk.Duration_Minutes(jsii.Number(5)) }
