package main

import (
	"fmt"
	"strings"

	"lectern/events"
)

// The ingester (events/ingester). Its time was not measured on AWS.
const (
	// ingestMemory is in MB, ingestMS the billed time of a delivery.
	ingestMemory = 256
	ingestMS     = 50
	// ingestLine is the size in bytes of the ingester's log line about a delivery; a test
	// measures it.
	ingestLine = 200
)

// delivery is what the log's subscription gives the ingester at once: lines of requests, of one
// organization.
type delivery struct {
	requests float64
	// units is the number of write units of the pack and its mark, kb the size of the pack in
	// the table. A test measures both.
	units, kb float64
}

// Deliveries of few requests, of a busy region, and of a region with as many requests as a
// million in the tables need. How many lines CloudWatch delivers at once was not seen on AWS.
var (
	alone = delivery{requests: 1, units: 4, kb: 0.4}
	busy  = delivery{requests: 10, units: 4, kb: 0.8}
	full  = delivery{requests: 100, units: 12, kb: 4.5}
)

// cost returns the cost of the deliveries of a million requests.
func (d delivery) cost(p prices) float64 {
	if d.requests == 0 {
		return 0
	}
	invocation := d.units*p.writeUnits/million + p.invocations/million + ingestMS/1000.0*ingestMemory/1024*p.gbSecond +
		(ingestLine+entry)*p.logged/giga
	return million / d.requests * invocation
}

// Published changes and webhooks. Nothing was measured on AWS, and times, reads and sizes are
// assumptions, which the tables show.
const (
	// publishMS, matchMS and deliverMS are the billed times of an invocation of publisher, matcher
	// and deliverer, and eachMS the further time of each further record of publisher and matcher. The
	// deliverer waits for its receivers side by side.
	publishMS, matchMS, deliverMS = 30, 40, 300
	eachMS                        = 10
	// listReads is the number of read units of the endpoints of an organization, which the messages of an
	// invocation share, matchReads that of a matching endpoint: its owner, token and state, and the record
	// to render.
	// deliverReads is that of an attempt: delivery, body, endpoint, owner, token and state.
	listReads, matchReads, deliverReads = 1, 11, 7
	// slidesMS is the billed time of an invocation of the worker of slides for events without slides, and
	// slidesReads the number of read units of a message. slidesMetrics is the number of metrics that the worker
	// adds to the alarms; a test of infra counts them.
	slidesMS, slidesReads, slidesMetrics = 15, 1, 3
	// bodyKB and deliveryKB are the sizes in the table of a body, deflated, and of a delivery with its
	// attempt; the delivery is written twice. A write in a transaction counts twice.
	bodyKB, deliveryKB, deliveryWrites, twice = 3, 1, 2, 2
	// bodyBytes is the size of a sent body, and sentHeaders that of the headers and the handshake.
	bodyBytes, sentHeaders = 8_200, 3_000
	// workerLine is the size of a worker's log line about an invocation.
	workerLine = 250
	// storedDays is the number of days that bodies and deliveries are kept.
	storedDays = 30
)

// Polls of a queue without messages: Lambda asks with so many requests at once, and each waits for a
// message for so many seconds.
const (
	pollers, pollSeconds = 5, 20
	secondsOfMonth       = hours * 3600
)

// A minute of the sweeper without anything due: a read of each part of four minutes, since the progress
// stays two minutes behind and was stored a minute ago, a read of the progress, and its write. Before
// something was due for the first time, there is no progress, and the read of it is all.
const (
	sweepMS, sweepReads, sweepWrites = 100, 33, 2
	quietReads                       = 1
	minutesOfMonth                   = hours * 60
)

// flow is how many records come together: in an invocation of publisher, matcher and deliverer.
type flow struct{ changes, messages, tasks float64 }

// Flows of single changes and of a busy region.
var (
	trickle = flow{1, 1, 1}
	stream  = flow{10, 10, 10}
)

// published is the cost of a million published kinds of change, or of as many delivered webhooks, by
// item of the bill.
type published struct{ bus, queues, compute, table, logs, out, kept float64 }

// total returns the sum.
func (c published) total() float64 {
	return c.bus + c.queues + c.compute + c.table + c.logs + c.out + c.kept
}

// worker adds the invocations of a worker to the cost: for each record 1/together of an invocation.
func (c *published) worker(name string, together, ms float64, p prices) {
	c.compute += (p.invocations + million*ms/1000*memoryOf(name)/1024*p.gbSecond) / together
	c.logs += million * (workerLine + entry) / giga * p.logged / together
}

// toMatcher returns the cost of a million published kinds of an organization without endpoints: the
// way from the stream, which costs nothing by itself, through bus and queue to the matcher.
func (f flow) toMatcher(p prices) published {
	c := published{bus: p.events}
	c.worker(events.Publisher, f.changes, publishMS+eachMS*(f.changes-1), p)
	// The bus sends one by one; receiving and deleting are done together.
	c.queues = p.queueRequests * (1 + 2/f.messages)
	c.worker(events.Matcher, f.messages, matchMS+eachMS*(f.messages-1), p)
	c.table = listReads * p.readUnits / f.messages
	return c
}

// toSlides returns what the option holdingSlides adds to the cost of a million published kinds of events without
// holding slides: the worker looks whether the event has some. It takes the kinds of sessions and contacts.
func (f flow) toSlides(p prices) published {
	c := published{queues: p.queueRequests * (1 + 2/f.messages), table: slidesReads * p.readUnits}
	c.worker(events.Slides, f.messages, slidesMS, p)
	c.logs = 0 // Only a drawing has a line.
	return c
}

