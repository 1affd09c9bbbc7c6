package function

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"lectern/events"
	"lectern/infra/stack"
)

// tablePolicy allows a function its actions on the table. Requests of all these actions name
// keys, so the condition refuses every other item; a request without keys would pass.
func tablePolicy(in *stack.Stack, spec Spec) awsiam.PolicyDocument {
	policy := awsiam.NewPolicyDocument(nil)
	for _, s := range statements(spec.permissions) {
		policy.AddStatements(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Actions:   jsii.Strings(s.actions...),
			Resources: &[]*string{in.TableARN()},
			Conditions: &map[string]any{
				"ForAllValues:StringLike": map[string]any{"dynamodb:LeadingKeys": s.patterns},
			},
		}))
	}
	return policy
}

// statement allows every action on every pattern of keys.
type statement struct{ actions, patterns []string }

// statements groups the actions with the same patterns.
func statements(all []permission) (made []statement) {
	patterns := map[string][]string{}
	for _, p := range all {
		if !slices.Contains(patterns[p.action], p.pattern) {
			patterns[p.action] = append(patterns[p.action], p.pattern)
		}
	}
	at := map[string]int{}
	for _, action := range slices.Sorted(maps.Keys(patterns)) {
		slices.Sort(patterns[action])
		key := strings.Join(patterns[action], " ")
		if _, ok := at[key]; !ok {
			at[key] = len(made)
			made = append(made, statement{patterns: patterns[action]})
		}
		made[at[key]].actions = append(made[at[key]].actions, "dynamodb:"+action)
	}
	return made
}

// logPolicy allows a function to write into its own streams of its log.
func logPolicy(in *stack.Stack, spec Spec) awsiam.PolicyDocument {
	own := in.Scope.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("logs"), Resource: jsii.String("log-group"), ResourceName: jsii.String(streams(in, spec)),
		ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
	})
	return policyOf(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: jsii.Strings("logs:CreateLogStream", "logs:PutLogEvents"), Resources: &[]*string{own},
	}))
}

// keyPolicy allows DynamoDB to use the account's key for a function, for reads and, if the
// function writes, for writes; and Secrets Manager to decrypt the secret with it, if the function
// reads the secret; and S3 to encrypt and decrypt objects.
func keyPolicy(in *stack.Stack, spec Spec) awsiam.PolicyDocument {
	policy := awsiam.NewPolicyDocument(nil)
	if spec.UsesTable() || spec.Source == events.Stream {
		actions := []string{"kms:Decrypt", "kms:DescribeKey"}
		if families := keyFamilies(spec); families != nil {
			actions = slices.Concat(actions, []string{"kms:Encrypt"}, families)
		}
		policy.AddStatements(viaService(in, "dynamodb", actions...))
	}
	if spec.usesKeys() {
		policy.AddStatements(viaService(in, "secretsmanager", "kms:Decrypt"))
	}
	switch {
	case spec.usesBucket(putObject):
		// The parts of an upload are decrypted to join them.
		policy.AddStatements(viaService(in, "s3", "kms:Decrypt", "kms:GenerateDataKey"))
	case spec.usesBucket(getObject):
		policy.AddStatements(viaService(in, "s3", "kms:Decrypt"))
	}
	return policy
}

// viaService allows actions on the account's key through a service of AWS. The condition names the
// key by its alias, because only the stack of state has the key's id.
func viaService(in *stack.Stack, service string, actions ...string) awsiam.PolicyStatement {
	keys := in.Scope.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("kms"), Resource: jsii.String("key"), ResourceName: jsii.String("*"),
	})
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions:   jsii.Strings(actions...),
		Resources: &[]*string{keys},
		Conditions: &map[string]any{
			"StringEquals":             map[string]any{"kms:ViaService": service + "." + in.Region.AWSRegion + ".amazonaws.com"},
			"ForAnyValue:StringEquals": map[string]any{"kms:ResourceAliases": in.Region.KeyAlias()},
		},
	})
}

// keyFamilies returns the families of actions on the key that DynamoDB needs to write; nil if
// the function only reads.
func keyFamilies(spec Spec) []string {
	if !slices.ContainsFunc(spec.permissions, permission.writes) {
		return nil
	}
	return []string{"kms:GenerateDataKey*", "kms:ReEncrypt*"}
}

// policyOf returns a policy of a single statement.
func policyOf(s awsiam.PolicyStatement) awsiam.PolicyDocument {
	return awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &[]awsiam.PolicyStatement{s}})
}
