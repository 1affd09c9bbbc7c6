// Package function describes the Lambdas: a function for each group, the operator's function and
// the workers, each with a role and an environment, and their logs. Read function.go first, then
// logs.go, permissions.go, uses.go, policies.go and role.go; schedule.go starts maintenance;
// worker.go, mappings.go and subscription.go make the workers.
package function

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"lectern/events"
	"lectern/infra/bus"
	"lectern/infra/stack"
	"lectern/shared/api"
)

// Operator is the name of the function that does an operator's commands.
const Operator = "operator"

// Memory of a function, in MB. The processor time of a function grows with its memory.
const (
	// withRecords is for functions with catalogues: up to 224 MB of records in memory
	// (shared/stores), enough for 100,000 contacts and an event of as many sessions
	// (docs/operations.md).
	withRecords = 512
	// withSettings is for functions that keep only the settings of events: 16 MB as
	// stored, about three times as much in memory (shared/settings).
	withSettings = 256
	// withLists is for lists that read up to 192 MB of records and keep their headers: CPU comes with memory, and a list of
	// 12,000 reviews of 10 KB takes 5 s of one core (1,769 MB).
	withLists = 1024
	// withSearch is for proposals of agendas, which search for seconds (shared/agenda/solver), and for queries, which fill 64 MB of
	// tables (shared/insight): it gives one core. The functions have catalogues, too, and keep parts of sessions.
	withSearch = 1769
)

// Time limit of a function, in seconds.
const (
	// answering ends before the gateway gives up, at 29 seconds, so that the log has the
	// function's last line. A slow start may use up the second between them.
	answering = 28
	// operating ends before the AWS command line sends the invocation again, after 60
	// seconds.
	operating = 50
)

// Spec describes a function. For a worker, the embedded Worker is its declaration; for the others it
// has the name of a group or Operator, the memory and the time, and no source.
type Spec struct {
	events.Worker
	permissions []permission
	uses        []use
}

// Specs lists the functions of the groups, and the operator's. The error names each
// function without declared permissions.
func Specs(groups []api.Group) (specs []Spec, err error) {
	for _, g := range groups {
		specs = append(specs, newSpec(g.Name, answering))
	}
	specs = append(specs, newSpec(Operator, operating))
	for _, s := range specs {
		if s.Memory == 0 {
			err = errors.Join(err, fmt.Errorf("infra: %s has no line in permissions", s.Name))
		}
	}
	return specs, err
}

// newSpec describes the function called name, with no memory if the function is not declared.
func newSpec(name string, seconds int) Spec {
	d := declared[name]
	return Spec{events.Worker{Name: name, Memory: d.memory, Seconds: seconds}, d.permissions, used[name]}
}

// Function is a function in a stack.
type Function struct {
	Spec
	Lambda awslambda.Function
}

// Parts has what the functions of a stack share.
type Parts struct {
	Logs Logs
	Bus  *bus.Bus
	// Address is the address of the API, for workers alone.
	Address *string
	// Binaries is the folder of the binaries, <name>/bootstrap.
	Binaries string
}

// dead returns the dead-letter queue of a worker; nil for a function without one.
func (p Parts) dead(spec Spec) awssqs.Queue {
	if name := bus.Dead(spec.Worker); name != "" {
		return p.Bus.Queue(name)
	}
	return nil
}

// New creates a function with a role in the stack. The function writes into one of the logs.
func New(in *stack.Stack, spec Spec, of Parts) Function {
	name := spec.fullName(in)
	props := &awslambda.FunctionProps{
		FunctionName: &name,
		Runtime:      awslambda.Runtime_PROVIDED_AL2023(),
		Handler:      jsii.String("bootstrap"),
		Code:         awslambda.Code_FromAsset(jsii.String(filepath.Join(of.Binaries, spec.Name)), nil),
		Architecture: awslambda.Architecture_ARM_64(),
		MemorySize:   jsii.Number(spec.Memory),
		Timeout:      awscdk.Duration_Seconds(jsii.Number(spec.Seconds)),
		Role:         newRole(in, spec, of),
		LogGroup:     of.Logs.of(spec),
		// Lambda's own lines about each invocation are at the level INFO. Lines about an
		// invocation that failed, or ran out of time or memory, are at WARN. The level of the
		// service's own lines is the default, INFO: none is below.
		LoggingFormat:    awslambda.LoggingFormat_JSON,
		SystemLogLevelV2: awslambda.SystemLogLevel_WARN,
		Environment:      environment(in, spec, of),
		// The log line of a request has the calls, round trips and times of a trace.
		Tracing: awslambda.Tracing_DISABLED,
	}
	if in.Config.Arch == "x86_64" {
		props.Architecture = awslambda.Architecture_X86_64()
	}
	if in.Config.Concurrency > 0 {
		props.ReservedConcurrentExecutions = jsii.Number(in.Config.Concurrency)
	}
	if spec.Chains {
		// AWS would end a chain of messages after about 16 invocations, without a line in the log.
		props.RecursiveLoop = awslambda.RecursiveLoop_ALLOW
	}
	if spec.Name == Operator {
		// A command sent without waiting for the answer must not run twice.
		props.RetryAttempts = jsii.Number(0)
	}
	return Function{spec, awslambda.NewFunction(in.Scope, jsii.String("Function-"+spec.Name), props)}
}

// fullName returns the name of the function in AWS.
func (s Spec) fullName(in *stack.Stack) string { return in.Region.Prefix() + "-" + s.Name }

// TaskEnvironment returns the variables of a task of ECS that does the work of the function with another memory,
// in MB.
func TaskEnvironment(in *stack.Stack, spec Spec, memory int) map[string]*string {
	spec.Memory = memory
	return *environment(in, spec, Parts{})
}

// environment returns the variables that the function reads.
func environment(in *stack.Stack, spec Spec, of Parts) *map[string]*string {
	c := in.Config
	all := map[string]*string{
		"LECTERN_TABLE":  jsii.String(in.Region.Table()),
		"LECTERN_REGION": jsii.String(in.Region.Name),
		// The limit makes the garbage collector work harder near the end of the memory;
		// without a limit the heap may grow to twice the size of the live data.
		"GOMEMLIMIT": jsii.String(strconv.Itoa(spec.Memory*7/8) + "MiB"),
	}
	for _, u := range spec.usesIn(in) {
		_, all[u.variable()] = u.names(in, of)
	}
	if c.AdminURL != "" {
		all["LECTERN_ADMIN_URL"] = &c.AdminURL
	}
	if c.DailyWrites > 0 {
		all["LECTERN_DAILY_WRITES"] = jsii.String(strconv.Itoa(c.DailyWrites))
	}
	if c.SearchUnits > 0 {
		all["LECTERN_SEARCH_UNITS"] = jsii.String(strconv.Itoa(c.SearchUnits))
	}
	if c.Endpoint != "" {
		all["AWS_ENDPOINT_URL"] = &c.Endpoint
	}
	return &all
}