// changesOf returns the cost of a million requests that publish so many kinds each.
func (f flow) changesOf(kinds float64, p prices) float64 {
	if kinds == 0 {
		return 0
	}
	return kinds * f.toMatcher(p).total()
}

// delivered returns the cost of a million webhooks that are delivered at the first attempt, each of a
// change of its own, and stored for their days.
func (f flow) delivered(p prices) published {
	c := f.toMatcher(p)
	c.queues += (p.queueRequests + p.fairRequests) * (1 + 2/f.tasks)
	c.worker(events.Deliverer, f.tasks, deliverMS, p)
	c.table += (matchReads+deliverReads)*p.readUnits + twice*(bodyKB+deliveryWrites*deliveryKB)*p.writeUnits
	c.out = million * (bodyBytes + sentHeaders) / giga * p.out
	c.kept = million * (bodyKB + deliveryKB) / kiloGB * (p.storage + p.backup) * storedDays / 30
	return c
}

// memoryOf returns the memory of a worker in MB.
func memoryOf(name string) float64 {
	all, _ := events.With(events.Every)
	for _, w := range all {
		if w.Name == name {
			return float64(w.Memory)
		}
	}
	panic("cost: no worker " + name)
}

// countOf returns the number of workers with a source, without options.
func countOf(source events.Source) (n float64) {
	for _, w := range events.Workers {
		if w.Source == source {
			n++
		}
	}
	return n
}

// waiting is the cost of a month in which workers wait for messages and for what is due. quiet is the part of
// sweeps that a region pays too in which nothing was ever due.
type waiting struct{ polls, sweeps, quiet float64 }

// pollsOf returns the cost of a month of polling a queue.
func pollsOf(p prices) float64 {
	return pollers * secondsOfMonth / pollSeconds / million * p.queueRequests
}

// slidesIdle returns what the option holdingSlides costs in a month without requests.
func slidesIdle(p prices) float64 { return pollsOf(p) + slidesMetrics*p.alarm }

// waits returns the cost of a month of waiting.
func waits(p prices) waiting {
	sweeps := countOf(events.Schedule) * minutesOfMonth / million
	invocation := p.schedules + p.invocations + million*sweepMS/1000*memoryOf(events.Sweeper)/1024*p.gbSecond
	return waiting{
		polls:  countOf(events.Queue) * pollsOf(p),
		sweeps: sweeps * (invocation + sweepReads*p.readUnits + sweepWrites*p.writeUnits),
		quiet:  sweeps * (invocation + quietReads*p.readUnits),
	}
}

// total returns the sum.
func (w waiting) total() float64 { return w.polls + w.sweeps }

// aboutChanges returns the assumptions about published changes and webhooks.
func aboutChanges() string {
	us := regions[0]
	return fmt.Sprintf("Changes: each published kind is an event on the bus, %.2f a million, and a request of SQS into the queue of the "+
		"matcher, and with `holdingSlides` those of sessions and contacts into the queue of slides; an update of a contact is one more "+
		"event, without a queue; the stream costs nothing. "+
		"SQS: %.2f for a million requests, %.2f more for those with a message group. Lambda: publisher %d ms, "+
		"matcher %d, deliverer %d, slides %d, and %d for each further record of the first two. "+
		"Reads of the matcher: %d, and %d for an endpoint; "+
		"of the deliverer %d, of slides %d. Writes: a body of %d KB once, and a delivery of %d KB %d times, all in transactions. Sent: %s "+
		"bytes and %s of headers and handshake. All of these are assumptions.",
		us.events, us.queueRequests, us.fairRequests, publishMS, matchMS, deliverMS, slidesMS, eachMS, listReads, matchReads,
		deliverReads, slidesReads,
		bodyKB, deliveryKB, deliveryWrites, grouped(bodyBytes), grouped(sentHeaders))
}

// byChange writes the cost of a million published kinds and of a million delivered webhooks.
func (c model) byChange(b *strings.Builder) error {
	fmt.Fprintf(b, "\n**A million published changes and webhooks**, parts in %s\n\n", regions[0].name)
	fmt.Fprint(b, "| what | bus | queues | Lambda | DynamoDB | logs | data out | kept 30 days |")
	for _, p := range regions {
		fmt.Fprintf(b, " **in all, %s** |", p.name)
	}
	fmt.Fprintf(b, "\n|%s\n", strings.Repeat("---|", 8+len(regions)))
	for _, row := range []struct {
		name string
		cost func(prices) published
	}{
		{"kinds of an organization without endpoints, one by one", trickle.toMatcher},
		{"the same, ten together", stream.toMatcher},
		{"with `holdingSlides`, the same kinds of an event without slides, more, one by one", trickle.toSlides},
		{"the same, ten together", stream.toSlides},
		{"webhooks, one by one", trickle.delivered},
		{"webhooks, ten together", stream.delivered},
	} {
		one := row.cost(regions[0])
		fmt.Fprintf(b, "| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |", row.name, one.bus, one.queues, one.compute, one.table,
			one.logs, one.out, one.kept)
		for _, p := range regions {
			fmt.Fprintf(b, " %.2f |", row.cost(p).total())
		}
		fmt.Fprintln(b)
	}
	return nil
}

// kept returns the cost of keeping the packs of a million requests in the table for a year.
func (d delivery) kept(p prices) float64 {
	return million * d.kb / d.requests / kiloGB * (p.storage + p.backup) * 12
}
