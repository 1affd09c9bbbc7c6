package main

import (
	"math"

	"lectern/functions"
)

// What is assumed where nothing was measured. All of it is printed with the tables.
const (
	// memory is that of the Lambdas that keep records, in MB, and wholeCPU the memory at which a
	// Lambda has one whole processor: a millisecond of work takes so many times longer.
	memory   = 512
	wholeCPU = 1769
	// tripMS is how long a call of DynamoDB takes on AWS beyond what it took here.
	tripMS = 5
	// headers are the bytes of an answer's status line and headers.
	headers = 700
	// entry is what CloudWatch adds to each line of a log, in bytes, and entries how
	// many lines a request has: the function's, the gateway's and three of Lambda's.
	entry, entries = 26, 5
	// accessLine is the gateway's line about a request, and reportLines what Lambda
	// itself writes about one, in bytes.
	accessLine, reportLines = 250, 250
	// retention is how many days log lines are kept: the default of the deployment.
	retention = 90
	// dashboards are how many a region has, alarmsEach and alarmsBeside how many alarms
	// there are for each function and beside them.
	dashboards               = 1
	alarmsEach, alarmsBeside = 3, 14
	// keptGB is what the table holds before anything is written.
	keptGB = 1
	// hours is how many a month has.
	hours = 730

	million = 1e6
	giga    = 1 << 30
	kiloGB  = 1 << 20 // so many KB are a GB
)

// alarms are how many a region has: there is a function for each group, and the
// operator's.
var alarms = float64(alarmsEach*(len(functions.Groups)+1) + alarmsBeside)

// perMillion is what a million requests of a kind cost, by what is paid for.
type perMillion struct{ table, compute, gateway, logs, out float64 }

func (c perMillion) total() float64 { return c.table + c.compute + c.gateway + c.logs + c.out }

// billed is for how many milliseconds a request is paid. The median that was measured
// has the engine's own work and the door's in it, so it is more than the function needs.
func billed(f figure) float64 {
	return math.Ceil(f.ms*wholeCPU/memory + f.trips*tripMS)
}

// lines are the bytes that a request of a kind adds to the logs.
func lines(k kind) float64 { return k.line + accessLine + reportLines + entries*entry }

// cost is what a million requests of a kind cost in a region.
func cost(k kind, f figure, p prices) perMillion {
	return perMillion{
		table:   f.read*p.readUnits + f.written*p.writeUnits,
		compute: p.invocations + million*billed(f)/1000*memory/1024*p.gbSecond,
		gateway: p.requests,
		logs:    million * lines(k) / giga * p.logged,
		out:     million * (k.answer + headers) / giga * p.out,
	}
}

// month is what a month costs at a load, by what is paid for.
type month struct {
	perMillion
	// stored is the table with its recovery after a year of the load, kept the logs
	// that are kept, and fixed what is paid without any request.
	stored, kept, fixed float64
	// gb is what the table holds after that year.
	gb float64
}

func (m month) total() float64 { return m.perMillion.total() + m.stored + m.kept + m.fixed }

// load is how much is asked of a region: requests an hour, and which part of its
// searches is the first of a new instance.
type load struct{ perHour, cold float64 }

// monthly is a month of the mix at a load.
func monthly(at load, all map[string]map[string]figure, p prices) (m month, err error) {
	m.fixed = alarms*p.alarm + dashboards*p.dashboard
	m.gb = keptGB
	logGB := 0.0
	for _, k := range kinds {
		f, err := k.figure(all)
		if err != nil {
			return m, err
		}
		requests := at.perHour * hours * k.share / 100
		one, times := cost(k, f, p), requests/million
		m.table += times * (one.table + at.cold*k.cold*p.readUnits)
		m.compute += times * one.compute
		m.gateway += times * one.gateway
		m.logs += times * one.logs
		m.out += times * one.out
		m.gb += 12 * requests * k.stored / kiloGB
		logGB += requests * lines(k) / giga
	}
	m.stored = m.gb * (p.storage + p.backup)
	m.kept = logGB * retention / 30 * p.logKept
	return m, nil
}

// average is what a request of the mix takes: its units, and in ms for how long it is
// billed.
func average(all map[string]map[string]figure) (mean figure, err error) {
	for _, k := range kinds {
		f, err := k.figure(all)
		if err != nil {
			return mean, err
		}
		mean.read += f.read * k.share / 100
		mean.written += f.written * k.share / 100
		mean.ms += billed(f) * k.share / 100
	}
	return mean, nil
}
