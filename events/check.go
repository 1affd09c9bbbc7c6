package events

import (
	"errors"
	"fmt"
	"regexp"
)

// Limits of Lambda, and of the names in a region.
const (
	leastMemory, mostMemory = 128, 10_240
	mostSeconds             = 900
	mostMessages            = 10
	leastInstances          = 2
)

// names is the form of the names of workers, rules and queues.
var names = regexp.MustCompile(`^[a-z][a-z0-9]{1,31}$`)

// Check reports every mistake in workers and rules.
func Check(workers []Worker, rules []Rule) error {
	var mistakes []error
	queues, used := map[string]bool{}, map[string]bool{}
	for _, w := range workers {
		mistakes = append(mistakes, w.check(used))
		if w.Source == Queue && w.From != "" {
			queues[w.From] = true
		}
	}
	used = map[string]bool{}
	for _, r := range rules {
		mistakes = append(mistakes, r.check(used, queues))
	}
	return errors.Join(mistakes...)
}

// check reports the mistakes in a worker. used has the names of the workers before.
func (w Worker) check(used map[string]bool) (err error) {
	mistake := mistakes{"worker " + w.Name, &err}
	mistake.unless(names.MatchString(w.Name) && !used[w.Name], "needs a name of its own")
	used[w.Name] = true
	mistake.unless(w.Memory >= leastMemory && w.Memory <= mostMemory, "has a memory that Lambda does not offer")
	mistake.unless(w.Seconds > 0 && w.Seconds <= mostSeconds, "has a time that Lambda does not offer")
	switch w.Source {
	case Stream:
		mistake.unless(w.From == "", "reads the stream of the table, which has no name")
	case Queue:
		mistake.unless(names.MatchString(w.From), "needs the name of its queue")
		mistake.unless(w.Messages >= 1 && w.Messages <= mostMessages, "takes a number of messages that SQS does not offer")
		mistake.unless(w.Instances >= leastInstances, "has fewer instances than SQS can be limited to")
	case Schedule, Log:
		mistake.unless(w.From != "", "needs its "+string(w.Source))
	default:
		mistake.unless(false, "has no known source")
	}
	return err
}

// check reports the mistakes in a rule. used has the names of the rules before, queues the
// queues of the workers.
func (r Rule) check(used, queues map[string]bool) (err error) {
	mistake := mistakes{"rule " + r.Name, &err}
	mistake.unless(names.MatchString(r.Name) && !used[r.Name], "needs a name of its own")
	used[r.Name] = true
	mistake.unless(r.Pattern.complete(), "has a field without a value in its pattern")
	mistake.unless(queues[r.Queue], "has a queue that no worker reads")
	return err
}

// complete reports whether each field of the pattern has values.
func (p Pattern) complete() bool {
	for _, value := range p {
		switch value := value.(type) {
		case Pattern:
			if !value.complete() {
				return false
			}
		case []string:
			if len(value) == 0 {
				return false
			}
		default:
			return false
		}
	}
	return len(p) > 0
}

// mistakes collects the mistakes in one declaration.
type mistakes struct {
	of   string
	into *error
}

// unless notes a mistake if a condition does not hold.
func (m mistakes) unless(holds bool, mistake string) {
	if !holds {
		*m.into = errors.Join(*m.into, fmt.Errorf("events: %s %s", m.of, mistake))
	}
}
