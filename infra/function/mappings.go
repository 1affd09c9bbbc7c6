package function

import (
	"encoding/json"
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"lectern/events"
	"lectern/infra/stack"
)

const (
	// changesAtOnce is the number of change records of an invocation.
	changesAtOnce = 100
	// furtherBatches is the number of tries of a batch of changes after a failure.
	furtherBatches = 10
	// keptSeconds is the age at which a change that was not published is given up: the stream drops
	// it then.
	keptSeconds = 24 * 3600
)

// partial lets a function answer which records have failed, so that only these are tried again.
const partial = "ReportBatchItemFailures"

// newStreamReader creates a function that the stream of the table invokes with new change
// records. A batch that fails is divided, to find the record that fails. After the last try, the
// place of the record in the stream goes to the dead-letter queue, and the records behind it go on.
func newStreamReader(in *stack.Stack, spec Spec, of Parts) Function {
	f := New(in, spec, of)
	awslambda.NewCfnEventSourceMapping(in.Scope, jsii.String("Stream-"+spec.Name), &awslambda.CfnEventSourceMappingProps{
		FunctionName:               f.Lambda.FunctionName(),
		EventSourceArn:             in.StreamARN(),
		StartingPosition:           jsii.String("TRIM_HORIZON"),
		BatchSize:                  jsii.Number(changesAtOnce),
		BisectBatchOnFunctionError: jsii.Bool(true),
		MaximumRetryAttempts:       jsii.Number(furtherBatches),
		MaximumRecordAgeInSeconds:  jsii.Number(keptSeconds),
		FunctionResponseTypes:      jsii.Strings(partial),
		DestinationConfig: &awslambda.CfnEventSourceMapping_DestinationConfigProperty{
			OnFailure: &awslambda.CfnEventSourceMapping_OnFailureProperty{Destination: of.dead(spec).QueueArn()},
		},
		FilterCriteria: &awslambda.CfnEventSourceMapping_FilterCriteriaProperty{
			Filters: &[]any{&awslambda.CfnEventSourceMapping_FilterProperty{Pattern: jsii.String(asJSON(events.NewChanges))}},
		},
	})
	return f
}

// newQueueReader creates a function that the messages of a queue invoke. A message that fails is
// received again, and after the last time goes to the dead-letter queue of the queue.
func newQueueReader(in *stack.Stack, spec Spec, of Parts) Function {
	f := New(in, spec, of)
	props := &awslambda.CfnEventSourceMappingProps{
		FunctionName:          f.Lambda.FunctionName(),
		EventSourceArn:        of.Bus.Queue(spec.From).QueueArn(),
		BatchSize:             jsii.Number(spec.Messages),
		FunctionResponseTypes: jsii.Strings(partial),
		ScalingConfig: &awslambda.CfnEventSourceMapping_ScalingConfigProperty{
			MaximumConcurrency: jsii.Number(atMost(spec, in.Config.Concurrency)),
		},
	}
	awslambda.NewCfnEventSourceMapping(in.Scope, jsii.String("Queue-"+spec.Name), props)
	return f
}

// atMost returns the number of instances that a queue may invoke. A queue that invoked
// more than the reserved instances would raise throttles, and a message could go to the dead-letter
// queue without a try. The minimum of SQS is 2.
func atMost(spec Spec, reserved int) int {
	const least = 2
	if reserved == 0 || spec.Instances <= reserved {
		return spec.Instances
	}
	return max(least, reserved)
}

// asJSON returns a pattern as JSON, with the fields in order.
func asJSON(p events.Pattern) string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("infra: encode a pattern: %v", err)) // A pattern has only text.
	}
	return string(text)
}

// streamPolicy allows Lambda to read the stream of the table for a function.
func streamPolicy(in *stack.Stack) awsiam.PolicyDocument {
	return policyOf(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions:   jsii.Strings("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"),
		Resources: &[]*string{in.StreamARN()},
	}))
}

// receivePolicy allows Lambda to take messages out of the queue of a function.
func receivePolicy(queue awssqs.Queue) awsiam.PolicyDocument {
	return policyOf(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions:   jsii.Strings("sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"),
		Resources: &[]*string{queue.QueueArn()},
	}))
}
