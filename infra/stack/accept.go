package stack

import (
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
