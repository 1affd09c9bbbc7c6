package main

import "math"

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
	// entry is the number of bytes that CloudWatch adds to each line of a log. A request has the
	// function's line and the gateway's line. Lambda writes none about an invocation that
	// succeeds (infra/function).
	entry = 26
	// accessLine is the size in bytes of the gateway's line.
	accessLine = 250
	// retention is the number of days that logs are kept, the default of the deployment.
	retention = 90
	// secrets is the number of secrets of a region.
	secrets = 1
	// keptGB is the size of the table before the first write.
	keptGB = 1
	// hours is the number of hours of a month.
	hours = 730

	thousand = 1e3
	million  = 1e6
	giga     = 1 << 30
	kiloGB   = 1 << 20 // so many KB are a GB
)

// model computes costs from the measured figures and the shape of a region.
type model struct {
	// figures are by the size of the data, then by the operation.
	figures map[string]map[string]figure
	shape   shape
}

// perMillion is the cost of a million requests, by item of the bill. changes is the way of the
// published kinds to the matcher. plain is out for clients that do not take gzip, and not in the sum.
type perMillion struct{ table, compute, gateway, logs, out, changes, plain float64 }

// total returns the sum.
func (c perMillion) total() float64 {
	return c.table + c.compute + c.gateway + c.logs + c.out + c.changes
}

// billed returns the billed milliseconds of a request. The measured median includes the work
// of the engine and the door, so it is more than the function needs.
func billed(f figure) float64 {
	return math.Ceil(f.ms*wholeCPU/memory + f.trips*tripMS)
}

// lines returns the bytes that a request adds to the log of the functions and to the gateway's.
func lines(k kind) (api, access float64) { return k.line + entry, accessLine + entry }

// together says what comes together: lines of requests to the ingester, and changes to the workers.
type together struct {
	lines   delivery
	changes flow
}

// cost returns the cost of a million requests of a kind in a region.
func cost(k kind, f figure, p prices, in together) perMillion {
	api, access := lines(k)
	return perMillion{
		table:   f.read*p.readUnits + f.written*p.writeUnits,
		compute: p.invocations + million*billed(f)/1000*memory/1024*p.gbSecond,
		gateway: p.requests,
		logs:    million*(api*p.logged+access*p.loggedCheap)/giga + in.lines.cost(p),
		out:     million * (k.packed + headers) / giga * p.out,
		changes: in.changes.changesOf(k.published, p) + k.unrouted*p.events,
		plain:   million * (k.answer + headers) / giga * p.out,
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

// load is the number of requests of a region an hour, the part of searches that are the first of
// a new instance, and what comes together.
type load struct {
	perHour, cold float64
	in            together
}

// fixed returns the cost of a month without requests, beside the table.
func (c model) fixed(p prices) float64 {
	return c.shape.alarms*p.alarm + c.shape.dashboards*p.dashboard + secrets*p.secret + waits(p).total()
}

// monthly returns the cost of a month of the mix at a load.
func (c model) monthly(at load, p prices) (m month, err error) {
	m.fixed = c.fixed(p)
	m.gb = keptGB
	logGB := 0.0
	for _, k := range kinds {
		f, err := k.figure(c.figures)
		if err != nil {
			return m, err
		}
		requests := at.perHour * hours * k.share / 100
		one, times := cost(k, f, p, at.in), requests/million
		m.table += times * (one.table + at.cold*k.cold*p.readUnits)
		m.compute += times * one.compute
		m.gateway += times * one.gateway
		m.logs += times * one.logs
		m.out += times * one.out
		m.changes += times * one.changes
		m.gb += 12 * requests * (k.stored + at.in.lines.kb/at.in.lines.requests) / kiloGB
		api, access := lines(k)
		logGB += requests * (api + access) / giga
	}
	m.stored = m.gb * (p.storage + p.backup)
	m.kept = logGB * retention / 30 * p.logKept
	return m, nil
}

// average returns the units of an average request of the mix, and in ms the billed time.
func (c model) average() (mean figure, err error) {
	for _, k := range kinds {
		f, err := k.figure(c.figures)
		if err != nil {
			return mean, err
		}
		mean.read += f.read * k.share / 100
		mean.written += f.written * k.share / 100
		mean.ms += billed(f) * k.share / 100
	}
	return mean, nil
}
