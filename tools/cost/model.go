package main

import (
	"math"

	"lectern/functions"
)

// Assumptions without a measurement. The tables show all of them.
const (
	// memory is the memory in MB of the Lambdas with records, and wholeCPU the memory of a
	// Lambda with a whole processor. A millisecond of work takes wholeCPU/memory times as
	// long.
	memory   = 512
	wholeCPU = 1769
	// tripMS is the additional time of a call of DynamoDB on AWS, in milliseconds.
	tripMS = 5
	// headers is the size in bytes of an answer's status line and headers.
	headers = 700
	// entry is the number of bytes that CloudWatch adds to each line of a log, and entries the
	// number of lines of a request: the function's line, the gateway's line and three lines of
	// Lambda.
	entry, entries = 26, 5
	// accessLine is the size in bytes of the gateway's line, reportLines the size of Lambda's
	// lines.
	accessLine, reportLines = 250, 250
	// retention is the number of days that logs are kept, the default of the deployment.
	retention = 90
	// dashboards is the number of dashboards of a region, alarmsEach the number of alarms for
	// each function, and alarmsBeside the number of other alarms.
	dashboards               = 1
	alarmsEach, alarmsBeside = 3, 14
	// keptGB is the size of the table before the first write.
	keptGB = 1
	// hours is the number of hours of a month.
	hours = 730

	million = 1e6
	giga    = 1 << 30
	kiloGB  = 1 << 20 // so many KB are a GB
)

// alarms is the number of alarms of a region. Each group has a function, and the operator too.
var alarms = float64(alarmsEach*(len(functions.Groups)+1) + alarmsBeside)

// perMillion is the cost of a million requests, by item of the bill.
type perMillion struct{ table, compute, gateway, logs, out float64 }

// total returns the sum.
func (c perMillion) total() float64 { return c.table + c.compute + c.gateway + c.logs + c.out }

// billed returns the billed milliseconds of a request. The measured median includes the work
// of the engine and the door, so it is more than the function needs.
func billed(f figure) float64 {
	return math.Ceil(f.ms*wholeCPU/memory + f.trips*tripMS)
}

// lines returns the bytes that a request adds to the logs.
func lines(k kind) float64 { return k.line + accessLine + reportLines + entries*entry }

// cost returns the cost of a million requests of a kind in a region.
func cost(k kind, f figure, p prices) perMillion {
	return perMillion{
		table:   f.read*p.readUnits + f.written*p.writeUnits,
		compute: p.invocations + million*billed(f)/1000*memory/1024*p.gbSecond,
		gateway: p.requests,
		logs:    million * lines(k) / giga * p.logged,
		out:     million * (k.answer + headers) / giga * p.out,
	}
}

// month is the cost of a month at a load, by item of the bill.
type month struct {
	perMillion
	// stored is for the table and its recovery after a year of the load, kept for stored logs,
	// and fixed for a month without requests.
	stored, kept, fixed float64
	// gb is the size of the table after that year.
	gb float64
}

// total returns the sum.
func (m month) total() float64 { return m.perMillion.total() + m.stored + m.kept + m.fixed }

// load is the number of requests of a region an hour, and the part of searches that are the
// first of a new instance.
type load struct{ perHour, cold float64 }

// monthly returns the cost of a month of the mix at a load.
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

// average returns the units of an average request of the mix, and in ms the billed time.
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
