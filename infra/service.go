package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"lectern/events"
	"lectern/infra/bus"
	"lectern/infra/config"
	"lectern/infra/function"
	"lectern/infra/gateway"
	"lectern/infra/observe"
	"lectern/infra/stack"
	"lectern/shared/api"
)

// service describes the stack of service, the same in every region.
type service struct {
	groups []api.Group
	specs  []function.Spec
	// workers are the functions that no request invokes, and rules what the bus sends to them.
	workers []function.Spec
	rules   []events.Rule
	// binaries is the folder of the functions' binaries.
	binaries string
}

// stack creates the stack of functions, API, logs and alarms. The stack holds no data and can
// be deleted and created again. Only the table's name connects the stack to the table, so a
// restored table can replace the table of the stack of state.
func (s *service) stack(app awscdk.App, c *config.Config, region config.Region) awscdk.Stack {
	in := stack.New(app, c, region, stack.Kind{Name: "Service", Description: "Lectern " + region.Name + ": the service"})
	shared := function.Parts{Logs: function.NewLogs(in), Bus: bus.New(in, s.declarations(), s.rules), Binaries: s.binaries}
	functions := make([]function.Function, 0, len(s.specs)+len(s.workers))
	for _, spec := range s.specs {
		functions = append(functions, function.New(in, spec, shared))
	}
	g := gateway.New(in, s.groups, functions)
	if c.FirewallRate > 0 {
		g.AddFirewall()
	}
	address := g.Address()
	switch {
	case region.Domain != nil:
		address = g.AddDomain()
	case c.UploadService:
		address = g.AddEdges()
	}
	shared.Address = address
	for _, spec := range s.workers {
		functions = append(functions, function.NewWorker(in, spec, shared))
	}
	function.ScheduleMaintenance(in, functions)
	observe.Add(in, observe.Parts{Functions: functions, Logs: shared.Logs, Bus: shared.Bus, API: g.API})

	in.Output("Address", "Where the API is", address)
	in.Output("ApiId", "The API's id", g.API.RestApiId())
	in.Output("Stage", "The API's stage", &c.Stage)
	in.Output("Table", "The table that is served", jsii.String(region.Table()))
	in.Output("Region", "Where in AWS the region is", &region.AWSRegion)
	in.Output("Operator", "The function that does an operator's commands", jsii.String(region.Prefix()+"-"+function.Operator))
	return in.Scope
}

// declarations returns the declarations of the workers.
func (s *service) declarations() (all []events.Worker) {
	for _, spec := range s.workers {
		all = append(all, spec.Worker)
	}
	return all
}
