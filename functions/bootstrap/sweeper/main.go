// Command bootstrap is the Lambda of the sweeper. A schedule invokes the Lambda.
package main

import (
	"context"
	"encoding/json"

	"lectern/events/sweeper"
	"lectern/events/worker"
	"lectern/shared/api"
	"lectern/shared/bus"
)

func main() { worker.Serve(start) }

func start(env api.Env, places *bus.Places) (worker.Invoke[json.RawMessage, any], error) {
	s, err := sweeper.Start(env, places)
	if err != nil {
		return nil, err
	}
	return sweep{s}.invoke, nil
}

// sweep is the handler of the schedule's events, which have no content.
type sweep struct{ *sweeper.Sweeper }

func (s sweep) invoke(ctx context.Context, _ json.RawMessage) (any, error) { return nil, s.Invoke(ctx) }
