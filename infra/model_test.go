package main

import (
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"lectern/infra/config"
	"lectern/infra/function"
	"lectern/infra/stack"
	"lectern/shared/api"
)

// asking gives the statements and the variables of the function insights in the region us, with a language model.
func asking(t *testing.T, model map[string]any) (statements []any, variables map[string]*string) {
	t.Helper()
	region := map[string]any{}
	if model != nil {
		region["queryModel"] = model
	}
	c, err := config.Read(map[string]any{"regions": "us", "account": "123456789012", "us": region})
	require.NoError(t, err)
	specs, _ := function.Specs([]api.Group{{Name: "insights"}})
	in := stack.New(newApp(t), c, c.Regions[0], stack.Kind{Name: "Service"})
	function.NewTaskRole(in, specs[0], "insights")
	for _, role := range *assertions.Template_FromStack(in.Scope, nil).FindResources(jsii.String("AWS::IAM::Role"), nil) {
		policies, _ := (*role)["Properties"].(map[string]any)["Policies"].([]any) // None without an option.
		for _, policy := range policies {
			if of := policy.(map[string]any); of["PolicyName"] == "calls" {
				statements = of["PolicyDocument"].(map[string]any)["Statement"].([]any)
			}
		}
	}
	return statements, function.TaskEnvironment(in, specs[0], 512)
}

// TestInsightsMayAskOneModel of one AWS region, or the models behind one inference profile through the profile.
func TestInsightsMayAskOneModel(t *testing.T) {
	statements, variables := asking(t, nil)
	require.Empty(t, statements)
	require.NotContains(t, variables, "LECTERN_QUERY_MODEL")
	require.NotContains(t, variables, "LECTERN_QUERY_MODEL_REGION")

	statements, variables = asking(t, map[string]any{"id": "amazon.nova-lite-v1:0"})
	require.Equal(t, []any{map[string]any{"Effect": "Allow", "Action": "bedrock:InvokeModel", "Resource": "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0"}}, statements)
	require.Equal(t, []string{"amazon.nova-lite-v1:0", "us-east-1"},
		[]string{*variables["LECTERN_QUERY_MODEL"], *variables["LECTERN_QUERY_MODEL_REGION"]})

	statements, variables = asking(t, map[string]any{"id": "us.amazon.nova-lite-v1:0", "awsRegion": "us-west-2"})
	const profile = "arn:aws:bedrock:us-west-2:123456789012:inference-profile/us.amazon.nova-lite-v1:0"
	require.Equal(t, []any{
		map[string]any{"Effect": "Allow", "Action": "bedrock:InvokeModel", "Resource": profile},
		map[string]any{
			"Effect": "Allow", "Action": "bedrock:InvokeModel", "Resource": "arn:aws:bedrock:us-*::foundation-model/amazon.nova-lite-v1:0",
			"Condition": map[string]any{"StringLike": map[string]any{"bedrock:InferenceProfileArn": profile}},
		},
	}, statements)
	require.Equal(t, []string{"us.amazon.nova-lite-v1:0", "us-west-2"},
		[]string{*variables["LECTERN_QUERY_MODEL"], *variables["LECTERN_QUERY_MODEL_REGION"]})
}

// TestNoOtherFunctionAsksTheModel, also where every option is on.
func TestNoOtherFunctionAsksTheModel(t *testing.T) {
	for name := range told(ofEverything(t)["Lectern-us-Service"], "LECTERN_QUERY_MODEL") {
		require.Equal(t, "insights", name)
	}
}
