package function

import (
	"encoding/json"
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"lectern/events"
	"lectern/infra/stack"
)

// atOnce is the number of changes in an invocation by the stream.
const atOnce = 100

// newStreamReader creates a function that the stream of the table invokes with new change
// records. A batch that fails is divided, to find the record that fails. This record is tried
// again until the stream drops it after a day, and holds up the records behind it.
func newStreamReader(in *stack.Stack, spec Spec, logs Logs, binaries string) Function {
	f := New(in, spec, logs, binaries)
	awslambda.NewCfnEventSourceMapping(in.Scope, jsii.String("Stream-"+spec.Name), &awslambda.CfnEventSourceMappingProps{
		FunctionName:               f.Lambda.FunctionName(),
		EventSourceArn:             in.StreamARN(),
		StartingPosition:           jsii.String("TRIM_HORIZON"),
		BatchSize:                  jsii.Number(atOnce),
		BisectBatchOnFunctionError: jsii.Bool(true),
		FunctionResponseTypes:      jsii.Strings("ReportBatchItemFailures"),
		FilterCriteria: &awslambda.CfnEventSourceMapping_FilterCriteriaProperty{
			Filters: &[]any{&awslambda.CfnEventSourceMapping_FilterProperty{Pattern: jsii.String(asJSON(events.NewChanges))}},
		},
	})
	return f
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
