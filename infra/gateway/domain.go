package gateway

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53targets"
	"github.com/aws/jsii-runtime-go"
)

// AddDomain adds the API's own host, and returns the new address. Without a zone in the
// configuration, the owner of the zone points the host's record to the output DomainTarget.
func (g *Gateway) AddDomain() *string {
	d, scope := g.in.Region.Domain, g.in.Scope
	host := awsapigateway.NewDomainName(scope, jsii.String("Domain"), &awsapigateway.DomainNameProps{
		DomainName:     &d.Name,
		Certificate:    awscertificatemanager.Certificate_FromCertificateArn(scope, jsii.String("Certificate"), &d.CertificateARN),
		EndpointType:   awsapigateway.EndpointType_REGIONAL,
		SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
	})
	awsapigateway.NewBasePathMapping(scope, jsii.String("DomainOfApi"), &awsapigateway.BasePathMappingProps{
		DomainName: host, RestApi: g.API, Stage: g.API.DeploymentStage(),
	})
	if d.ZoneID != "" {
		awsroute53.NewARecord(scope, jsii.String("DomainRecord"), &awsroute53.ARecordProps{
			Zone: awsroute53.HostedZone_FromHostedZoneAttributes(scope, jsii.String("Zone"), &awsroute53.HostedZoneAttributes{
				HostedZoneId: &d.ZoneID, ZoneName: &d.ZoneName,
			}),
			RecordName: jsii.String(d.Name + "."),
			Target:     awsroute53.RecordTarget_FromAlias(awsroute53targets.NewApiGatewayDomain(host)),
		})
	}
	g.in.Output("DomainTarget", "What the host's record points to", host.DomainNameAliasDomainName())
	return jsii.String("https://" + d.Name)
}
