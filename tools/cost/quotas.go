package main

import (
	"fmt"
	"strings"
)

// quota is a limit of AWS for an account in a region, or of the deployment.
type quota struct {
	name string
	// first is the value without a request for more.
	first float64
	// each returns the part that an average request of the mix takes.
	each func(mean figure) float64
}

// one counts requests.
func one(figure) float64 { return 1 }

// busiest counts requests of the most frequent kind.
func busiest(figure) float64 { return largestShare() / 100 }

// reads counts read units.
func reads(mean figure) float64 { return mean.read }

// writes counts write units.
func writes(mean figure) float64 { return mean.written }

// instance counts concurrent executions: the time of the request, and at least a tenth, since
// Lambda allows ten requests a second for each execution.
func instance(mean figure) float64 { return max(mean.ms/1000, 0.1) }

// quotas lists the limits in AWS's documentation that the mix could reach.
var quotas = []quota{
	{"the stage's `throttleRate`, requests a second of one method, as the mix's most frequent", 500, busiest},
	{"a new on-demand table, read units a second; it doubles by itself with use", 12_000, reads},
	{"a new on-demand table, write units a second; it doubles by itself with use", 4_000, writes},
	{"on-demand read units a second of a table", 40_000, reads},
	{"API Gateway, requests a second of an account", 10_000, one},
	{"Lambda, concurrent executions of an account, at most ten requests a second for each", 1_000, instance},
	{"on-demand write units a second of a table", 40_000, writes},
}

// byQuota writes the number of requests of the mix a second that reach each limit.
func (c model) byQuota(b *strings.Builder) error {
	mean, err := c.average()
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "\n**Where the mix meets a limit** of a region. A request of it takes %.1f read units, %.1f write units and "+
		"%.0f ms.\n\n", mean.read, mean.written, mean.ms)
	fmt.Fprint(b, "| limit | at first | requests a second |\n|---|---|---|\n")
	for _, q := range quotas {
		fmt.Fprintf(b, "| %s | %s | %s |\n", q.name, grouped(q.first), grouped(q.first/q.each(mean)))
	}
	return nil
}
