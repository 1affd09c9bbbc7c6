package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/jsii-runtime-go"
)

// newFirewall refuses an address that sends more requests in five minutes than is
// configured, before any of them costs an invocation. Tokens have limits of their
// own; this is for who has none. The refusal is the gateway's (answers.go).
func newFirewall(stack awscdk.Stack, c *config, at region, g *gateway) {
	name := at.prefix() + "-rate"
	seen := &awswafv2.CfnWebACL_VisibilityConfigProperty{
		// Samples would keep the addresses and headers of clients.
		CloudWatchMetricsEnabled: true, MetricName: &name, SampledRequestsEnabled: false,
	}
	acl := awswafv2.NewCfnWebACL(stack, jsii.String("Firewall"), &awswafv2.CfnWebACLProps{
		Name:             &name,
		Scope:            jsii.String("REGIONAL"),
		DefaultAction:    map[string]any{"allow": map[string]any{}},
		VisibilityConfig: seen,
		Rules: []any{&awswafv2.CfnWebACL_RuleProperty{
			Name:     &name,
			Priority: jsii.Number(0),
			Action:   map[string]any{"block": map[string]any{}},
			Statement: &awswafv2.CfnWebACL_StatementProperty{RateBasedStatement: &awswafv2.CfnWebACL_RateBasedStatementProperty{
				AggregateKeyType: jsii.String("IP"), Limit: jsii.Number(c.firewallRate), EvaluationWindowSec: jsii.Number(300),
			}},
			VisibilityConfig: seen,
		}},
	})
	awswafv2.NewCfnWebACLAssociation(stack, jsii.String("FirewallOfApi"), &awswafv2.CfnWebACLAssociationProps{
		WebAclArn: acl.AttrArn(), ResourceArn: g.api.DeploymentStage().StageArn(),
	})
}
