package function

import (
	"errors"
	"fmt"

	"lectern/events"
	"lectern/infra/stack"
)

// WorkerSpecs lists the functions of the workers. The error names each worker that the
// templates have no source for: the stream of the table and the log of the API are sources so
// far.
func WorkerSpecs(workers []events.Worker) (specs []Spec, err error) {
	for _, w := range workers {
		switch {
		case w.Source == events.Log && w.From != API:
			err = errors.Join(err, fmt.Errorf("infra: %s: the templates have no subscription of the log %s", w.Name, w.From))
		case w.Source != events.Stream && w.Source != events.Log:
			err = errors.Join(err, fmt.Errorf("infra: %s: the templates have no source %s", w.Name, w.Source))
		}
		specs = append(specs, Spec{
			Name: w.Name, Memory: w.Memory, Seconds: w.Seconds, Source: w.Source, permissions: declared[w.Name].permissions,
		})
	}
	return specs, errors.Join(err, events.Check(workers, nil))
}

// NewWorker creates the function of a worker, and its source.
func NewWorker(in *stack.Stack, spec Spec, logs Logs, binaries string) Function {
	if spec.Source == events.Log {
		return newLogReader(in, spec, logs, binaries)
	}
	return newStreamReader(in, spec, logs, binaries)
}
