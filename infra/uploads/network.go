package uploads

import (
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/stack"
)

const (
	// addresses is the range of the network. No other network calls the tasks, so regions have the same range.
	addresses = "10.71.0.0/24"
	// anywhere is every address.
	anywhere = "0.0.0.0/0"
)

// network is the network of the service, in two zones. Tasks are in public subnets, since they call AWS without a
// NAT gateway; the load balancer is in subnets without a way to the internet.
type network struct {
	in      *stack.Stack
	vpc     awsec2.CfnVPC
	gateway awsec2.CfnVPCGatewayAttachment
	// open and closed are the ids of the subnets with and without a way to the internet.
	open, closed []*string
	// front has the load balancer, and behind the tasks.
	front, behind awsec2.CfnSecurityGroup
}

// newNetwork creates the network.
func newNetwork(in *stack.Stack) *network {
	n := &network{in: in, vpc: awsec2.NewCfnVPC(in.Scope, jsii.String("Vpc"), &awsec2.CfnVPCProps{
		CidrBlock: jsii.String(addresses), EnableDnsHostnames: true, EnableDnsSupport: true, Tags: nameOf(in),
	})}
	stack.Accept(n.vpc, "AwsSolutions-VPC7", "The log of the service has each request; nothing else calls within the network.")
	internet := awsec2.NewCfnInternetGateway(in.Scope, jsii.String("Internet"), &awsec2.CfnInternetGatewayProps{Tags: nameOf(in)})
	n.gateway = awsec2.NewCfnVPCGatewayAttachment(in.Scope, jsii.String("InternetOfVpc"), &awsec2.CfnVPCGatewayAttachmentProps{
		VpcId: n.vpc.Ref(), InternetGatewayId: internet.Ref(),
	})
	routes := awsec2.NewCfnRouteTable(in.Scope, jsii.String("Routes"), &awsec2.CfnRouteTableProps{VpcId: n.vpc.Ref(), Tags: nameOf(in)})
	route := awsec2.NewCfnRoute(in.Scope, jsii.String("RouteToInternet"), &awsec2.CfnRouteProps{
		RouteTableId: routes.Ref(), DestinationCidrBlock: jsii.String(anywhere), GatewayId: internet.Ref(),
	})
	route.AddResourceDependency(n.gateway, jsii.String("The gateway must be attached first."))
	for i, zone := range in.Region.Network().Zones {
		open := n.subnet("Open"+strconv.Itoa(i), zone, 64*i)
		props := &awsec2.CfnSubnetRouteTableAssociationProps{RouteTableId: routes.Ref(), SubnetId: open}
		awsec2.NewCfnSubnetRouteTableAssociation(in.Scope, jsii.String("RoutesOfOpen"+strconv.Itoa(i)), props)
		n.open = append(n.open, open)
		n.closed = append(n.closed, n.subnet("Closed"+strconv.Itoa(i), zone, 128+64*i))
	}
	for _, of := range []string{"s3", "dynamodb"} {
		// Bytes and items do not take the way through the internet gateway.
		awsec2.NewCfnVPCEndpoint(in.Scope, jsii.String("Endpoint-"+of), &awsec2.CfnVPCEndpointProps{
			VpcId: n.vpc.Ref(), RouteTableIds: &[]any{routes.Ref()}, VpcEndpointType: jsii.String("Gateway"),
			ServiceName: jsii.String("com.amazonaws." + in.Region.AWSRegion + "." + of),
		})
	}
	n.guard()
	return n
}

// subnet creates a subnet of 64 addresses in a zone, and returns the id.
func (n *network) subnet(id, zone string, first int) *string {
	return awsec2.NewCfnSubnet(n.in.Scope, &id, &awsec2.CfnSubnetProps{
		VpcId: n.vpc.Ref(), AvailabilityZoneId: &zone, CidrBlock: jsii.String("10.71.0." + strconv.Itoa(first) + "/26"), Tags: nameOf(n.in),
	}).Ref()
}

// guard lets CloudFront call the load balancer, the load balancer the tasks, and the tasks AWS.
func (n *network) guard() {
	port, id := protocolOf(n.in).port, n.vpc.AttrVpcId()
	n.behind = awsec2.NewCfnSecurityGroup(n.in.Scope, jsii.String("Behind"), &awsec2.CfnSecurityGroupProps{
		VpcId: id, GroupDescription: jsii.String("Tasks: called by the load balancer, call AWS"), Tags: nameOf(n.in),
		SecurityGroupEgress: &[]any{&awsec2.CfnSecurityGroup_EgressProperty{
			IpProtocol: jsii.String("tcp"), FromPort: jsii.Number(httpsPort), ToPort: jsii.Number(httpsPort), CidrIp: jsii.String(anywhere),
			Description: jsii.String("AWS"),
		}},
	})
	n.front = awsec2.NewCfnSecurityGroup(n.in.Scope, jsii.String("Front"), &awsec2.CfnSecurityGroupProps{
		VpcId: id, GroupDescription: jsii.String("Load balancer: called by CloudFront, calls tasks"), Tags: nameOf(n.in),
		// CloudFront calls with public addresses, and not with addresses of the network.
		SecurityGroupIngress: &[]any{&awsec2.CfnSecurityGroup_IngressProperty{
			IpProtocol: jsii.String("tcp"), FromPort: jsii.Number(port), ToPort: jsii.Number(port),
			SourcePrefixListId: jsii.String(n.in.Region.Network().PrefixList), Description: jsii.String("CloudFront"),
		}},
		SecurityGroupEgress: &[]any{&awsec2.CfnSecurityGroup_EgressProperty{
			IpProtocol: jsii.String("tcp"), FromPort: jsii.Number(taskPort), ToPort: jsii.Number(taskPort),
			DestinationSecurityGroupId: n.behind.AttrGroupId(), Description: jsii.String("Tasks"),
		}},
	})
	awsec2.NewCfnSecurityGroupIngress(n.in.Scope, jsii.String("FrontToBehind"), &awsec2.CfnSecurityGroupIngressProps{
		GroupId: n.behind.AttrGroupId(), SourceSecurityGroupId: n.front.AttrGroupId(), IpProtocol: jsii.String("tcp"),
		FromPort: jsii.Number(taskPort), ToPort: jsii.Number(taskPort), Description: jsii.String("The load balancer"),
	})
}

// nameOf returns the tag by which the console of AWS names a part of the network.
func nameOf(in *stack.Stack) *[]*awscdk.CfnTag {
	return &[]*awscdk.CfnTag{{Key: jsii.String("Name"), Value: jsii.String(in.Region.Prefix() + "-" + Name)}}
}
