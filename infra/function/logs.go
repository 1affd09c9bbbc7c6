package function

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"

	"lectern/infra/stack"
)

// Names of the logs.
const (
	// API is the name of the log of all functions behind the API.
	API = "api"
	// Workers is the name of the log of all workers.
	Workers = "workers"
)

// Logs has the logs of a region's functions. The functions of the API share a log, so that a
// request is found and a line is counted in one place. The operator's function has its own, so
// that use of the operator is counted there alone. The workers share a log apart from the API's:
// lines of a reader of that log would invoke the reader again.
type Logs struct{ API, Operator, Workers awslogs.LogGroup }

// NewLogs creates the logs.
func NewLogs(in *stack.Stack) Logs { return Logs{in.Log(API), in.Log(Operator), in.Log(Workers)} }

// of returns the log of a function.
func (l Logs) of(spec Spec) awslogs.LogGroup {
	return map[string]awslogs.LogGroup{API: l.API, Operator: l.Operator, Workers: l.Workers}[spec.log()]
}

// log returns the name of the function's log.
func (s Spec) log() string {
	switch {
	case s.Name == Operator:
		return Operator
	case s.Source != "":
		return Workers
	}
	return API
}

// streams returns the pattern of a function's streams in its log. In a log that is not the
// default log of a function, Lambda names a stream
// <yyyy>/<mm>/<dd>/<function>[<version>][<instance>], so the bracket ends the function's name.
func streams(in *stack.Stack, spec Spec) string {
	return in.Region.LogName(spec.log()) + ":log-stream:*/" + spec.fullName(in) + "[*"
}
