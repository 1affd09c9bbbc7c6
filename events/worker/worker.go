// Package worker runs the Lambda of a worker that has a table and queues.
package worker

import (
	"context"
	"sync"

	"github.com/aws/aws-lambda-go/lambda"

	"lectern/shared/api"
	"lectern/shared/bus"
)

// Invoke handles one invocation.
type Invoke[I, O any] func(context.Context, I) (O, error)

// Start returns the Invoke of a worker.
type Start[I, O any] func(api.Env, *bus.Places) (Invoke[I, O], error)

// Serve runs the Lambda of a worker. The first invocation starts the worker.
func Serve[I, O any](start Start[I, O]) {
	r := &running[I, O]{invoke: sync.OnceValues(start.fromEnvironment)}
	lambda.Start(r.handle)
}

// fromEnvironment starts the worker with what the environment variables name.
func (s Start[I, O]) fromEnvironment() (Invoke[I, O], error) {
	env, err := api.FromEnvironment(context.Background())
	if err != nil {
		return nil, err
	}
	places, err := bus.FromEnvironment(context.Background())
	if err != nil {
		return nil, err
	}
	return s(env, places)
}

// running is the worker of a process.
type running[I, O any] struct {
	invoke func() (Invoke[I, O], error)
}

func (r *running[I, O]) handle(ctx context.Context, in I) (out O, err error) {
	invoke, err := r.invoke()
	if err != nil {
		return out, err
	}
	return invoke(ctx, in)
}
