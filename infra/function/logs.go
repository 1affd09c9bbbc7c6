package function

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/stack"
)

// Names of the logs.
const (
	// API is the name of the log of all functions behind the API.
	API = "api"
	// Workers is the name of the log of all workers.
	Workers = "workers"
	// Uploads is the name of the log of the upload service, which is in a stack of its own (infra/uploads).
	Uploads = "uploads"
)

// Logs has the logs of a region's functions. The functions of the API share a log, so that a
// request is found and a line is counted in one place. The operator's function has its own, so
// that use of the operator is counted there alone. The workers share a log apart from the API's:
// lines of a reader of that log would invoke the reader again.
type Logs struct {
	API, Operator, Workers awslogs.LogGroup
	// Uploads has lines as those of API; nil without an upload service.
	Uploads awslogs.ILogGroup
}

// NewLogs creates the logs, but for that of the upload service.
func NewLogs(in *stack.Stack) Logs {
	l := Logs{API: in.Log(API), Operator: in.Log(Operator), Workers: in.Log(Workers)}
	if in.Config.UploadService {
		l.Uploads = awslogs.LogGroup_FromLogGroupName(in.Scope, jsii.String("Log-"+Uploads), jsii.String(in.Region.LogName(Uploads)))
	}
	return l
}

// Requests returns the logs with lines of requests, by name.
func (l Logs) Requests() map[string]awslogs.ILogGroup {
	all := map[string]awslogs.ILogGroup{API: l.API}
	if l.Uploads != nil {
		all[Uploads] = l.Uploads
	}
	return all
}

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
