package function

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"lectern/events"
	"lectern/infra/stack"
	"lectern/shared/requestlog"
)

const (
	// Dead is the end of the name of the queue of the events that the reader of the log has
	// failed to handle.
	Dead = "ingest-dead"
	// deadDays is how long such an event is kept, the maximum of SQS.
	deadDays = 14
	// furtherTries is the number of tries after a failure, the maximum of Lambda.
	furtherTries = 2
)

// newLogReader creates a function that the lines of requests in the log of the API invoke. Lambda
// tries an event that fails again, and then sends the event to the queue of such events.
func newLogReader(in *stack.Stack, spec Spec, logs Logs, binaries string) Function {
	f := New(in, spec, logs, binaries)
	allowed := awslambda.NewCfnPermission(in.Scope, jsii.String("Subscribe-"+spec.Name), &awslambda.CfnPermissionProps{
		Action:        jsii.String("lambda:InvokeFunction"),
		FunctionName:  f.Lambda.FunctionArn(),
		Principal:     jsii.String("logs.amazonaws.com"),
		SourceAccount: in.Scope.Account(),
		SourceArn:     logs.API.LogGroupArn(),
	})
	filter := awslogs.NewCfnSubscriptionFilter(in.Scope, jsii.String("Subscription-"+spec.Name), &awslogs.CfnSubscriptionFilterProps{
		FilterName:     jsii.String(spec.fullName(in)),
		LogGroupName:   logs.API.LogGroupName(),
		FilterPattern:  jsii.String(`{ $.msg = "` + requestlog.Message + `" }`),
		DestinationArn: f.Lambda.FunctionArn(),
	})
	filter.AddResourceDependency(allowed, jsii.String("CloudWatch tries the permission when the subscription is created."))
	awslambda.NewCfnEventInvokeConfig(in.Scope, jsii.String("Tries-"+spec.Name), &awslambda.CfnEventInvokeConfigProps{
		FunctionName:         f.Lambda.FunctionName(),
		Qualifier:            jsii.String("$LATEST"),
		MaximumRetryAttempts: jsii.Number(furtherTries),
		DestinationConfig: &awslambda.CfnEventInvokeConfig_DestinationConfigProperty{
			OnFailure: &awslambda.CfnEventInvokeConfig_OnFailureProperty{Destination: f.Dead.QueueArn()},
		},
	})
	return f
}

// newDeadQueue creates the queue of the events that a reader of the log has failed to handle.
// Other functions have no such queue.
func newDeadQueue(in *stack.Stack, spec Spec) awssqs.Queue {
	if spec.Source != events.Log {
		return nil
	}
	queue := awssqs.NewQueue(in.Scope, jsii.String("Dead-"+spec.Name), &awssqs.QueueProps{
		QueueName:       jsii.String(in.Region.Prefix() + "-" + Dead),
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(deadDays)),
		Encryption:      awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:      jsii.Bool(true),
	})
	stack.Accept(queue, "AwsSolutions-SQS3", "The queue itself has what failed; an operator sends it to the function again.")
	return queue
}

// deadPolicy allows Lambda to send events that a function has failed to handle to a queue.
func deadPolicy(queue awssqs.Queue) awsiam.PolicyDocument {
	return policyOf(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: jsii.Strings("sqs:SendMessage"), Resources: &[]*string{queue.QueueArn()},
	}))
}
