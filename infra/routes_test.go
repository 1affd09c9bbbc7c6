package main

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions"
)

// body is the API as a template describes it.
type body struct {
	OpenAPI string `json:"openapi"`
	Info    struct{ Title, Description, Version string }
	Paths   map[string]map[string]struct {
		Responses   map[string]any
		Integration struct {
			Type, HTTPMethod string
			URI              map[string]string
		} `json:"x-amazon-apigateway-integration"`
		Security []any
	}
	Components struct {
		SecuritySchemes map[string]struct {
			Type, Name, In string
			AuthType       string         `json:"x-amazon-apigateway-authtype"`
			Authorizer     map[string]any `json:"x-amazon-apigateway-authorizer"`
		}
	}
	BinaryMediaTypes []string `json:"x-amazon-apigateway-binary-media-types"`
	Answers          map[string]struct {
		StatusCode         string
		ResponseParameters map[string]string
		ResponseTemplates  map[string]string
	} `json:"x-amazon-apigateway-gateway-responses"`
}

func bodyOf(t *testing.T, service template) (b body) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(plain(t, service.one(t, "AWS::ApiGateway::RestApi").Properties["Body"])), &b))
	return b
}

var invoked = regexp.MustCompile(`^arn:\$\{AWS::Partition\}:apigateway:us-east-1:lambda:path/2015-03-31/functions/\$\{(\w+)\.Arn\}/invocations$`)

// invokes gives the name of the function that each method on each path invokes.
func invokes(t *testing.T, service template) map[string]string {
	t.Helper()
	to := map[string]string{}
	for path, methods := range bodyOf(t, service).Paths {
		for method, op := range methods {
			require.Equal(t, "aws_proxy", op.Integration.Type)
			require.Equal(t, "POST", op.Integration.HTTPMethod)
			id := invoked.FindStringSubmatch(op.Integration.URI["Fn::Sub"])
			require.NotNil(t, id, op.Integration.URI)
			name := service.Resources[id[1]].Properties["FunctionName"].(string)
			to[strings.ToUpper(method)+" "+path] = strings.TrimPrefix(name, "lectern-us-")
		}
	}
	return to
}

// goldenRoutes are the routes of functions/testdata, which are held to
// operations.tsv.
func goldenRoutes(t *testing.T) (all []string) {
	t.Helper()
	golden, err := os.ReadFile("../functions/testdata/routes.golden.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(golden)) {
		all = append(all, strings.Join(strings.Fields(line)[:2], " "))
	}
	return all
}

func TestTheRoutesOfTheGatewayAreThoseOfTheTable(t *testing.T) {
	to := invokes(t, ofDefaults(t)["Lectern-us-Service"])
	owner := map[string]string{}
	for _, g := range functions.Groups {
		for _, op := range g.Operations {
			owner[op.Method+" "+op.Path] = g.Name
		}
	}
	golden := goldenRoutes(t)
	require.ElementsMatch(t, golden, slices.Collect(maps.Keys(owner)))
	expected := map[string]string{}
	for _, route := range append(slices.Clone(golden), "GET /", "GET /{proxy+}") {
		_, path, _ := strings.Cut(route, " ")
		for _, method := range []string{"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"} {
			expected[method+" "+path] = "root"
		}
	}
	for _, route := range golden {
		method, path, _ := strings.Cut(route, " ")
		expected[route] = owner[route]
		if method == "GET" {
			expected["HEAD "+path] = owner[route]
		}
	}
	require.Equal(t, expected, to)
}

