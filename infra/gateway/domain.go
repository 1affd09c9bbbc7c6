package gateway

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudfront"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53targets"
	"github.com/aws/jsii-runtime-go"
)

// AddDomain adds the API's own host, with edges before it where the region has an upload service, and returns the
// new address. Without a zone in the configuration, the owner of the zone points the host's record to the output
// DomainTarget.
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
	target := host.DomainNameAliasDomainName()
	var alias awsroute53.IAliasRecordTarget = awsroute53targets.NewApiGatewayDomain(host)
	if g.in.Config.UploadService {
		edges := g.addDistribution(target, allOfViewer)
		target, alias = edges.AttrDomainName(), awsroute53targets.NewCloudFrontTarget(
			awscloudfront.Distribution_FromDistributionAttributes(scope, jsii.String("EdgesOfDomain"), &awscloudfront.DistributionAttributes{
				DistributionId: edges.AttrId(), DomainName: edges.AttrDomainName(),
			}))
	}
	if d.ZoneID != "" {
		awsroute53.NewARecord(scope, jsii.String("DomainRecord"), &awsroute53.ARecordProps{
			Zone: awsroute53.HostedZone_FromHostedZoneAttributes(scope, jsii.String("Zone"), &awsroute53.HostedZoneAttributes{
				HostedZoneId: &d.ZoneID, ZoneName: &d.ZoneName,
			}),
			RecordName: jsii.String(d.Name + "."),
			Target:     awsroute53.RecordTarget_FromAlias(alias),
		})
	}
	g.in.Output("DomainTarget", "What the host's record points to", target)
	return jsii.String("https://" + d.Name)
}
