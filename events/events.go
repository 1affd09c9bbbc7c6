// Package events declares what happens after a write: the workers, which are Lambdas that no
// request invokes, and the rules by which the bus sends changes to queues. Both lists are data.
// The CDK app deploys both lists, and localstack/local/bus runs them on one machine. A change is
// stored with its write (shared/change), and the publisher reads the stream of the table
// (decision 30). Each worker has a package below. Read events.go, options.go, check.go.
package events

import (
	"lectern/shared/agenda"
	"lectern/shared/bus"
	"lectern/shared/datarequest"
	"lectern/shared/recording"
	"lectern/shared/table"
	"lectern/shared/webhook"
)

// Source is the kind of source whose records invoke a worker.
type Source string

// The kinds of sources.
const (
	// Stream is the stream of the table, filtered by NewChanges.
	Stream Source = "stream"
	// Queue is a queue of SQS.
	Queue Source = "queue"
	// Schedule is a schedule of EventBridge.
	Schedule Source = "schedule"
	// Log is a log group of the service.
	Log Source = "log"
)

// Worker describes a Lambda that no request invokes.
type Worker struct {
	// Name is the name of the function and of its folder with the binary.
	Name string
	// Memory is in MB, Seconds limits an invocation.
	Memory, Seconds int
	Source          Source
	// From names the source: the queue, the expression of the schedule, or the end of the
	// log group's name. It is empty for Stream, as a region has one table.
	From string
	// Messages is the number of messages of an invocation by a queue, and Instances the highest number of
	// such invocations at once. A queue without a limit could take all instances of the account.
	Messages, Instances int
	// Chains reports whether the worker goes on with its work by a message to its own queue, as often as the
	// work needs.
	Chains bool
}

// The names of the workers, each with a package of its name below this one.
const (
	// Publisher puts the published kinds of each change on the bus.
	Publisher = "publisher"
	// Matcher makes the deliveries of a published change.
	Matcher = "matcher"
	// Deliverer attempts deliveries.
	Deliverer = "deliverer"
	// Sweeper sends what is due to the deliverer.
	Sweeper = "sweeper"
	// Dataworker does the requests of persons for their data, converts recordings (package converter), and finishes
	// commits of agenda drafts (package committer).
	Dataworker = "dataworker"
	// Ingester stores the log of requests.
	Ingester = "ingester"
	// Transcriber turns media into transcriptions, an option.
	Transcriber = "transcriber"
	// Slides draws the holding slides of sessions, an option.
	Slides = "slides"
)

// The queues of the workers.
const (
	Webhooks   = "webhooks"
	Deliveries = "deliveries"
	Work       = "work"
	Media      = "media"
	Drawings   = "drawings"
)

// Jobs is the rule that sends the end of transcription jobs to Media.
const Jobs = "jobs"

// Workers lists the workers of every region.
var Workers = []Worker{
	{Name: Publisher, Memory: 256, Seconds: 60, Source: Stream},
	{Name: Matcher, Memory: 512, Seconds: 30, Source: Queue, From: Webhooks, Messages: 10, Instances: 10},
	{Name: Deliverer, Memory: 256, Seconds: 60, Source: Queue, From: Deliveries, Messages: 10, Instances: 50, Chains: true},
	{Name: Sweeper, Memory: 256, Seconds: 50, Source: Schedule, From: "rate(1 minute)"},
	// A request of a person may need the memory and the time of an instance. A conversion takes one processor,
	// which comes with so much memory.
	{Name: Dataworker, Memory: 1769, Seconds: 900, Source: Queue, From: Work, Messages: 1, Instances: 5, Chains: true},
	{Name: Ingester, Memory: 256, Seconds: 60, Source: Log, From: "api"},
}

// Pattern selects records by their fields, in the form that EventBridge and Lambda use: a field
// has a Pattern of the fields within, or the values of which the record must have one.
type Pattern map[string]any

// Rule sends the events on the bus that match a pattern to a queue. A rule is for a consumer,
// never for one endpoint of a customer: a bus holds 300 rules.
type Rule struct {
	// Name is the end of the rule's name in a region.
	Name    string
	Pattern Pattern
	// Queue is the queue of a worker.
	Queue string
	// OfAWS reports whether the rule is for the events of AWS, on the account's default bus.
	OfAWS bool
}

// Rules lists the rules of a region's bus. An event on the bus has the kind as its detail-type.
// No rule sends bus.FieldsChanged to a queue yet. A consumer for automations adds a rule with the
// pattern {"source": [bus.Source], "detail-type": [bus.FieldsChanged]}. Only a region with the option
// Slides has a rule for bus.EventChanged.
var Rules = []Rule{
	{Name: Webhooks, Queue: Webhooks, Pattern: published(webhook.Kinds...)},
	{Name: Work, Queue: Work, Pattern: published(datarequest.KindCreated, recording.KindReceived, agenda.KindCommitted)},
}

// published selects the events of kinds that the service puts on the bus.
func published(kinds ...string) Pattern {
	return Pattern{"source": []string{bus.Source}, "detail-type": kinds}
}

// NewChanges selects the new change records in the stream of the table. A write puts four to
// eight items; without the filter, each would invoke the reader of the stream. Only a change
// record has the mark (decision 16).
var NewChanges = Pattern{
	"eventName": []string{"INSERT"},
	"dynamodb":  Pattern{"NewImage": Pattern{"k": Pattern{"S": []string{table.KindChange}}}},
}
