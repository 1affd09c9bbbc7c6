package main

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	command "lectern/functions/operator"
)

// maintain has the operator's function go on with maintenance every hour. That begins anew
// once a day, and a call that finds the day's work done costs a read. The rule is made after
// all functions are of its release (decision 19).
func maintain(stack awscdk.Stack, at region, functions []built) {
	f := functions[slices.IndexFunc(functions, func(f built) bool { return f.name == operator })]
	rule := awsevents.NewCfnRule(stack, jsii.String("Maintain"), &awsevents.CfnRuleProps{
		Name:               jsii.String(at.prefix() + "-maintain"),
		Description:        jsii.String("Purges what was deleted 30 days ago."),
		ScheduleExpression: jsii.String("rate(1 hour)"),
		Targets: &[]any{&awsevents.CfnRule_TargetProperty{
			Id: jsii.String(operator), Arn: f.lambda.FunctionArn(), Input: jsii.String(`{"command":"` + command.Maintain + `"}`),
		}},
	})
	for _, other := range functions {
		rule.Node().AddDependency(other.lambda)
	}
	awslambda.NewCfnPermission(stack, jsii.String("Schedule-"+f.name), &awslambda.CfnPermissionProps{
		Action:       jsii.String("lambda:InvokeFunction"),
		FunctionName: f.lambda.FunctionArn(),
		Principal:    jsii.String("events.amazonaws.com"),
		SourceArn:    rule.AttrArn(),
	})
}
