// Command bootstrap is the operator's Lambda. There is no gateway: an identity with the
// permission to invoke the Lambda may use every command.
package main

import (
	"context"
	"encoding/json"
	"os"
	"sync"

	"github.com/aws/aws-lambda-go/lambda"

	"lectern/functions/operator"
	"lectern/shared/api"
	"lectern/shared/bus"
)

// service returns the service. The first invocation starts the service.
var service = sync.OnceValues(start)

func start() (*operator.Service, error) {
	env, err := api.FromEnvironment(context.Background())
	if err == nil {
		env.Places, err = bus.FromEnvironment(context.Background())
	}
	return operator.New(env), err
}

func main() { lambda.Start(invoke) }

func invoke(ctx context.Context, payload json.RawMessage) (any, error) {
	s, err := service()
	if err != nil {
		api.NewLog(os.Stdout).ErrorContext(ctx, "cannot begin", "error", err)
		return nil, operator.ErrFailed
	}
	return s.Invoke(ctx, payload)
}
