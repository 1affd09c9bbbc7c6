package main

// priceDate is the date of the list prices below: AWS's price lists of August and September
// 2026 (DynamoDB of 2026-08-15, CloudWatch of 2026-08-06, data transfer of 2026-07-20, API
// Gateway and Lambda read on 2026-08-12 and 2026-09-11). Taxes, free allowances, credits and
// volume discounts are left out.
const priceDate = "2026-09-11"

// prices has AWS's prices of a region, in US dollars.
type prices struct {
	// name is the service's name of the region, aws the name in AWS.
	name, aws string
	// readUnits and writeUnits are for a million request units on demand.
	readUnits, writeUnits float64
	// storage is for a GB of the table for a month, backup for a GB of its point-in-time
	// recovery.
	storage, backup float64
	// gbSecond is for a second of a GB of memory on arm64, invocations for a million
	// invocations.
	gbSecond, invocations float64
	// requests is for a million calls of a REST API, up to 333 million a month.
	requests float64
	// logged is for a GB written to CloudWatch Logs, loggedCheap for a GB of the class for
	// infrequent access, logKept for a GB of either kept for a month. AWS announced the class
	// at half the price; the list of eu-central-1 was not looked up.
	logged, loggedCheap, logKept float64
	// out is for a GB sent to the internet, up to ten terabytes a month.
	out float64
	// alarm, dashboard and secret are for a month, an alarm of one metric. A dashboard of at most
	// 50 metrics is free for the first three of an account; the list price is counted.
	alarm, dashboard, secret float64
	// firewall is for a web ACL with a rule for a month, inspected for a million requests.
	firewall, inspected float64
	// key is for a customer's own KMS key for a month.
	key float64
	// events is for a million events put on a bus, schedules for a million invocations by a schedule.
	// queueRequests is for a million requests of SQS, fairRequests for the same with a message group,
	// in addition. The list of eu-central-1 was not looked up for these four.
	events, schedules, queueRequests, fairRequests float64
	// bytesKept is for a GB in the bucket for a month. puts is for a million requests that begin,
	// send, join or list parts, gets for a million of the others; a deletion is free. The list of S3
	// was not looked up at the date.
	bytesKept, puts, gets float64
	// balancer is for an hour of a load balancer, processor for an hour of a whole processor of a task on arm64,
	// taskMemory for an hour of a GB of its memory, address for an hour of a public address. edges is for a million
	// requests through CloudFront. The lists were not looked up at the date for these five.
	balancer, processor, taskMemory, address, edges float64
}

// regions has the prices of the service's regions.
var regions = []prices{
	{
		name: "us", aws: "us-east-1",
		readUnits: 0.125, writeUnits: 0.625, storage: 0.25, backup: 0.20,
		gbSecond: 0.0000133334, invocations: 0.20, requests: 3.50,
		logged: 0.50, loggedCheap: 0.25, logKept: 0.03, out: 0.09, alarm: 0.10, dashboard: 3, secret: 0.40,
		firewall: 6, inspected: 0.60, key: 1, events: 1, schedules: 1, queueRequests: 0.40, fairRequests: 0.10,
		bytesKept: 0.023, puts: 5, gets: 0.40,
		balancer: 0.0225, processor: 0.03238, taskMemory: 0.00356, address: 0.005, edges: 1,
	},
	{
		name: "eu", aws: "eu-central-1",
		readUnits: 0.1525, writeUnits: 0.7625, storage: 0.306, backup: 0.2448,
		gbSecond: 0.0000133334, invocations: 0.20, requests: 3.70,
		logged: 0.63, loggedCheap: 0.315, logKept: 0.0324, out: 0.09, alarm: 0.10, dashboard: 3, secret: 0.40,
		firewall: 6, inspected: 0.60, key: 1, events: 1, schedules: 1, queueRequests: 0.40, fairRequests: 0.10,
		bytesKept: 0.0245, puts: 5.40, gets: 0.43,
		balancer: 0.027, processor: 0.03725, taskMemory: 0.00409, address: 0.005, edges: 1.20,
	},
}
