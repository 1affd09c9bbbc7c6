package main

import (
	"errors"
	"fmt"
	"strings"
)

// goal is a cost with an upper limit.
type goal struct {
	name string
	// most is the limit in US dollars; 0 means that the cost is shown and not judged.
	most float64
	cost func(model, prices) (float64, error)
}

// mostIdle is the limit of a month without requests. The queue of holding slides raised it from 5 (decision 45).
const mostIdle = 6

// goals lists the goals. The log of requests is not judged and has a table of its own: its cost depends
// on how many lines CloudWatch delivers at once, which was not seen.
var goals = []goal{
	{"a month without requests, before a webhook is tried again, redelivered or replayed for the first time", mostIdle, quiet},
	{"a month without requests", mostIdle, idle},
	{"a million times \"" + single + "\", beside the gateway and the log of requests", 1.50, besideGateway(single, dense)},
	{"the same with the log of requests, ten lines in a delivery", 0, besideGateway(single, many)},
	{"a million times \"" + withPeople + "\" (five records), beside the gateway and the log of requests", 0, besideGateway(withPeople, dense)},
	{"a million delivered webhooks, ten together", 17, func(_ model, p prices) (float64, error) { return stream.delivered(p).total(), nil }},
}

// idle returns the cost of a month without requests.
func idle(c model, p prices) (float64, error) {
	m, err := c.monthly(loads[0], p)
	return m.total(), err
}

// quiet returns the cost of a month without requests of a region in which nothing was ever due for the sweeper.
func quiet(c model, p prices) (float64, error) {
	spent, err := idle(c, p)
	w := waits(p)
	return spent - w.sweeps + w.quiet, err
}

// besideGateway returns the cost of a million requests of a kind without the price of API Gateway.
func besideGateway(name string, in together) func(model, prices) (float64, error) {
	return func(c model, p prices) (float64, error) {
		for _, k := range kinds {
			if k.name == name {
				f, err := k.figure(c.figures)
				if err != nil {
					return 0, err
				}
				one := cost(k, f, p, in)
				return one.total() - one.gateway, nil
			}
		}
		return 0, fmt.Errorf("cost: no kind %q", name)
	}
}

// byGoal writes the goals with their costs.
func (c model) byGoal(b *strings.Builder) error {
	fmt.Fprint(b, "\n**Goals**, in US dollars\n\n| what | at most |")
	for _, p := range regions {
		fmt.Fprintf(b, " %s |", p.name)
	}
	fmt.Fprintf(b, "\n|%s\n", strings.Repeat("---|", 2+len(regions)))
	for _, g := range goals {
		most := "not judged"
		if g.most > 0 {
			most = fmt.Sprintf("%.2f", g.most)
		}
		fmt.Fprintf(b, "| %s | %s |", g.name, most)
		for _, p := range regions {
			spent, err := g.cost(c, p)
			if err != nil {
				return err
			}
			fmt.Fprintf(b, " %.2f |", spent)
		}
		fmt.Fprintln(b)
	}
	return nil
}

// judge returns an error that names each goal that is missed in a region.
func (c model) judge() error {
	var missed []error
	for _, g := range goals {
		for _, p := range regions {
			spent, err := g.cost(c, p)
			if err == nil && g.most > 0 && spent > g.most {
				err = fmt.Errorf("cost: %s costs %.2f in %s, and the goal is %.2f", g.name, spent, p.name, g.most)
			}
			missed = append(missed, err)
		}
	}
	return errors.Join(missed...)
}
