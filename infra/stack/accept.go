package stack

import (
	"cmp"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// RuleWildcards is the rule of cdk-nag against wildcards in permissions.
const RuleWildcards = "AwsSolutions-IAM5"

// Accept notes beside a resource, and in its template, the reason to break a rule of
// cdk-nag. With findings, in the words of cdk-nag, only these findings are accepted. A
// second call adds to the first.
func Accept(of constructs.IConstruct, rule, reason string, findings ...string) {
	resource, ok := of.(awscdk.CfnResource)
	if !ok {
		resource = of.Node().DefaultChild().(awscdk.CfnResource)
	}
	noted, _ := resource.GetMetadata(jsii.String("cdk_nag")).(map[string]any)
	rules, _ := noted["rules_to_suppress"].([]any)
	accepted := map[string]any{"id": rule, "reason": reason}
	if len(findings) > 0 {
		accepted["applies_to"] = findings
	}
	resource.AddMetadata(jsii.String("cdk_nag"), map[string]any{"rules_to_suppress": append(rules, accepted)})
}

// Finding returns a resource of the region in the words of cdk-nag, with angle brackets
// around values that only a deployment knows.
func (s *Stack) Finding(service, name string) string {
	return "Resource::arn:" + s.partition() + ":" + service + ":" + s.Region.AWSRegion + ":" + s.account() + ":" + name
}

// ObjectsFinding returns the objects of a kind in the words of cdk-nag.
func (s *Stack) ObjectsFinding(kind string) string {
	bucket := s.Region.Prefix() + "-files-" + s.account() + "-" + s.Region.AWSRegion
	return "Resource::arn:" + s.partition() + ":s3:::" + bucket + "/" + kind + "/*"
}

// ProfiledFinding returns the model behind the inference profile of the region in the words of cdk-nag.
func (s *Stack) ProfiledFinding() string {
	m := s.Region.QueryModel
	return "Resource::arn:" + s.partition() + ":bedrock:" + m.Profile() + "-*::foundation-model/" + m.Model()
}

// account returns the account in the words of cdk-nag.
func (s *Stack) account() string { return cmp.Or(s.Config.Account, "<AWS::AccountId>") }

// partition returns the partition of AWS in the words of cdk-nag.
func (s *Stack) partition() string {
	if name := *s.Scope.Partition(); !*awscdk.Token_IsUnresolved(name) {
		return name
	}
	return "<AWS::Partition>" // The CDK does not know the region.
}
