package function

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"lectern/events"
	"lectern/infra/stack"
)

// newRole creates the function's own role, without managed policies.
func newRole(in *stack.Stack, spec Spec, of Parts) awsiam.Role {
	name, all := spec.fullName(in), policies(in, spec, of)
	role := awsiam.NewRole(in.Scope, jsii.String("Role-"+spec.Name), &awsiam.RoleProps{
		RoleName:       &name,
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		Description:    jsii.String("What the function " + name + " may do"),
		InlinePolicies: &all,
	})
	stack.Accept(role, stack.RuleWildcards, "Lambda names a function's streams by the day, the function and the instance.",
		in.Finding("logs", "log-group:"+streams(in, spec)))
	explain(in, spec, role)
	return role
}

// NewTaskRole creates the role of a task of ECS that does the work of a function: what the function may do, but
// for its log, into which ECS writes in its own name.
func NewTaskRole(in *stack.Stack, spec Spec, name string) awsiam.Role {
	all := policies(in, spec, Parts{})
	delete(all, logPolicyName)
	role := awsiam.NewRole(in.Scope, jsii.String("Role-"+name), &awsiam.RoleProps{
		RoleName: jsii.String(in.Region.Prefix() + "-" + name),
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("ecs-tasks.amazonaws.com"), &awsiam.ServicePrincipalOpts{
			Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": in.Scope.Account()}},
		}),
		Description:    jsii.String("What the tasks " + in.Region.Prefix() + "-" + name + " may do, as the function " + spec.fullName(in)),
		InlinePolicies: &all,
	})
	explain(in, spec, role)
	return role
}

// explain notes the reasons for the wildcards of a role that does the work of a function.
func explain(in *stack.Stack, spec Spec, role awsiam.Role) {
	for _, u := range spec.usesIn(in) {
		switch {
		case u.part == theBucket:
			stack.Accept(role, stack.RuleWildcards, "Each upload has a new key below the kind of its bytes.",
				in.ObjectsFinding(u.kind))
		case u.intoBucket:
			stack.Accept(role, stack.RuleWildcards, "AWS knows no resource of a job to be started; the condition names the bucket.", "Resource::*")
		case u.part == theTranscriber && u.actions != nil:
			stack.Accept(role, stack.RuleWildcards, "Each job has a new name.",
				in.Finding("transcribe", "transcription-job/"+in.Region.Prefix()+"-*"))
		case u.part == theModel && in.Region.QueryModel.Profile() != "":
			stack.Accept(role, stack.RuleWildcards, "AWS chooses the region of a call of the profile; the condition names the profile.",
				in.ProfiledFinding())
		}
	}
	if spec.usesCustomerKey(in) {
		findings := []string{in.Finding("kms", "key/*")}
		for _, family := range keyFamilies(spec) {
			findings = append(findings, "Action::"+family)
		}
		stack.Accept(role, stack.RuleWildcards, "The key is named by its alias, as a condition, since its id is known in another stack alone; "+
			"DynamoDB asks for families of actions on it.", findings...)
	}
}

// Names of policies: for the account's key, and for the log.
const keyPolicyName, logPolicyName = "key", "log"

// policies returns the policies of a function by name: "table" and "calls" for what the function
// does itself, "stream", "queue" and "dead" for what Lambda does in the name of a worker.
func policies(in *stack.Stack, spec Spec, of Parts) map[string]awsiam.PolicyDocument {
	all := map[string]awsiam.PolicyDocument{logPolicyName: logPolicy(in, spec)}
	if spec.UsesTable() {
		all["table"] = tablePolicy(in, spec)
	}
	if calls := callPolicy(in, spec, of); !*calls.IsEmpty() {
		all["calls"] = calls
	}
	switch spec.Source {
	case events.Stream:
		all["stream"], all["dead"] = streamPolicy(in), deadPolicy(of.dead(spec))
	case events.Queue:
		// SQS itself moves messages to the dead-letter queue of a queue.
		all["queue"] = receivePolicy(of.Bus.Queue(spec.From))
	case events.Log:
		all["dead"] = deadPolicy(of.dead(spec))
	}
	if spec.usesCustomerKey(in) {
		all[keyPolicyName] = keyPolicy(in, spec)
	}
	return all
}

// usesCustomerKey reports whether the function needs the account's key of the region.
func (s Spec) usesCustomerKey(in *stack.Stack) bool {
	return in.Config.CustomerKey && (s.UsesTable() || s.usesKeys() || s.usesBucket() || s.Source == events.Stream)
}
