package function

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	command "lectern/functions/operator"
	"lectern/infra/stack"
)

// ScheduleMaintenance creates the rule that sends the operator's function the command for
// maintenance every hour. Maintenance starts again once a day; a call after the end of the
// day's work costs a read. The rule depends on all functions, so that all have the release
// before maintenance changes records (decision 19).
func ScheduleMaintenance(in *stack.Stack, functions []Function) {
	operator := functions[slices.IndexFunc(functions, Function.isOperator)]
	rule := awsevents.NewCfnRule(in.Scope, jsii.String("Maintain"), &awsevents.CfnRuleProps{
		Name:               jsii.String(in.Region.Prefix() + "-maintain"),
		Description:        jsii.String("Purges what was deleted 30 days ago."),
		ScheduleExpression: jsii.String("rate(1 hour)"),
		Targets: &[]any{&awsevents.CfnRule_TargetProperty{
			Id: jsii.String(Operator), Arn: operator.Lambda.FunctionArn(), Input: jsii.String(`{"command":"` + command.Maintain + `"}`),
		}},
	})
	for _, f := range functions {
		rule.Node().AddDependency(f.Lambda)
	}
	awslambda.NewCfnPermission(in.Scope, jsii.String("Schedule-"+Operator), &awslambda.CfnPermissionProps{
		Action:       jsii.String("lambda:InvokeFunction"),
		FunctionName: operator.Lambda.FunctionArn(),
		Principal:    jsii.String("events.amazonaws.com"),
		SourceArn:    rule.AttrArn(),
	})
}

// isOperator reports whether the function is the operator's.
func (f Function) isOperator() bool { return f.Name == Operator }
