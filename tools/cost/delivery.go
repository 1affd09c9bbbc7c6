package main

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

// kept returns the cost of keeping the packs of a million requests in the table for a year.
func (d delivery) kept(p prices) float64 {
	return million * d.kb / d.requests / kiloGB * (p.storage + p.backup) * 12
}
