package function

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/stack"
	"lectern/shared/requestlog"
)

// furtherTries is the number of tries after a failure, the maximum of Lambda.
const furtherTries = 2

// newLogReader creates a function that the lines of requests in the logs of the API and of the upload service invoke. Lambda
// tries an event that fails again, and then sends the event to the queue of such events.
func newLogReader(in *stack.Stack, spec Spec, of Parts) Function {
	f := New(in, spec, of)
	subscribe(in, f, API, of.Logs.API)
	if of.Logs.Uploads != nil {
		subscribe(in, f, Uploads, of.Logs.Uploads)
	}
	awslambda.NewCfnEventInvokeConfig(in.Scope, jsii.String("Tries-"+spec.Name), &awslambda.CfnEventInvokeConfigProps{
		FunctionName:         f.Lambda.FunctionName(),
		Qualifier:            jsii.String("$LATEST"),
		MaximumRetryAttempts: jsii.Number(furtherTries),
		DestinationConfig: &awslambda.CfnEventInvokeConfig_DestinationConfigProperty{
			OnFailure: &awslambda.CfnEventInvokeConfig_OnFailureProperty{Destination: of.dead(spec).QueueArn()},
		},
	})
	return f
}

// subscribe lets the lines of requests in a log invoke a function.
func subscribe(in *stack.Stack, f Function, name string, log awslogs.ILogGroup) {
	id := f.Name
	if name != API {
		id += "-" + name
	}
	allowed := awslambda.NewCfnPermission(in.Scope, jsii.String("Subscribe-"+id), &awslambda.CfnPermissionProps{
		Action:        jsii.String("lambda:InvokeFunction"),
		FunctionName:  f.Lambda.FunctionArn(),
		Principal:     jsii.String("logs.amazonaws.com"),
		SourceAccount: in.Scope.Account(),
		SourceArn:     log.LogGroupArn(),
	})
	filter := awslogs.NewCfnSubscriptionFilter(in.Scope, jsii.String("Subscription-"+id), &awslogs.CfnSubscriptionFilterProps{
		FilterName:     jsii.String(f.fullName(in)),
		LogGroupName:   log.LogGroupName(),
		FilterPattern:  jsii.String(`{ $.msg = "` + requestlog.Message + `" }`),
		DestinationArn: f.Lambda.FunctionArn(),
	})
	filter.AddResourceDependency(allowed, jsii.String("CloudWatch tries the permission when the subscription is created."))
}

// deadPolicy allows Lambda to send events that a function has failed to handle to a queue.
func deadPolicy(queue awssqs.Queue) awsiam.PolicyDocument {
	return policyOf(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: jsii.Strings("sqs:SendMessage"), Resources: &[]*string{queue.QueueArn()},
	}))
}
