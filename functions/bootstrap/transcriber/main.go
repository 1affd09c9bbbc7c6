// Command bootstrap is the Lambda that transcribes media. The queue of media invokes the Lambda.
package main

import (
	"github.com/aws/aws-lambda-go/events"

	"lectern/events/transcriber"
	"lectern/events/worker"
	"lectern/shared/api"
	"lectern/shared/bus"
)

func main() { worker.Serve(start) }

func start(env api.Env, places *bus.Places) (worker.Invoke[events.SQSEvent, events.SQSEventResponse], error) {
	w, err := transcriber.Start(env, places)
	if err != nil {
		return nil, err
	}
	return w.Invoke, nil
}
