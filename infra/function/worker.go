package function

import (
	"errors"
	"fmt"

	"lectern/events"
	"lectern/infra/stack"
)

// WorkerSpecs lists the functions of the workers. The error names each mistake in the declarations of
// workers and rules, and each log that the templates have no subscription of.
func WorkerSpecs(workers []events.Worker, rules []events.Rule) (specs []Spec, err error) {
	for _, w := range workers {
		if w.Source == events.Log && w.From != API {
			err = errors.Join(err, fmt.Errorf("infra: %s: the templates have no subscription of the log %s", w.Name, w.From))
		}
		specs = append(specs, Spec{w, declared[w.Name].permissions, used[w.Name]})
	}
	return specs, errors.Join(err, events.Check(workers, rules))
}

// NewWorker creates the function of a worker, and what invokes the function.
func NewWorker(in *stack.Stack, spec Spec, of Parts) Function {
	return map[events.Source]func(*stack.Stack, Spec, Parts) Function{
		events.Stream: newStreamReader, events.Queue: newQueueReader, events.Schedule: newScheduled, events.Log: newLogReader,
	}[spec.Source](in, spec, of)
}
