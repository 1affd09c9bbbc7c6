package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// accept notes beside a resource, in its template too, why a rule of cdk-nag is not
// kept by it. With findings it is these alone, in cdk-nag's words, that are accepted,
// and another of the same rule is found. Called again it adds to what was noted.
func accept(of constructs.IConstruct, rule, reason string, findings ...string) {
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
