// Command bootstrap is the Lambda that makes the deliveries of published changes. The queue of
// webhooks invokes it. LECTERN_API_URL is the address of the API, for links in bodies.
package main

import (
	"os"

	"github.com/aws/aws-lambda-go/events"

	"lectern/events/matcher"
	"lectern/events/worker"
	"lectern/shared/api"
	"lectern/shared/bus"
)

func main() { worker.Serve(start) }

func start(env api.Env, places *bus.Places) (worker.Invoke[events.SQSEvent, events.SQSEventResponse], error) {
	m, err := matcher.Start(env, places, os.Getenv("LECTERN_API_URL"))
	if err != nil {
		return nil, err
	}
	return m.Invoke, nil
}
