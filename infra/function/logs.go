package function

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"

	"lectern/infra/stack"
)

// API is the name of the log of all functions behind the API.
const API = "api"

// Logs has the logs of a region's functions. The functions of the API share a log, so that a
// request is found and a line is counted in one place. The operator's function has its own, so
// that use of the operator is counted there alone.
type Logs struct{ API, Operator awslogs.LogGroup }

// NewLogs creates the logs.
func NewLogs(in *stack.Stack) Logs { return Logs{in.Log(API), in.Log(Operator)} }

// of returns the log of a function.
func (l Logs) of(spec Spec) awslogs.LogGroup {
	if spec.Name == Operator {
		return l.Operator
	}
	return l.API
}

// streams returns the pattern of a function's streams in its log. In a log that is not the
// default log of a function, Lambda names a stream
// <yyyy>/<mm>/<dd>/<function>[<version>][<instance>], so the bracket ends the function's name.
func streams(in *stack.Stack, spec Spec) string {
	log := API
	if spec.Name == Operator {
		log = Operator
	}
	return in.Region.LogName(log) + ":log-stream:*/" + spec.fullName(in) + "[*"
}
