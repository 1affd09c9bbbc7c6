// Command bootstrap is the Lambda that publishes the changes of records. The stream of the table
// invokes it. LECTERN_WHOLE_BATCHES=1 makes it fail as a whole on an emulator that ignores reports
// of failed records.
package main

import (
	"context"
	"os"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"lectern/events/publisher"
	"lectern/shared/api"
	"lectern/shared/bus"
)

// service returns the publisher. The first invocation starts the publisher.
var service = sync.OnceValues(start)

func start() (*publisher.Publisher, error) {
	places, err := bus.FromEnvironment(context.Background())
	if err != nil {
		return nil, err
	}
	p, err := publisher.Start(places, api.NewLog(os.Stdout))
	if err != nil {
		return nil, err
	}
	p.Whole = os.Getenv("LECTERN_WHOLE_BATCHES") == "1"
	return p, nil
}

func main() { lambda.Start(invoke) }

func invoke(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	p, err := service()
	if err != nil {
		return events.DynamoDBEventResponse{}, err
	}
	return p.Invoke(ctx, event)
}
