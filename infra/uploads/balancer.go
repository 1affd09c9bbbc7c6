package uploads

import (
	"strconv"

	balancing "github.com/aws/aws-cdk-go/awscdk/v2/awselasticloadbalancingv2"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/stack"
	"lectern/shared/api/server"
)

const (
	httpPort, httpsPort = 80, 443
	// taskPort is the port of the server in a task.
	taskPort = 8080
	// idleSeconds is the time for which a connection may be silent. A part of a form may take a minute to come, and
	// the server keeps a connection for longer (shared/api/server).
	idleSeconds = 75
	// lastSeconds is the time in which a task that ends finishes the forms that have begun.
	lastSeconds = 120
	// drainSeconds is the time before, in which a task gets no new form: a form may come for ten minutes.
	drainSeconds = 720
)

// protocol is how CloudFront calls the load balancer.
type protocol struct {
	name   string
	port   int
	origin string
}

// protocolOf returns HTTPS for a region with the certificate of a domain, and otherwise HTTP.
func protocolOf(in *stack.Stack) protocol {
	if in.Region.Domain != nil {
		return protocol{"HTTPS", httpsPort, "https-only"}
	}
	return protocol{"HTTP", httpPort, "http-only"}
}

// balancer is the load balancer before the tasks.
type balancer struct {
	load     balancing.CfnLoadBalancer
	targets  balancing.CfnTargetGroup
	listener balancing.CfnListener
	protocol protocol
}

// newBalancer creates the load balancer. No address of the internet leads to the load balancer.
func newBalancer(in *stack.Stack, n *network) *balancer {
	b := &balancer{protocol: protocolOf(in)}
	b.load = balancing.NewCfnLoadBalancer(in.Scope, jsii.String("Balancer"), &balancing.CfnLoadBalancerProps{
		Name: jsii.String(in.Region.Prefix() + "-" + Name), Type: jsii.String("application"), Scheme: jsii.String("internal"),
		Subnets: anys(n.closed), SecurityGroups: &[]any{n.front.AttrGroupId()},
		LoadBalancerAttributes: &[]any{
			attribute("idle_timeout.timeout_seconds", strconv.Itoa(idleSeconds)),
			attribute("routing.http.drop_invalid_header_fields.enabled", "true"),
			// The server takes the client from the header as CloudFront has sent it.
			attribute("routing.http.xff_header_processing.mode", "preserve"),
		},
	})
	stack.Accept(b.load, "AwsSolutions-ELB2", "The log of the service has each request; a log of the load balancer would be another "+
		"place of addresses.")
	b.targets = balancing.NewCfnTargetGroup(in.Scope, jsii.String("Targets"), &balancing.CfnTargetGroupProps{
		Name: jsii.String(in.Region.Prefix() + "-" + Name), VpcId: n.vpc.AttrVpcId(), TargetType: jsii.String("ip"),
		Protocol: jsii.String("HTTP"), Port: jsii.Number(taskPort),
		HealthCheckPath: jsii.String(server.Health), HealthCheckIntervalSeconds: jsii.Number(15), HealthCheckTimeoutSeconds: jsii.Number(5),
		HealthyThresholdCount: jsii.Number(2), UnhealthyThresholdCount: jsii.Number(3),
		Matcher: &balancing.CfnTargetGroup_MatcherProperty{HttpCode: jsii.String("204")},
		TargetGroupAttributes: &[]any{
			targetAttribute("deregistration_delay.timeout_seconds", strconv.Itoa(drainSeconds)),
			// Forms are few and long.
			targetAttribute("load_balancing.algorithm.type", "least_outstanding_requests"),
		},
	})
	props := &balancing.CfnListenerProps{
		LoadBalancerArn: b.load.Ref(), Port: jsii.Number(b.protocol.port), Protocol: jsii.String(b.protocol.name),
		DefaultActions: &[]any{&balancing.CfnListener_ActionProperty{Type: jsii.String("forward"), TargetGroupArn: b.targets.Ref()}},
	}
	if d := in.Region.Domain; d != nil {
		props.Certificates = &[]any{&balancing.CfnListener_CertificateProperty{CertificateArn: &d.CertificateARN}}
		props.SslPolicy = jsii.String("ELBSecurityPolicy-TLS13-1-2-2021-06")
	}
	b.listener = balancing.NewCfnListener(in.Scope, jsii.String("Listener"), props)
	return b
}

// attribute returns an attribute of a load balancer.
func attribute(key, value string) any {
	return &balancing.CfnLoadBalancer_LoadBalancerAttributeProperty{Key: &key, Value: &value}
}

// targetAttribute returns an attribute of a target group.
func targetAttribute(key, value string) any {
	return &balancing.CfnTargetGroup_TargetGroupAttributeProperty{Key: &key, Value: &value}
}

// anys returns texts as values of any type.
func anys(texts []*string) *[]any {
	all := make([]any, len(texts))
	for i, text := range texts {
		all[i] = text
	}
	return &all
}
