package gateway

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudfront"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/stack"
	"lectern/shared/api"
)

// Policies of CloudFront, by the ids that AWS gives them: nothing is cached, and every header of the client is
// passed on, with its Host or with the host of the API.
const (
	noCaching   = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
	allOfViewer = "216adef6-5c7f-47e4-b989-5492eafa07d3"
	allButHost  = "b689b0a8-53d0-40ab-baf2-68738e2966ac"
)

const (
	// theAPI and theUploads name the origins of the distribution.
	theAPI, theUploads = "api", "uploads"
	// apiSeconds is longer than the gateway waits for a function, and formSeconds the longest time that CloudFront
	// waits for a server without a request to AWS.
	apiSeconds, formSeconds = 30, 60
	// tls12 is the version of TLS between CloudFront and the API.
	tls12 = "TLSv1.2"
)

// AddEdges adds edges before an API without a domain, and returns their address. The API keeps its own address,
// and its links lead to that of the edges.
func (g *Gateway) AddEdges() *string {
	host := awscdk.Fn_Join(jsii.String(""), &[]*string{
		g.API.RestApiId(), jsii.String(".execute-api." + g.in.Region.AWSRegion + "."), g.in.Scope.UrlSuffix(),
	})
	edges := g.addDistribution(host, allButHost)
	address := awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("https://"), edges.AttrDomainName(), jsii.String("/" + g.in.Config.Stage),
	})
	g.setVariable(api.StageAddress, address)
	return address
}

// setVariable sets a variable of the stage, which each event has.
func (g *Gateway) setVariable(name string, value *string) {
	stage := g.API.DeploymentStage().Node().DefaultChild().(awsapigateway.CfnStage)
	stage.AddPropertyOverride(jsii.String("Variables."+name), value)
}

// addDistribution adds the edges: a distribution of CloudFront that passes forms to the upload service, and
// everything else to the API at the host, with the headers of a policy. It caches and logs nothing.
func (g *Gateway) addDistribution(host *string, headers string) awscloudfront.CfnDistribution {
	id, uploads := g.in.UploadOrigin()
	config := &awscloudfront.CfnDistribution_DistributionConfigProperty{
		Comment:     jsii.String("Lectern " + g.in.Region.Name),
		Enabled:     true,
		HttpVersion: jsii.String("http2"), Ipv6Enabled: true,
		// The edges of North America and Europe alone.
		PriceClass: jsii.String("PriceClass_100"),
		Origins: &[]any{
			&awscloudfront.CfnDistribution_OriginProperty{
				Id: jsii.String(theAPI), DomainName: host,
				CustomOriginConfig: &awscloudfront.CfnDistribution_CustomOriginConfigProperty{
					OriginProtocolPolicy: jsii.String("https-only"), OriginSslProtocols: jsii.Strings(tls12),
					OriginReadTimeout: jsii.Number(apiSeconds),
				},
				OriginCustomHeaders: &[]any{&awscloudfront.CfnDistribution_OriginCustomHeaderProperty{
					HeaderName: jsii.String(api.HeaderEdges), HeaderValue: g.newEdgeSecret(),
				}},
			},
			&awscloudfront.CfnDistribution_OriginProperty{
				Id: jsii.String(theUploads), DomainName: uploads,
				VpcOriginConfig: &awscloudfront.CfnDistribution_VpcOriginConfigProperty{
					VpcOriginId: id, OriginReadTimeout: jsii.Number(formSeconds),
				},
			},
		},
		DefaultCacheBehavior: &awscloudfront.CfnDistribution_DefaultCacheBehaviorProperty{
			TargetOriginId: jsii.String(theAPI), ViewerProtocolPolicy: jsii.String("https-only"), AllowedMethods: jsii.Strings(methods...),
			CachePolicyId: jsii.String(noCaching), OriginRequestPolicyId: jsii.String(headers), Compress: false,
		},
		CacheBehaviors: g.formBehaviors(), CustomErrorResponses: uncachedErrors(),
	}
	if d := g.in.Region.Domain; d != nil {
		config.Aliases = jsii.Strings(d.Name)
		config.ViewerCertificate = &awscloudfront.CfnDistribution_ViewerCertificateProperty{
			AcmCertificateArn: &d.EdgeCertificateARN, SslSupportMethod: jsii.String("sni-only"), MinimumProtocolVersion: jsii.String("TLSv1.2_2021"),
		}
	}
	props := &awscloudfront.CfnDistributionProps{DistributionConfig: config}
	edges := awscloudfront.NewCfnDistribution(g.in.Scope, jsii.String("Edges"), props)
	g.acceptEdges(edges)
	return edges
}

