package function

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
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

// newScheduled creates a function that a schedule invokes. An invocation that fails is not repeated:
// the next one does the work of both.
func newScheduled(in *stack.Stack, spec Spec, of Parts) Function {
	f := New(in, spec, of)
	awsscheduler.NewCfnSchedule(in.Scope, jsii.String("Schedule-"+spec.Name), &awsscheduler.CfnScheduleProps{
		Name:               jsii.String(spec.fullName(in)),
		Description:        jsii.String("Invokes the function " + spec.fullName(in) + "."),
		ScheduleExpression: &spec.From,
		FlexibleTimeWindow: &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: jsii.String("OFF")},
		Target: &awsscheduler.CfnSchedule_TargetProperty{
			Arn: f.Lambda.FunctionArn(), RoleArn: newSchedulerRole(in, f).RoleArn(),
			RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{
				MaximumEventAgeInSeconds: jsii.Number(leastAge), MaximumRetryAttempts: jsii.Number(0),
			},
		},
	})
	awslambda.NewCfnEventInvokeConfig(in.Scope, jsii.String("Tries-"+spec.Name), &awslambda.CfnEventInvokeConfigProps{
		FunctionName:             f.Lambda.FunctionName(),
		Qualifier:                jsii.String("$LATEST"),
		MaximumEventAgeInSeconds: jsii.Number(leastAge),
		MaximumRetryAttempts:     jsii.Number(0),
	})
	return f
}

// leastAge is the age in seconds at which an invocation that has not begun is given up, the minimum of
// Lambda and of EventBridge Scheduler.
const leastAge = 60

// newSchedulerRole creates the role by which EventBridge Scheduler invokes a function and no other.
// Only schedules of this account may use the role, in the group of those without a group.
func newSchedulerRole(in *stack.Stack, f Function) awsiam.Role {
	group := in.Scope.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("scheduler"), Resource: jsii.String("schedule-group"), ResourceName: jsii.String("default"),
	})
	trusted := map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": in.Scope.Account(), "aws:SourceArn": group}}
	name := f.fullName(in) + "-schedule"
	return awsiam.NewRole(in.Scope, jsii.String("Scheduler-"+f.Name), &awsiam.RoleProps{
		RoleName: &name,
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("scheduler.amazonaws.com"), &awsiam.ServicePrincipalOpts{
			Conditions: &trusted,
		}),
		Description: jsii.String("Invokes the function " + f.fullName(in)),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"invoke": policyOf(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Actions: jsii.Strings("lambda:InvokeFunction"), Resources: &[]*string{f.Lambda.FunctionArn()},
		}))},
	})
}

// isOperator reports whether the function is the operator's.
func (f Function) isOperator() bool { return f.Name == Operator }
