package main

import (
	"fmt"
	"strings"
)

// loads lists the loads of the tables; the first is an idle service. A busy service is assumed
// to have few first searches of a new instance.
var loads = []load{{0, 0}, {10, 1}, {1_000, 0.1}, {100_000, 0.01}}

// render returns the tables as Markdown.
func render(all map[string]map[string]figure) (string, error) {
	var b strings.Builder
	assumptions(&b)
	for _, part := range []func(*strings.Builder, map[string]map[string]figure) error{byKind, byMonth, byQuota} {
		if err := part(&b, all); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// assumptions writes the assumptions.
func assumptions(b *strings.Builder) {
	us := regions[0]
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
		fmt.Sprintf("Lambda: arm64, %d MB. Nothing was measured on AWS: a request is billed for the median of one client on the "+
			"development machine times %d/%d, since so much memory has that part of a processor, and %d ms for each round trip to "+
			"DynamoDB. Cold starts are left out.", memory, wholeCPU, memory, tripMS),
		fmt.Sprintf("Logs: the measured line, %d bytes of the gateway's access log, %d of Lambda's own lines; kept %d "+
			"days.", accessLine, reportLines, retention),
		fmt.Sprintf("Data out: the measured answer, not compressed, and %d bytes of headers. Clients that take gzip pay much less of "+
			"it.", headers),
		fmt.Sprintf("Without requests: %g alarms, %d dashboard, a table of %d GB with point-in-time recovery. A key of one's own adds "+
			"%.2f; a firewall %.2f and %.2f per million requests. The table's stream costs nothing until something reads it.",
			alarms, dashboards, keptGB, us.key, us.firewall, us.inspected),
		fmt.Sprintf("The first search of an event by a new instance reads more units: %s. It is assumed that all searches are such at "+
			"10 requests an hour, a tenth at 1,000 and a hundredth at 100,000.", strings.Join(cold, ", ")),
		fmt.Sprintf("A month has %d hours. Its requests: %s. Storage is that after a year of the load, since change records stay: at "+
			"most 1 KB for each write unit of what a write adds.", hours, strings.Join(shares, ", ")),
	} {
		fmt.Fprintf(b, "- %s\n", line)
	}
}

// byKind writes the cost of a million requests of each kind, with parts for the first region.
func byKind(b *strings.Builder, all map[string]map[string]figure) error {
	fmt.Fprintf(b, "\n**A million requests**, parts in %s\n\n", regions[0].name)
	fmt.Fprint(b, "| request | RCU | WCU | Lambda ms | DynamoDB | Lambda | gateway | logs | data out |")
	for _, p := range regions {
		fmt.Fprintf(b, " **in all, %s** |", p.name)
	}
	fmt.Fprintf(b, "\n|%s\n", strings.Repeat("---|", 9+len(regions)))
	for _, k := range kinds {
		f, err := k.figure(all)
		if err != nil {
			return err
		}
		c := cost(k, f, regions[0])
		fmt.Fprintf(b, "| %s | %g | %g | %g | %.2f | %.2f | %.2f | %.2f | %.2f |",
			k.name, f.read, f.written, billed(f), c.table, c.compute, c.gateway, c.logs, c.out)
		for _, p := range regions {
			fmt.Fprintf(b, " %.2f |", cost(k, f, p).total())
		}
		fmt.Fprintln(b)
	}
	return nil
}

// byMonth writes the cost of a month in each region at each load.
func byMonth(b *strings.Builder, all map[string]map[string]figure) error {
	for _, p := range regions {
		fmt.Fprintf(b, "\n**A month in %s**, %s\n\n| requests an hour | DynamoDB | Lambda | gateway | logs | data out | table kept | "+
			"logs kept | fixed | in all |\n", p.name, p.aws)
		fmt.Fprintf(b, "|%s\n", strings.Repeat("---|", 10))
		for _, at := range loads {
			m, err := monthly(at, all, p)
			if err != nil {
				return err
			}
			fmt.Fprintf(b, "| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f (%.0f GB) | %.2f | %.2f | **%.2f** |\n", grouped(at.perHour),
				m.table, m.compute, m.gateway, m.logs, m.out, m.stored, m.gb, m.kept, m.fixed, m.total())
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
