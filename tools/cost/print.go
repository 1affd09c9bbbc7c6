package main

import (
	"fmt"
	"strings"

	"lectern/events"
)

// loads lists the loads of the tables; the first is an idle service. A busy service is assumed
// to have few first searches of a new instance, and several requests in a delivery.
var loads = []load{{0, 0, few}, {10, 1, few}, {1_000, 0.1, few}, {100_000, 0.01, many}}

// What comes together with few requests, in a busy region, and in the table of a million requests,
// which leaves out the log of requests.
var (
	few   = together{alone, trickle}
	many  = together{busy, stream}
	dense = together{delivery{}, stream}
)

// render returns the tables as Markdown.
func (c model) render() (string, error) {
	var b strings.Builder
	c.assumptions(&b)
	for _, part := range []func(*strings.Builder) error{c.byGoal, c.byKind, byDelivery, c.byChange, byObject, c.byMonth, c.byQuota} {
		if err := part(&b); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// assumptions writes the assumptions.
func (c model) assumptions(b *strings.Builder) {
	var shares, cold []string
	for _, k := range kinds {
		if k.cold > 0 {
			cold = append(cold, fmt.Sprintf("%g for a %s", k.cold, k.name))
		}
		if k.share > 0 {
			shares = append(shares, fmt.Sprintf("%s %g %%", k.name, k.share))
		}
	}
	for _, line := range []string{
		fmt.Sprintf("Prices: AWS's list of %s, in US dollars, without tax, free allowances and discounts.", priceDate),
		"Units: those of [performance](performance.md), events of " + usual + " unless the row says otherwise; a write in a " +
			"transaction counts twice in them, as on the bill.",
		fmt.Sprintf("The limiter counts in advance for a token with a limit of 2,000 or more, as the token of the figures. A token with "+
			"the default limit costs 1 write unit more for each counted request, %g a million in us.", regions[0].writeUnits),
		fmt.Sprintf("Lambda: arm64, %d MB; agenda planning, awards, insights, reports and dashboards have more, and are not counted. "+
			"Nothing was measured on AWS: "+
			"a request is billed for the median of one client on the "+
			"development machine times %d/%d, since so much memory has that part of a processor, and %d ms for each round trip to "+
			"DynamoDB. Cold starts are left out.", memory, wholeCPU, memory, tripMS),
		fmt.Sprintf("Logs: the measured line, and %d bytes of the gateway's access log at half the price; no line of Lambda about an "+
			"invocation that succeeds; kept %d days.", accessLine, retention),
		ingested(),
		aboutChanges(),
		fmt.Sprintf("Bytes: S3 Standard, %g for a GB and month, %g for a million requests that send or begin, join and list parts, %g for "+
			"others. A thousand uploads are in a table of their own, and in no other. The bucket keeps what the service removes for no "+
			"time, and what anybody else removes for 30 days.", regions[0].bytesKept, regions[0].puts, regions[0].gets),
		fmt.Sprintf("Data out: the answer with gzip, as measured with the demo conference, and %d bytes of headers. The last column has "+
			"it for clients that do not take gzip.", headers),
		c.withoutRequests(),
		fmt.Sprintf("The first search of an event by a new instance reads more units: %s. It is assumed that all searches are such at "+
			"10 requests an hour, a tenth at 1,000 and a hundredth at 100,000.", strings.Join(cold, ", ")),
		fmt.Sprintf("A month has %d hours. Its requests: %s. Storage is that after a year of the load, since change records stay: at "+
			"most 1 KB for each write unit of what a write adds.", hours, strings.Join(shares, ", ")),
	} {
		fmt.Fprintf(b, "- %s\n", line)
	}
}

// ingested returns the assumption about the log of requests.
func ingested() string {
	return fmt.Sprintf("The log of requests costs an invocation of the ingester for each delivery of lines, %d ms with %d MB, and %g "+
		"write units for a delivery of one line, %g for %g lines, %g for %g. The months count it with the logs, and the stored packs "+
		"with the table. A delivery is assumed to have one line up to 1,000 requests an hour, and %g at 100,000; how many lines "+
		"CloudWatch delivers at once was not seen on AWS.",
		ingestMS, ingestMemory, alone.units, busy.units, busy.requests, full.units, full.requests, busy.requests)
}

// withoutRequests returns the assumption about a month without requests.
func (c model) withoutRequests() string {
	us := regions[0]
	idle := waits(us)
	return fmt.Sprintf("Without requests: %g alarms with %g metrics, %g dashboards, %d secret, a table of %d GB with point-in-time recovery, "+
		"the polling of %g queues with %d requests at once that wait %d s (%.2f), and %s invocations of the sweeper (%.2f, and %.2f before "+
		"something was due for the first time). %g logs "+
		"and %g metric filters cost nothing without lines; a metric that lines raise costs 0.30 a month, by the hours with such lines. "+
		"More a month: `holdingSlides` %.2f, for a queue and %d metrics in alarms, a dashboard %.2f, `alarms: each` with all workers %.2f, "+
		"a domain's alarm %.2f, a key of one's own %.2f, and "+
		"as much again after each of its first two yearly rotations, a firewall %.2f and %.2f "+
		"per million requests; a budget nothing; the upload service %.2f, %.2f in eu, and %.2f per million requests through CloudFront, %.2f in "+
		"eu. Not computed: `backup`, of which each copy in each vault is billed by the GB as the table "+
		"is, and whose replica of the secret costs as much as the secret, a DNS zone, `maintain`, which once a day reads a unit for about "+
		"13 rows (for 20,000 rows, a cent a month), and the archives of "+
		"the functions in the bucket of the CDK (a release has about 0.2 GB: half a cent), and the bytes in the bucket "+
		"for bytes, which S3 bills by the GB and by the request: an empty bucket costs nothing. Nothing polls the dead-letter queues. "+
		"A service with all groups and 257 operations costs the same without requests, as long as it has the workers of today: no alarm, "+
		"log or queue belongs to a group, as a test of infra holds. One more polled queue costs %.2f, and %.2f more for its two metrics "+
		"in alarms; below the first goal, %s are left.",
		c.shape.named, c.shape.alarms, c.shape.dashboards, secrets, keptGB,
		countOf(events.Queue), pollers, pollSeconds, idle.polls, grouped(countOf(events.Schedule)*minutesOfMonth), idle.sweeps, idle.quiet,
		c.shape.logs, c.shape.filters,
		slidesIdle(us), slidesMetrics, us.dashboard, (c.shape.each-c.shape.alarms)*us.alarm, us.alarm, us.key, us.firewall, us.inspected,
		uploadService(us), uploadService(regions[1]), us.edges, regions[1].edges,
		pollsOf(us), 2*us.alarm, c.left())
}

// left returns the part of the goal for a month without requests that is not used, in each region in which
// nothing was ever due.
func (c model) left() string {
	var all []string
	for _, p := range regions {
		w := waits(p)
		spent := c.fixed(p) - w.sweeps + w.quiet + keptGB*(p.storage+p.backup)
		all = append(all, fmt.Sprintf("%.2f in %s", mostIdle-spent, p.name))
	}
	return strings.Join(all, " and ")
}

// byKind writes the cost of a million requests of each kind, with parts for the first region.
func (c model) byKind(b *strings.Builder) error {
	fmt.Fprintf(b, "\n**A million requests**, without the log of requests, parts in %s\n\n", regions[0].name)
	fmt.Fprint(b, "| request | RCU | WCU | Lambda ms | DynamoDB | Lambda | gateway | logs | data out | changes |")
	for _, p := range regions {
		fmt.Fprintf(b, " **in all, %s** |", p.name)
	}
	fmt.Fprintf(b, " data out without gzip |\n|%s\n", strings.Repeat("---|", 11+len(regions)))
	for _, k := range kinds {
		f, err := k.figure(c.figures)
		if err != nil {
			return err
		}
		one := cost(k, f, regions[0], dense)
		fmt.Fprintf(b, "| %s | %g | %g | %g | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |",
			k.name, f.read, f.written, billed(f), one.table, one.compute, one.gateway, one.logs, one.out, one.changes)
		for _, p := range regions {
			fmt.Fprintf(b, " %.2f |", cost(k, f, p, dense).total())
		}
		fmt.Fprintf(b, " %.2f |\n", one.plain)
	}
	return nil
}

// byDelivery writes the cost of the log of a million requests, by the lines in a delivery.
func byDelivery(b *strings.Builder) error {
	fmt.Fprint(b, "\n**The log of a million requests**\n\n| lines in a delivery |")
	for _, p := range regions {
		fmt.Fprintf(b, " written, %s | kept for a year, %s |", p.name, p.name)
	}
	fmt.Fprintf(b, "\n|%s\n", strings.Repeat("---|", 1+2*len(regions)))
	for _, d := range []delivery{alone, busy, full} {
		fmt.Fprintf(b, "| %g |", d.requests)
		for _, p := range regions {
			fmt.Fprintf(b, " %.2f | %.2f |", d.cost(p), d.kept(p))
		}
		fmt.Fprintln(b)
	}
	return nil
}

// byMonth writes the cost of a month in each region at each load.
func (c model) byMonth(b *strings.Builder) error {
	for _, p := range regions {
		fmt.Fprintf(b, "\n**A month in %s**, %s\n\n| requests an hour | DynamoDB | Lambda | gateway | logs | data out | changes | "+
			"table kept | logs kept | fixed | in all |\n", p.name, p.aws)
		fmt.Fprintf(b, "|%s\n", strings.Repeat("---|", 11))
		for _, at := range loads {
			m, err := c.monthly(at, p)
			if err != nil {
				return err
			}
			fmt.Fprintf(b, "| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f (%.0f GB) | %.2f | %.2f | **%.2f** |\n", grouped(at.perHour),
				m.table, m.compute, m.gateway, m.logs, m.out, m.changes, m.stored, m.gb, m.kept, m.fixed, m.total())
		}
	}
	return nil
}

// grouped returns a whole number below a million with a comma before its thousands.
func grouped(n float64) string {
	if n < 1000 {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%d,%03d", int(n)/1000, int(n)%1000)
}
