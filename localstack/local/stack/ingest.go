package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	workers "lectern/events"
	"lectern/events/ingester"
	"lectern/localstack/local/runtimeapi"
	"lectern/localstack/local/subscription"
	"lectern/shared/api"
)

// ingesting feeds the lines of an instance's log to the ingester.
type ingesting struct {
	*subscription.Subscription
	// function is the ingester's own binary; nil for the ingester in this process.
	function *runtimeapi.Function
}

// ingest starts the ingester of an instance, and adds its subscription to the log of the functions:
// of here, or of p unless p is nil. It returns nil without Config.Ingest.
func (s *Stack) ingest(here *inProcess, p *processes) *ingesting {
	if !s.config.Ingest {
		return nil
	}
	if p != nil {
		i := &ingesting{function: p.open(workers.Ingester)}
		i.Subscription = subscription.Start(i.invoke, s.config.Log)
		p.output = io.MultiWriter(i, p.output)
		return i
	}
	env := here.envOf(workers.Ingester)
	i := &ingesting{Subscription: subscription.Start(ingester.New(env.Table, env.Now, env.Log).Invoke, s.config.Log)}
	here.env.Log = slog.New(slog.NewMultiHandler(s.config.Log.Handler(), api.NewLog(i).Handler()))
	return i
}

// invoke invokes the ingester's own binary.
func (i *ingesting) invoke(ctx context.Context, event events.CloudwatchLogsEvent) error {
	payload, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("stack: encode the event: %w", err)
	}
	_, err = i.function.Invoke(ctx, payload)
	return err
}

// stop delivers the lines that wait, no longer than ctx allows.
func (i *ingesting) stop(ctx context.Context) error {
	if i.function != nil {
		defer i.function.Close()
	}
	return i.Stop(ctx)
}