// The document leaves out only what belongs to the root group, and pages for browsers.
func TestTheRoutesOfTheGatewayAreThoseOfTheDocument(t *testing.T) {
	text, err := os.ReadFile("../functions/root/openapi.json")
	require.NoError(t, err)
	var documented struct{ Paths map[string]map[string]any }
	require.NoError(t, json.Unmarshal(text, &documented))
	var described, served []string
	for path, methods := range documented.Paths {
		for method := range methods {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	hidden := map[string]bool{}
	for _, g := range functions.Groups {
		for _, op := range g.Operations {
			hidden[op.Method+" "+op.Path] = op.IsHidden()
			require.True(t, !op.IsHidden() || g.Name == "root" || g.Name == "oauth", op.ID)
		}
	}
	for route, group := range invokes(t, ofDefaults(t)["Lectern-us-Service"]) {
		if group != "root" && !strings.HasPrefix(route, "HEAD ") && !hidden[route] {
			served = append(served, route)
		}
	}
	require.ElementsMatch(t, described, served)
}

func TestTheGatewayPassesBytesAndNothingIsMocked(t *testing.T) {
	service := ofDefaults(t)["Lectern-us-Service"]
	require.Equal(t, []any{"*/*"}, service.one(t, "AWS::ApiGateway::RestApi").Properties["BinaryMediaTypes"])
	require.Equal(t, []string{"*/*"}, bodyOf(t, service).BinaryMediaTypes)
	require.NotContains(t, service.text, "any-method")
	require.NotContains(t, service.text, `"mock"`)
	require.Equal(t, "3.0.1", bodyOf(t, service).OpenAPI)
}

// A route that is taken out of the description is gone with the next deployment, and
// whatever the description does not say is lost with it, so all of the API's own
// properties that an import writes stand there too. The kind of endpoint is a parameter of
// the import, whose default is EDGE. An import does not change the tags.
func TestTheDescriptionReplacesWhatWasThere(t *testing.T) {
	for _, service := range []template{ofDefaults(t)["Lectern-us-Service"], ofEverything(t)["Lectern-us-Service"]} {
		properties := service.one(t, "AWS::ApiGateway::RestApi").Properties
		require.Equal(t, "overwrite", properties["Mode"])
		require.Equal(t, map[string]any{"Types": []any{"REGIONAL"}}, properties["EndpointConfiguration"])
		require.Equal(t, map[string]any{"endpointConfigurationTypes": "REGIONAL"}, properties["Parameters"])
		b := bodyOf(t, service)
		require.Equal(t, []any{b.Info.Title, []any{b.BinaryMediaTypes[0]}}, []any{properties["Name"], properties["BinaryMediaTypes"]})
		require.Equal(t, []string{"lectern-us", "The API of Lectern us"}, []string{b.Info.Title, b.Info.Description})
		require.Len(t, b.Answers, 16)
		require.Subset(t, []string{"Body", "Mode", "Parameters", "EndpointConfiguration", "Name", "BinaryMediaTypes", "Tags"},
			slices.Collect(maps.Keys(properties)))
		require.Empty(t, service.of("AWS::ApiGateway::GatewayResponse"))
	}
}

func TestTheGatewayAloneInvokesTheGroups(t *testing.T) {
	service := ofDefaults(t)["Lectern-us-Service"]
	var names []string
	gateway := service.of("AWS::Lambda::Permission")
	others := []string{"Scheduleoperator", "Subscribeingester", "Authorize"} // The last is tested with what the gateway tells assistants.
	maps.DeleteFunc(gateway, func(id string, _ resource) bool { return slices.Contains(others, id) })
	for id, p := range gateway {
		f := service.Resources[p.Properties["FunctionName"].(map[string]any)["Fn::GetAtt"].([]any)[0].(string)]
		names = append(names, strings.TrimPrefix(f.Properties["FunctionName"].(string), "lectern-us-"))
		require.Equal(t, "lambda:InvokeFunction", p.Properties["Action"], id)
		require.Equal(t, "apigateway.amazonaws.com", p.Properties["Principal"], id)
		require.Regexp(t, `^arn:aws:execute-api:us-east-1:\$\{AWS::AccountId\}:\$\{Api[0-9A-F]{8}\}/live/\*/\*$`,
			written(p.Properties["SourceArn"]), id)
		require.Len(t, p.Properties, 4, id)
	}
	groups := make([]string, len(functions.Groups))
	for i, g := range functions.Groups {
		groups[i] = g.Name
	}
	require.ElementsMatch(t, groups, names)
	deployment := service.one(t, "AWS::ApiGateway::Deployment")
	for id := range gateway {
		require.Contains(t, deployment.DependsOn, id)
	}
}

// TestTheScheduleMaintains: a rule invokes the operator's function for maintain, and no
// other rule may. It is made after all functions.
func TestTheScheduleMaintains(t *testing.T) {
	service := ofDefaults(t)["Lectern-us-Service"]
	made := service.Resources[service.logical(t, "AWS::Events::Rule", "Name", "lectern-us-maintain")]
	rule := made.Properties
	for id, r := range service.Resources {
		if r.Type == "AWS::Lambda::Function" {
			require.Contains(t, made.DependsOn, id)
		}
	}
	require.Equal(t, "rate(1 hour)", rule["ScheduleExpression"])
	target := rule["Targets"].([]any)[0].(map[string]any)
	require.JSONEq(t, `{"command": "maintain"}`, target["Input"].(string))
	allowed := service.Resources["Scheduleoperator"].Properties
	require.Equal(t, allowed["FunctionName"], target["Arn"])
	require.Equal(t, "events.amazonaws.com", allowed["Principal"])
	require.Equal(t, "${"+service.logical(t, "AWS::Events::Rule", "Name", "lectern-us-maintain")+".Arn}", written(allowed["SourceArn"]))
}
