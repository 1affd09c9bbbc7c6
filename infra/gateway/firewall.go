package gateway

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/jsii-runtime-go"
)

// AddFirewall adds a firewall that refuses requests of an address above the configured rate,
// without an invocation. Tokens have separate limits; the firewall is against callers without
// a token. The gateway writes the refusal (answers.go).
func (g *Gateway) AddFirewall() {
	scope, name := g.in.Scope, g.in.Region.Prefix()+"-rate"
	seen := &awswafv2.CfnWebACL_VisibilityConfigProperty{
		// Samples would keep the addresses and headers of clients.
		CloudWatchMetricsEnabled: true, MetricName: &name, SampledRequestsEnabled: false,
	}
	acl := awswafv2.NewCfnWebACL(scope, jsii.String("Firewall"), &awswafv2.CfnWebACLProps{
		Name:             &name,
		Scope:            jsii.String("REGIONAL"),
		DefaultAction:    map[string]any{"allow": map[string]any{}},
		VisibilityConfig: seen,
		Rules: []any{&awswafv2.CfnWebACL_RuleProperty{
			Name:     &name,
			Priority: jsii.Number(0),
			Action:   map[string]any{"block": map[string]any{}},
			Statement: &awswafv2.CfnWebACL_StatementProperty{RateBasedStatement: &awswafv2.CfnWebACL_RateBasedStatementProperty{
				AggregateKeyType: jsii.String("IP"), Limit: jsii.Number(g.in.Config.FirewallRate), EvaluationWindowSec: jsii.Number(300),
			}},
			VisibilityConfig: seen,
		}},
	})
	awswafv2.NewCfnWebACLAssociation(scope, jsii.String("FirewallOfApi"), &awswafv2.CfnWebACLAssociationProps{
		WebAclArn: acl.AttrArn(), ResourceArn: g.API.DeploymentStage().StageArn(),
	})
}
