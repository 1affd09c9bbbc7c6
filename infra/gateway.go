package main

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"lectern/shared/api"
)

// gateway is the API in its stack.
type gateway struct {
	stack  awscdk.Stack
	config *config
	at     region
	api    awsapigateway.SpecRestApi
}

// newGateway describes the REST API and who it invokes.
func newGateway(stack awscdk.Stack, c *config, at region, groups []api.Group, functions []built) *gateway {
	body := document(at.prefix(), "The API of Lectern "+at.name, groups, func(group string) any { return invocation(stack, at, functionOf(functions, group)) })
	made := awsapigateway.NewSpecRestApi(stack, jsii.String("Api"), &awsapigateway.SpecRestApiProps{
		RestApiName:   jsii.String(at.prefix()),
		ApiDefinition: awsapigateway.ApiDefinition_FromInline(body),
		EndpointTypes: &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
		// What the description has no more is no more served.
		Mode:                        awsapigateway.RestApiMode_OVERWRITE,
		BinaryMediaTypes:            jsii.Strings(allMedia),
		CloudWatchRole:              &c.cloudWatchRole,
		CloudWatchRoleRemovalPolicy: cloudWatchRolePolicy(c),
		DeployOptions: &awsapigateway.StageOptions{
			StageName:            &c.stage,
			ThrottlingRateLimit:  jsii.Number(c.throttleRate),
			ThrottlingBurstLimit: jsii.Number(c.throttleBurst),
			AccessLogDestination: awsapigateway.NewLogGroupLogDestination(newLog(stack, c, at, "gateway")),
			AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(accessLine())),
			LoggingLevel:         awsapigateway.MethodLoggingLevel_OFF,
		},
	})
	g := &gateway{stack, c, at, made}
	made.Node().TryRemoveChild(jsii.String("Endpoint")) // Address is the output.
	g.accept()
	for _, f := range functions {
		if f.name != operator {
			g.invokes(f)
		}
	}
	return g
}

// cloudWatchRolePolicy keeps the role that writes the region's access logs, since
// other APIs of the account may have come to use it.
func cloudWatchRolePolicy(c *config) awscdk.RemovalPolicy {
	if c.cloudWatchRole {
		return awscdk.RemovalPolicy_RETAIN
	}
	return ""
}

func functionOf(functions []built, name string) built {
	for _, f := range functions {
		if f.name == name {
			return f
		}
	}
	panic("infra: a route of no function: " + name)
}

// invocation is the address by which the gateway invokes a function. It names the
// function by its place in the template, and so is short and waits for it.
func invocation(stack awscdk.Stack, at region, f built) any {
	id := stack.GetLogicalId(f.lambda.Node().DefaultChild().(awscdk.CfnElement))
	return map[string]any{"Fn::Sub": "arn:${AWS::Partition}:apigateway:" + at.awsRegion +
		":lambda:path/2015-03-31/functions/${" + *id + ".Arn}/invocations"}
}

// invokes lets this API alone, by this stage alone, invoke a function. Routes are
// served when that is so.
func (g *gateway) invokes(f built) {
	allowed := awslambda.NewCfnPermission(g.stack, jsii.String("Invoke-"+f.name), &awslambda.CfnPermissionProps{
		Action:       jsii.String("lambda:InvokeFunction"),
		FunctionName: f.lambda.FunctionArn(),
		Principal:    jsii.String("apigateway.amazonaws.com"),
		SourceArn:    g.api.ArnForExecuteApi(jsii.String("*"), jsii.String("/*"), &g.config.stage),
	})
	g.api.LatestDeployment().Node().AddDependency(allowed)
}

// address is the API's default address, without a final slash.
func (g *gateway) address() *string {
	return awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("https://"), g.api.RestApiId(), jsii.String(".execute-api." + g.at.awsRegion + "."), g.stack.UrlSuffix(),
		jsii.String("/" + g.config.stage),
	})
}

// accessLine is a line of the access log. It has what the line of the function does
// not: what the gateway refused by itself, how long the whole took, and the id that
// leads to it. It has neither the path as it was sent nor the query, in which a
// client may write anything; and no address of a client, which is personal data: the
// function's line says whose token it was.
func accessLine() string {
	fields := []struct{ name, value string }{
		{"request_id", "$context.requestId"},
		{"time", "$context.requestTimeEpoch"},
		{"method", "$context.httpMethod"},
		{"route", "$context.resourcePath"},
		{"status", "$context.status"},
		{"ms", "$context.responseLatency"},
		{"function_ms", "$context.integrationLatency"},
		{"function_status", "$context.integrationStatus"},
		{"bytes", "$context.responseLength"},
		{"refusal", "$context.error.responseType"},
	}
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = quoted(f.name) + ":" + quoted(f.value)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func quoted(text string) string {
	form, _ := json.Marshal(text) //nolint:errchkjson // text is always JSON
	return string(form)
}

// accept says why the API leaves to the functions what a gateway could do.
func (g *gateway) accept() {
	accept(g.api, "AwsSolutions-APIG2", "The functions hold every request to the rules of its route, and answer in the API's own words.")
	stage := g.api.DeploymentStage()
	accept(stage, "AwsSolutions-APIG6", "The execution log writes query strings and headers; the access log and the functions' lines have all else.")
	if g.config.firewallRate == 0 {
		accept(stage, "AwsSolutions-APIG3", "A firewall is configured by firewallRate; without it every method is throttled and every token has its limits.")
	}
	if g.config.cloudWatchRole {
		role := g.api.Node().FindChild(jsii.String("CloudWatchRole"))
		accept(role, "AwsSolutions-IAM4", "The role is of the account in this region and not of this API; AWS keeps its policy for it.")
	}
}
