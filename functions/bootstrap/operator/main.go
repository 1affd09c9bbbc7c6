// Command bootstrap is the operator's Lambda. It stands behind no gateway: who
// may invoke it, may do every command.
package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/aws/aws-lambda-go/lambda"

	"lectern/functions/operator"
	"lectern/shared/api"
)

// service is opened by the first invocation.
var service = sync.OnceValues(func() (*operator.Service, error) {
	env, err := api.FromEnvironment(context.Background())
	return operator.New(env), err
})

func main() {
	lambda.Start(func(ctx context.Context, payload json.RawMessage) (any, error) {
		s, err := service()
		if err != nil {
			slog.ErrorContext(ctx, "cannot begin", "error", err)
			return nil, operator.ErrFailed
		}
		return s.Invoke(ctx, payload)
	})
}
