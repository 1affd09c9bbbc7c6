// Command bootstrap is the Lambda that stores the log of requests. The subscription of the log
// of the API invokes it.
package main

import (
	"context"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"lectern/events/ingester"
	"lectern/shared/api"
)

// service returns the ingester. The first invocation starts the ingester.
var service = sync.OnceValues(start)

func start() (*ingester.Ingester, error) {
	env, err := api.FromEnvironment(context.Background())
	if err != nil {
		return nil, err
	}
	return ingester.New(env.Table, env.Now, env.Log), nil
}

func main() { lambda.Start(invoke) }

func invoke(ctx context.Context, event events.CloudwatchLogsEvent) error {
	i, err := service()
	if err != nil {
		return err
	}
	return i.Invoke(ctx, event)
}
