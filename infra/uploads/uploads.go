// Package uploads describes the stack of the upload service: tasks of ECS that run the server of forms behind an
// internal load balancer. CloudFront alone reaches the load balancer (decision 47). Read uploads.go first, then network.go,
// balancer.go and tasks.go.
package uploads

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudfront"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/config"
	"lectern/infra/function"
	"lectern/infra/observe"
	"lectern/infra/stack"
)

const (
	// Name is the name of the service, of the binary and of the log.
	Name = function.Uploads
	// Function is the function whose work the tasks do.
	Function = "sessionfiles"
)

// Parts has the parts of the stack.
type Parts struct {
	// Spec describes Function.
	Spec function.Spec
	// Binaries is the folder of the binaries; the folder Name below has the image of the server.
	Binaries string
}

// service builds the stack of the upload service.
type service struct {
	*stack.Stack
	Parts
	*network
	*balancer
}

// New creates the stack of the upload service. The stack of service reads two parameters, so that no export ties
// the stacks. The stack holds no data, and can be deleted after the distribution.
func New(app awscdk.App, c *config.Config, region config.Region, of Parts) awscdk.Stack {
	in := stack.New(app, c, region, stack.Kind{Name: "Uploads", Description: "Lectern " + region.Name + ": the upload service"})
	s := &service{Stack: in, Parts: of, network: newNetwork(in)}
	s.balancer = newBalancer(in, s.network)
	s.addTasks()
	origin := awscloudfront.NewCfnVpcOrigin(in.Scope, jsii.String("Origin"), &awscloudfront.CfnVpcOriginProps{
		VpcOriginEndpointConfig: &awscloudfront.CfnVpcOrigin_VpcOriginEndpointConfigProperty{
			Name: jsii.String(s.name()), Arn: s.load.Ref(), OriginProtocolPolicy: jsii.String(s.protocol.origin),
			HttpPort: jsii.Number(httpPort), HttpsPort: jsii.Number(httpsPort), OriginSslProtocols: jsii.Strings("TLSv1.2"),
		},
	})
	origin.AddResourceDependency(s.listener, jsii.String("CloudFront calls the listener."))
	origin.AddResourceDependency(s.gateway, jsii.String("CloudFront asks for an internet gateway, which it does not use."))
	in.Publish("OriginId", region.UploadParameter("origin"), "The origin of the upload service of Lectern "+region.Name, origin.AttrId())
	in.Publish("OriginHost", region.UploadParameter("host"), "The host of the upload service of Lectern "+region.Name, s.load.AttrDnsName())
	observe.AddUploads(in, observe.Uploads{Balancer: s.load.AttrLoadBalancerFullName(), Targets: s.targets.AttrTargetGroupFullName()})
	return in.Scope
}

// name returns the name of the service in AWS.
func (s *service) name() string { return s.Region.Prefix() + "-" + Name }
