// Command bootstrap is the Lambda of the deliverer. The queue of deliveries invokes the Lambda.
package main

import (
	"github.com/aws/aws-lambda-go/events"

	"lectern/events/deliverer"
	"lectern/events/worker"
	"lectern/shared/api"
	"lectern/shared/bus"
)

func main() { worker.Serve(start) }

func start(env api.Env, places *bus.Places) (worker.Invoke[events.SQSEvent, events.SQSEventResponse], error) {
	d, err := deliverer.Start(env, places)
	if err != nil {
		return nil, err
	}
	return d.Invoke, nil
}
