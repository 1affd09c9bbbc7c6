// Package gateway describes the REST API before the functions: its routes and own answers,
// its host, its firewall and the edges before it. Read gateway.go, routes.go, answers.go; then
// accesslog.go, domain.go, edges.go and firewall.go.
package gateway

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/config"
	"lectern/infra/function"
	"lectern/infra/stack"
	"lectern/shared/api"
)

// Gateway is the REST API in a stack.
type Gateway struct {
	in  *stack.Stack
	API awsapigateway.SpecRestApi
	// forms has the paths of forms, with stars for variables.
	forms []string
}

// New creates the REST API with the routes of the groups, and permits the API to invoke the
// functions.
func New(in *stack.Stack, groups []api.Group, functions []function.Function) *Gateway {
	c := in.Config
	uris := map[string]any{}
	for _, f := range functions {
		uris[f.Name] = invocationURI(in, f)
	}
	made := awsapigateway.NewSpecRestApi(in.Scope, jsii.String("Api"), &awsapigateway.SpecRestApiProps{
		RestApiName:   jsii.String(in.Region.Prefix()),
		ApiDefinition: awsapigateway.ApiDefinition_FromInline(document(in.Region, groups, uris)),
		EndpointTypes: &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
		// A path that is missing in the description is removed from the API.
		Mode: awsapigateway.RestApiMode_OVERWRITE,
		// The import replaces the kind of endpoint too, and its default is EDGE.
		Parameters:                  &map[string]*string{"endpointConfigurationTypes": jsii.String(string(awsapigateway.EndpointType_REGIONAL))},
		BinaryMediaTypes:            jsii.Strings(allMedia),
		CloudWatchRole:              &c.CloudWatchRole,
		CloudWatchRoleRemovalPolicy: cloudWatchRolePolicy(c),
		DeployOptions: &awsapigateway.StageOptions{
			StageName:            &c.Stage,
			ThrottlingRateLimit:  jsii.Number(c.ThrottleRate),
			ThrottlingBurstLimit: jsii.Number(c.ThrottleBurst),
			AccessLogDestination: awsapigateway.NewLogGroupLogDestination(in.CheapLog("access")),
			AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(accessLine())),
			LoggingLevel:         awsapigateway.MethodLoggingLevel_OFF,
		},
	})
	g := &Gateway{in, made, formsOf(groups)}
	made.Node().TryRemoveChild(jsii.String("Endpoint")) // The output Address replaces this output.
	g.accept()
	for _, f := range functions {
		if f.Name != function.Operator {
			g.permit("Invoke-"+f.Name, f, made.ArnForExecuteApi(jsii.String("*"), jsii.String("/*"), &c.Stage))
		}
		if f.Name == asked {
			g.permit("Authorize", f, in.Scope.FormatArn(&awscdk.ArnComponents{
				Service: jsii.String("execute-api"), Resource: made.RestApiId(), ResourceName: jsii.String("authorizers/*"),
			}))
		}
	}
	return g
}

// cloudWatchRolePolicy keeps the role for access logs after the stack is deleted, since
// other APIs of the account may use the role.
func cloudWatchRolePolicy(c *config.Config) awscdk.RemovalPolicy {
	if c.CloudWatchRole {
		return awscdk.RemovalPolicy_RETAIN
	}
	return ""
}

// invocationURI returns the address by which the gateway invokes a function. The address
// names the function by its logical id, so it is short and makes the API depend on the
// function.
func invocationURI(in *stack.Stack, f function.Function) any {
	id := in.Scope.GetLogicalId(f.Lambda.Node().DefaultChild().(awscdk.CfnElement))
	return map[string]any{"Fn::Sub": "arn:${AWS::Partition}:apigateway:" + in.Region.AWSRegion +
		":lambda:path/2015-03-31/functions/${" + *id + ".Arn}/invocations"}
}

// permit allows this API to invoke a function from a source. The deployment waits for the permission, so that no route is live before.
func (g *Gateway) permit(id string, f function.Function, from *string) {
	allowed := awslambda.NewCfnPermission(g.in.Scope, &id, &awslambda.CfnPermissionProps{
		Action:       jsii.String("lambda:InvokeFunction"),
		FunctionName: f.Lambda.FunctionArn(),
		Principal:    jsii.String("apigateway.amazonaws.com"),
		SourceArn:    from,
	})
	g.API.LatestDeployment().Node().AddDependency(allowed)
}

// Address returns the API's default address, without a final slash.
func (g *Gateway) Address() *string {
	return awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("https://"), g.API.RestApiId(), jsii.String(".execute-api." + g.in.Region.AWSRegion + "."), g.in.Scope.UrlSuffix(),
		jsii.String("/" + g.in.Config.Stage),
	})
}

// accept notes the reasons to leave checks of the gateway to the functions.
func (g *Gateway) accept() {
	stack.Accept(g.API, "AwsSolutions-APIG2", "The functions hold every request to the rules of its route, and answer in the API's own words.")
	stage := g.API.DeploymentStage()
	stack.Accept(stage, "AwsSolutions-APIG6", "The execution log writes query strings and headers; the access log and the "+
		"functions' lines have all else.")
	if g.in.Config.FirewallRate == 0 {
		stack.Accept(stage, "AwsSolutions-APIG3", "A firewall is configured by firewallRate; without it every method is throttled and "+
			"every token has its limits.")
	}
	if g.in.Config.CloudWatchRole {
		role := g.API.Node().FindChild(jsii.String("CloudWatchRole"))
		stack.Accept(role, "AwsSolutions-IAM4", "The role is of the account in this region and not of this API; AWS keeps its policy for it.")
	}
}
