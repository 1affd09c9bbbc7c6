package main

import (
	"cmp"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// newRole is the function's own role, with what it needs and no managed policy.
func newRole(stack awscdk.Stack, c *config, at region, f function, name string) awsiam.Role {
	policies := map[string]awsiam.PolicyDocument{"log": logPolicy(stack, at, f)}
	if len(f.permissions) > 0 {
		policies["table"] = tablePolicy(stack, at, f)
	}
	usesKey := c.customerKey && len(f.permissions) > 0
	if usesKey {
		policies["key"] = keyPolicy(stack, at, f)
	}
	role := awsiam.NewRole(stack, jsii.String("Role-"+f.name), &awsiam.RoleProps{
		RoleName:       &name,
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		Description:    jsii.String("What the function " + name + " may do"),
		InlinePolicies: &policies,
	})
	accept(role, ruleIAM5, "A log's streams are named by Lambda; the log is the function's own.",
		finding(c, at, "logs", "log-group:"+streams(at, f)))
	if usesKey {
		findings := []string{finding(c, at, "kms", "key/*")}
		for _, family := range keyFamilies(f) {
			findings = append(findings, "Action::"+family)
		}
		accept(role, ruleIAM5, "The key is named by its alias, as a condition, since its id is known in another stack alone; "+
			"DynamoDB asks for families of actions on it.", findings...)
	}
	return role
}

// ruleIAM5 is cdk-nag's rule against wildcards in permissions.
const ruleIAM5 = "AwsSolutions-IAM5"

// finding is a resource of the region in the words in which cdk-nag tells of it: what
// is known only when it is deployed stands in angle brackets.
func finding(c *config, at region, service, name string) string {
	return "Resource::arn:<AWS::Partition>:" + service + ":" + at.awsRegion + ":" + cmp.Or(c.account, "<AWS::AccountId>") + ":" + name
}

// streams are all streams of a function's own log.
func streams(at region, f function) string { return logName(at, f.name) + ":log-stream:*" }

// logPolicy lets a function write into its own log and nothing else.
func logPolicy(stack awscdk.Stack, at region, f function) awsiam.PolicyDocument {
	own := stack.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("logs"), Resource: jsii.String("log-group"), ResourceName: jsii.String(streams(at, f)),
		ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
	})
	return policyOf(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: jsii.Strings("logs:CreateLogStream", "logs:PutLogEvents"), Resources: &[]*string{own},
	}))
}

// keyPolicy lets a function use the account's key as far as DynamoDB does it on the
// function's behalf for this table: to read it, and to write where the function
// does. The key's id is known in the stack of state alone, so the key is named by its
// alias.
func keyPolicy(stack awscdk.Stack, at region, f function) awsiam.PolicyDocument {
	actions := []string{"kms:Decrypt", "kms:DescribeKey"}
	if families := keyFamilies(f); families != nil {
		actions = slices.Concat(actions, []string{"kms:Encrypt"}, families)
	}
	keys := stack.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("kms"), Resource: jsii.String("key"), ResourceName: jsii.String("*"),
	})
	return policyOf(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions:   jsii.Strings(actions...),
		Resources: &[]*string{keys},
		Conditions: &map[string]any{
			"StringEquals":             map[string]any{"kms:ViaService": "dynamodb." + at.awsRegion + ".amazonaws.com"},
			"ForAnyValue:StringEquals": map[string]any{"kms:ResourceAliases": at.keyAlias()},
		},
	}))
}

// keyFamilies are the families of actions on the key that DynamoDB asks for when it
// writes; none where the function does not.
func keyFamilies(f function) []string {
	if !slices.ContainsFunc(f.permissions, permission.writes) {
		return nil
	}
	return []string{"kms:GenerateDataKey*", "kms:ReEncrypt*"}
}

func policyOf(s awsiam.PolicyStatement) awsiam.PolicyDocument {
	return awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &[]awsiam.PolicyStatement{s}})
}
