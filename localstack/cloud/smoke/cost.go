package smoke

import "fmt"

// Prices of the more expensive region, in US dollars (tools/cost), and the assumed units. The
// units are above the measured ones (docs/performance.md).
const (
	// perRequest is for a request of the gateway, an invocation of half a second with 512 MB,
	// and its lines in the logs.
	perRequest = 3.70e-6 + 0.20e-6 + 0.5*0.5*1.33334e-5 + 1000*0.63e-9
	// readUnit and writeUnit are for a unit of the table, perByte for a byte sent out.
	readUnit, writeUnit, perByte = 0.1525e-6, 0.7625e-6, 0.09e-9
	// readsEach is the number of read units of a request, writesEach the number of write units
	// of a record, which is created, changed and deleted.
	readsEach, writesEach = 20, 60
)

// estimate describes the cost of the run.
func (r *run) estimate() string {
	requests, records := float64(r.sent.Load()), float64(r.written.Load())
	dollars := requests*(perRequest+readsEach*readUnit) + records*(readsEach*readUnit+writesEach*writeUnit) +
		float64(r.received.Load())*perByte
	return fmt.Sprintf("%d requests and %d records cost about %.3f USD by list prices (estimated)", r.sent.Load(), r.written.Load(), dollars)
}
