package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"lectern/shared/api"
)

// operator is the function that stands behind no gateway.
const operator = "operator"

// How much memory a function has, in MB. Its share of a processor grows with it.
const (
	// withRecords is for functions that keep records in memory: up to 224 MB of them
	// (shared/stores), which is 100,000 contacts and an event of as many sessions
	// (docs/operations.md).
	withRecords = 512
	// withSettings is for functions that keep the settings of events alone: 16 MB as
	// they are stored, about three times that as they are used (shared/settings).
	withSettings = 256
)

// How long a function may take, in seconds.
const (
	// answering ends before the gateway gives up, at 29 seconds, so that the log tells
	// what was being done, unless the function took longer than the rest to start.
	answering = 28
	// operating ends before a caller takes the invocation for lost and sends it again:
	// the AWS command line does after 60 seconds.
	operating = 50
)

// function is one Lambda.
type function struct {
	// name is the group's, or operator.
	name            string
	memory, seconds int
	permissions     []permission
}

// settled are the functions without records in memory.
var settled = map[string]bool{"agendaplanning": true, "events": true, "eventsettings": true, "fieldwrites": true, "metadatawrites": true, "root": true}

// functionsOf lists the functions: one for each group, and the operator's. The error
// names those whose permissions nobody has declared.
func functionsOf(groups []api.Group) (all []function, err error) {
	add := func(name string, seconds int) {
		f := function{name: name, memory: withRecords, seconds: seconds}
		if settled[name] {
			f.memory = withSettings
		}
		var declared bool
		if f.permissions, declared = permissions[name]; !declared {
			err = errors.Join(err, fmt.Errorf("infra: %s has no line in permissions", name))
		}
		all = append(all, f)
	}
	for _, g := range groups {
		add(g.Name, answering)
	}
	add(operator, operating)
	return all, err
}

// built is a function in its stack.
type built struct {
	function
	lambda awslambda.Function
	log    awslogs.LogGroup
}

// newFunction describes a function with a role and a log of its own.
func newFunction(stack awscdk.Stack, c *config, at region, f function, binaries string) built {
	name := at.prefix() + "-" + f.name
	log := newLog(stack, c, at, f.name)
	props := &awslambda.FunctionProps{
		FunctionName: &name,
		Runtime:      awslambda.Runtime_PROVIDED_AL2023(),
		Handler:      jsii.String("bootstrap"),
		Code:         awslambda.Code_FromAsset(jsii.String(filepath.Join(binaries, f.name)), nil),
		Architecture: awslambda.Architecture_ARM_64(),
		MemorySize:   jsii.Number(f.memory),
		Timeout:      awscdk.Duration_Seconds(jsii.Number(f.seconds)),
		Role:         newRole(stack, c, at, f, name),
		LogGroup:     log,
		Environment:  c.environment(at, f),
		// Lines of requests have what a trace would show: calls, round trips, time.
		Tracing: awslambda.Tracing_DISABLED,
	}
	if c.arch == "x86_64" {
		props.Architecture = awslambda.Architecture_X86_64()
	}
	if c.concurrency > 0 {
		props.ReservedConcurrentExecutions = jsii.Number(c.concurrency)
	}
	if f.name == operator {
		// A command that was sent without waiting for it is not done twice.
		props.RetryAttempts = jsii.Number(0)
	}
	return built{f, awslambda.NewFunction(stack, jsii.String("Function-"+f.name), props), log}
}

// environment is what the function is told (shared/api).
func (c *config) environment(at region, f function) *map[string]*string {
	all := map[string]*string{
		"LECTERN_TABLE":  jsii.String(at.table()),
		"LECTERN_REGION": jsii.String(at.name),
		// The garbage collector works harder before the memory is used up; without it
		// the heap may grow to twice of what is kept.
		"GOMEMLIMIT": jsii.String(strconv.Itoa(f.memory*7/8) + "MiB"),
	}
	if c.adminURL != "" {
		all["LECTERN_ADMIN_URL"] = &c.adminURL
	}
	if c.dailyWrites > 0 {
		all["LECTERN_DAILY_WRITES"] = jsii.String(strconv.Itoa(c.dailyWrites))
	}
	if c.searchUnits > 0 {
		all["LECTERN_SEARCH_UNITS"] = jsii.String(strconv.Itoa(c.searchUnits))
	}
	if c.endpoint != "" {
		all["AWS_ENDPOINT_URL"] = &c.endpoint
	}
	return &all
}

// newLog is the log of a function, or of the gateway. It goes with the stack: what
// must be kept stands in the table's change records.
func newLog(stack awscdk.Stack, c *config, at region, name string) awslogs.LogGroup {
	return awslogs.NewLogGroup(stack, jsii.String("Log-"+name), &awslogs.LogGroupProps{
		LogGroupName:  jsii.String(logName(at, name)),
		Retention:     c.retention,
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
}

func logName(at region, name string) string { return "/lectern/" + at.name + "/" + name }
