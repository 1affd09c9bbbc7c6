package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"lectern/shared/api"
)

// newService describes all that can be made anew at any time: functions, API, logs,
// alarms. It knows the table by its name alone, so that a restored one can be served
// in its place.
func newService(app awscdk.App, c *config, at region, groups []api.Group, all []function, binaries string) awscdk.Stack {
	stack := newStack(app, c, at, "Service", "Lectern "+at.name+": the service", false)
	functions := make([]built, len(all))
	for i, f := range all {
		functions[i] = newFunction(stack, c, at, f, binaries)
	}
	door := newGateway(stack, c, at, groups, functions)
	if c.firewallRate > 0 {
		newFirewall(stack, c, at, door)
	}
	address := door.address()
	if at.domain != nil {
		address = newDomain(stack, at, door)
	}
	maintain(stack, at, functions)
	observe(stack, c, at, functions, door)

	output(stack, "Address", "Where the API is", address)
	output(stack, "ApiId", "The API's id", door.api.RestApiId())
	output(stack, "Stage", "The API's stage", &c.stage)
	output(stack, "Table", "The table that is served", jsii.String(at.table()))
	output(stack, "Region", "Where in AWS the region is", &at.awsRegion)
	output(stack, "Operator", "The function that does an operator's commands", jsii.String(at.prefix()+"-"+operator))
	return stack
}
