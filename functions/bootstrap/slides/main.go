// Command bootstrap is the Lambda that draws holding slides. The queue of drawings invokes the Lambda.
package main

import (
	"github.com/aws/aws-lambda-go/events"

	"lectern/events/slides"
	"lectern/events/worker"
	"lectern/shared/api"
	"lectern/shared/bus"
)

func main() { worker.Serve(start) }

func start(env api.Env, places *bus.Places) (worker.Invoke[events.SQSEvent, events.SQSEventResponse], error) {
	w, err := slides.Start(env, places)
	if err != nil {
		return nil, err
	}
	return w.Invoke, nil
}
