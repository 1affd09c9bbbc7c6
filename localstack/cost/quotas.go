package main

import (
	"fmt"
	"strings"
)

// quota is a limit of AWS for an account in a region, or of the deployment.
type quota struct {
	name string
	// first is its value before anyone asks for more.
	first float64
	// each is what a request of the mix takes of it.
	each func(mean figure) float64
}

func one(figure) float64         { return 1 }
func busiest(figure) float64     { return largestShare() / 100 }
func reads(mean figure) float64  { return mean.read }
func writes(mean figure) float64 { return mean.written }

// instance is how much of a concurrent execution a request takes: its time, and at
// least a tenth, since Lambda takes ten requests a second for each execution allowed.
func instance(mean figure) float64 { return max(mean.ms/1000, 0.1) }

// quotas are the limits that the mix could meet, as AWS documents them.
var quotas = []quota{
	{"the stage's `throttleRate`, requests a second of one method, as the mix's most frequent", 500, busiest},
	{"a new on-demand table, read units a second; it doubles by itself with use", 12_000, reads},
	{"a new on-demand table, write units a second; it doubles by itself with use", 4_000, writes},
	{"on-demand read units a second of a table", 40_000, reads},
	{"API Gateway, requests a second of an account", 10_000, one},
	{"Lambda, concurrent executions of an account, at most ten requests a second for each", 1_000, instance},
	{"on-demand write units a second of a table", 40_000, writes},
}

// byQuota writes how many requests of the mix a second meet each limit.
func byQuota(b *strings.Builder, all map[string]map[string]figure) error {
	mean, err := average(all)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "\n**Where the mix meets a limit** of a region. A request of it takes %.1f read units, %.1f write units and %.0f ms.\n\n", mean.read, mean.written, mean.ms)
	fmt.Fprint(b, "| limit | at first | requests a second |\n|---|---|---|\n")
	for _, q := range quotas {
		fmt.Fprintf(b, "| %s | %s | %s |\n", q.name, grouped(q.first), grouped(q.first/q.each(mean)))
	}
	return nil
}
