package main

// priceDate is when the prices below were the list prices: AWS's price lists of August
// and September 2026 (DynamoDB of 2026-08-15, CloudWatch of 2026-08-06, data transfer of
// 2026-07-20, API Gateway and Lambda read on 2026-08-12 and 2026-09-11). Taxes, free
// allowances, credits and volume discounts are left out.
const priceDate = "2026-09-11"

// prices is what AWS asks for in one region, in US dollars.
type prices struct {
	// name is the service's name of the region, aws that of AWS.
	name, aws string
	// readUnits and writeUnits are for a million request units on demand.
	readUnits, writeUnits float64
	// storage and backup are a GB of the table for a month, and of its point-in-time
	// recovery.
	storage, backup float64
	// gbSecond is a second of a GB of memory on arm64, invocations a million of them.
	gbSecond, invocations float64
	// requests is a million calls of a REST API, of the first 333 million in a month.
	requests float64
	// logged is a GB written to CloudWatch Logs, logKept a GB kept there for a month.
	logged, logKept float64
	// out is a GB sent to the internet, of the first ten terabytes in a month.
	out float64
	// alarm and dashboard are one of each for a month.
	alarm, dashboard float64
	// firewall is a web ACL with one rule for a month, inspected a million requests.
	firewall, inspected float64
	// key is a KMS key of one's own for a month.
	key float64
}

// regions are the prices where the service runs.
var regions = []prices{
	{
		name: "us", aws: "us-east-1",
		readUnits: 0.125, writeUnits: 0.625, storage: 0.25, backup: 0.20,
		gbSecond: 0.0000133334, invocations: 0.20, requests: 3.50,
		logged: 0.50, logKept: 0.03, out: 0.09, alarm: 0.10, dashboard: 3,
		firewall: 6, inspected: 0.60, key: 1,
	},
	{
		name: "eu", aws: "eu-central-1",
		readUnits: 0.1525, writeUnits: 0.7625, storage: 0.306, backup: 0.2448,
		gbSecond: 0.0000133334, invocations: 0.20, requests: 3.70,
		logged: 0.63, logKept: 0.0324, out: 0.09, alarm: 0.10, dashboard: 3,
		firewall: 6, inspected: 0.60, key: 1,
	},
}
