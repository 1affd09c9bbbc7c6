package function

import (
	"cmp"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"lectern/events"
	"lectern/infra/stack"
)

// newRole creates the function's own role, without managed policies. dead is the queue of the
// events that the function has failed to handle, or nil.
func newRole(in *stack.Stack, spec Spec, dead awssqs.Queue) awsiam.Role {
	name := spec.fullName(in)
	policies := map[string]awsiam.PolicyDocument{"log": logPolicy(in, spec)}
	if spec.UsesTable() {
		policies["table"] = tablePolicy(in, spec)
	}
	if spec.Source == events.Stream {
		policies["stream"] = streamPolicy(in)
	}
	if dead != nil {
		policies["dead"] = deadPolicy(dead)
	}
	usesKey := in.Config.CustomerKey && (spec.UsesTable() || spec.Source == events.Stream)
	if usesKey {
		policies["key"] = keyPolicy(in, spec)
	}
	role := awsiam.NewRole(in.Scope, jsii.String("Role-"+spec.Name), &awsiam.RoleProps{
		RoleName:       &name,
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		Description:    jsii.String("What the function " + name + " may do"),
		InlinePolicies: &policies,
	})
	stack.Accept(role, stack.RuleWildcards, "Lambda names a function's streams by the day, the function and the instance.",
		finding(in, "logs", "log-group:"+streams(in, spec)))
	if usesKey {
		findings := []string{finding(in, "kms", "key/*")}
		for _, family := range keyFamilies(spec) {
			findings = append(findings, "Action::"+family)
		}
		stack.Accept(role, stack.RuleWildcards, "The key is named by its alias, as a condition, since its id is known in another stack alone; "+
			"DynamoDB asks for families of actions on it.", findings...)
	}
	return role
}

// finding returns a resource of the region in the words of cdk-nag, with angle brackets
// around values that only a deployment knows.
func finding(in *stack.Stack, service, name string) string {
	account := cmp.Or(in.Config.Account, "<AWS::AccountId>")
	partition := *in.Scope.Partition()
	if *awscdk.Token_IsUnresolved(partition) { // The CDK does not know the region.
		partition = "<AWS::Partition>"
	}
	return "Resource::arn:" + partition + ":" + service + ":" + in.Region.AWSRegion + ":" + account + ":" + name
}
