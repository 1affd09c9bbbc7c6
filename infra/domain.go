package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53targets"
	"github.com/aws/jsii-runtime-go"
)

// newDomain gives the API its own host, and returns its address. Where the zone is
// not kept here, the host's record is to point to what the output DomainTarget says.
func newDomain(stack awscdk.Stack, at region, g *gateway) *string {
	d := at.domain
	host := awsapigateway.NewDomainName(stack, jsii.String("Domain"), &awsapigateway.DomainNameProps{
		DomainName:     &d.name,
		Certificate:    awscertificatemanager.Certificate_FromCertificateArn(stack, jsii.String("Certificate"), &d.certificateARN),
		EndpointType:   awsapigateway.EndpointType_REGIONAL,
		SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
	})
	awsapigateway.NewBasePathMapping(stack, jsii.String("DomainOfApi"), &awsapigateway.BasePathMappingProps{
		DomainName: host, RestApi: g.api, Stage: g.api.DeploymentStage(),
	})
	if d.zoneID != "" {
		awsroute53.NewARecord(stack, jsii.String("DomainRecord"), &awsroute53.ARecordProps{
			Zone: awsroute53.HostedZone_FromHostedZoneAttributes(stack, jsii.String("Zone"), &awsroute53.HostedZoneAttributes{
				HostedZoneId: &d.zoneID, ZoneName: &d.zoneName,
			}),
			RecordName: jsii.String(d.name + "."),
			Target:     awsroute53.RecordTarget_FromAlias(awsroute53targets.NewApiGatewayDomain(host)),
		})
	}
	output(stack, "DomainTarget", "What the host's record points to", host.DomainNameAliasDomainName())
	return jsii.String("https://" + d.name)
}
