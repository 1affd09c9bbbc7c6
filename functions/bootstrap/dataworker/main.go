// Command bootstrap is the Lambda for the requests of persons for their data, for the conversion of recordings, and
// for commits of agenda drafts that no request has finished. The queue of work invokes the Lambda. LECTERN_API_URL is
// the address of the API, for links in the bodies of webhooks.
package main

import (
	"os"

	"github.com/aws/aws-lambda-go/events"

	"lectern/events/committer"
	"lectern/events/converter"
	"lectern/events/dataworker"
	"lectern/events/worker"
	"lectern/shared/agenda"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/recording"
)

func main() { worker.Serve(start) }

func start(env api.Env, places *bus.Places) (worker.Invoke[events.SQSEvent, events.SQSEventResponse], error) {
	w, err := dataworker.Start(env, places, os.Getenv("LECTERN_API_URL"), dataworker.Settling)
	if err != nil {
		return nil, err
	}
	r, err := converter.Start(env, places)
	if err != nil {
		return nil, err
	}
	c, err := committer.Start(env, places, committer.Patience)
	if err != nil {
		return nil, err
	}
	return worker.Kinds{recording.KindReceived: r.Invoke, agenda.KindCommitted: c.Invoke, "": w.Invoke}.Invoke, nil
}