// formBehaviors passes the paths of forms to the upload service. A star of CloudFront matches slashes too, so the
// service answers some paths that no route has.
func (g *Gateway) formBehaviors() *[]any {
	all := make([]any, 0, len(g.forms))
	for _, path := range g.forms {
		if g.in.Region.Domain == nil {
			path = "/" + g.in.Config.Stage + path
		}
		all = append(all, &awscloudfront.CfnDistribution_CacheBehaviorProperty{
			PathPattern: jsii.String(path), TargetOriginId: jsii.String(theUploads), ViewerProtocolPolicy: jsii.String("https-only"),
			AllowedMethods: jsii.Strings(methods...), CachePolicyId: jsii.String(noCaching), OriginRequestPolicyId: jsii.String(allOfViewer),
			Compress: false,
		})
	}
	return &all
}

// formsOf returns the paths of forms, with stars for variables.
func formsOf(groups []api.Group) (paths []string) {
	for _, g := range groups {
		for _, op := range g.Operations {
			if !op.HasForm() {
				continue
			}
			segments := strings.Split(op.Path, "/")
			for i, segment := range segments {
				if strings.HasPrefix(segment, "{") {
					segments[i] = "*"
				}
			}
			paths = append(paths, strings.Join(segments, "/"))
		}
	}
	return paths
}

// newEdgeSecret creates the secret that marks a request from the edges, and sets the variable of the stage with it. The
// secret protects nothing but the addresses of clients in the log.
func (g *Gateway) newEdgeSecret() *string {
	const length = 32
	secret := awssecretsmanager.NewCfnSecret(g.in.Scope, jsii.String("EdgeSecret"), &awssecretsmanager.CfnSecretProps{
		Name:        jsii.String("lectern/" + g.in.Region.Name + "/edges"),
		Description: jsii.String("The header by which the functions of Lectern " + g.in.Region.Name + " know requests from CloudFront."),
		GenerateSecretString: &awssecretsmanager.CfnSecret_GenerateSecretStringProperty{
			PasswordLength: jsii.Number(length), ExcludePunctuation: jsii.Bool(true),
		},
	})
	stack.Accept(secret, "AwsSolutions-SMG4", "CloudFront and the stage have the value of the last deployment, which a rotation "+
		"would not change.")
	value := awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("{{resolve:secretsmanager:"), secret.Ref(), jsii.String(":SecretString}}"),
	})
	g.setVariable(api.StageEdges, value)
	return value
}

// cachedErrors are the statuses of answers that CloudFront would keep for ten seconds otherwise, and then give to
// other callers of the same path.
var cachedErrors = []float64{400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504}

// uncachedErrors lets CloudFront pass every error on and keep none.
func uncachedErrors() *[]any {
	all := make([]any, 0, len(cachedErrors))
	for _, status := range cachedErrors {
		all = append(all, &awscloudfront.CfnDistribution_CustomErrorResponseProperty{
			ErrorCode: jsii.Number(status), ErrorCachingMinTtl: jsii.Number(0),
		})
	}
	return &all
}

// acceptEdges notes the reasons to leave checks of the distribution out.
func (g *Gateway) acceptEdges(edges awscloudfront.CfnDistribution) {
	stack.Accept(edges, "AwsSolutions-CFR1", "Speakers and organizers are in every country.")
	stack.Accept(edges, "AwsSolutions-CFR2", "A firewall of CloudFront is in us-east-1 for every region; tokens have their limits.")
	stack.Accept(edges, "AwsSolutions-CFR3", "The log of the API has each request, in the region; a log of edges would be another "+
		"place of addresses.")
	if g.in.Region.Domain == nil {
		stack.Accept(edges, "AwsSolutions-CFR4", "The certificate of CloudFront's own names allows no choice of versions.")
	}
}
