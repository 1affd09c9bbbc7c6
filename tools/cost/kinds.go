package main

import (
	"fmt"
	"strings"

	"lectern/events"
)

// kind is a kind of request.
type kind struct {
	name string
	// size and row name the figures in docs/performance.md.
	size, row string
	// answer and line are the bytes of the uncompressed answer without headers and of the log
	// line; a test measures both. packed is the answer with gzip, measured on 2026-11-23 with
	// the demo conference, whose texts differ as real texts do; a test compares it with texts that
	// repeat themselves.
	answer, packed, line float64
	// cold is the number of further units that the first request of a new instance reads, with
	// nothing in memory: as printed by the bench on 2026-11-21 for an event of usual.
	cold float64
	// stored is the highest number of KB left in the table for good: a KB for each write unit
	// that adds data.
	stored float64
	// share is the part of the mix, in percent.
	share float64
	// published is the number of published kinds of change, unrouted that of further events, which
	// no rule sends to a queue.
	published, unrouted float64
}

const (
	usual = "1,000 sessions, 1,000 contacts"
	large = "10,000 sessions, 100,000 contacts"
	bulks = "100 sessions, 100 contacts"
)

// kinds lists the kinds in the order of the tables. The mix is a programme with far more reads
// than writes.
var kinds = []kind{
	{name: withPeople, size: usual, row: "GET a session with its people", answer: 8_200, packed: 2_350, line: 420, share: 40},
	{name: single, size: usual, row: "GET a contact", answer: 1_600, packed: 800, line: 420, share: 10},
	{name: "search of 25 sessions", size: usual, row: "search of 25 on one track",
		answer: 206_000, packed: 27_000, line: 350, cold: 295, share: 25},
	{name: "search of 25 people", size: usual, row: "search of 25 participants on one track",
		answer: 47_500, packed: 5_800, line: 350, cold: 217, share: 14.99},
	{name: "update a session", size: usual, row: "PUT a session", answer: 8_200, packed: 2_350, line: 420, stored: 1, share: 6, published: 1},
	{name: "update a contact", size: usual, row: "PUT a contact", answer: 1_600, packed: 800, line: 420, stored: 2, share: 2,
		published: 1, unrouted: 1},
	{name: "create a session, in an event of 100", size: bulks, row: "POST a session with its people",
		answer: 8_200, packed: 2_350, line: 370, stored: 10, share: 2, published: 2},
	{name: "bulk of 100 sessions, in an event of 100", size: bulks, row: "bulk of 100 sessions with their people",
		answer: 835_000, packed: 109_000, line: 370, stored: 1_000, share: 0.01, published: 200},
	{name: "search of 25 sessions in a large event", size: large, row: "search of 25 on one track",
		answer: 206_000, packed: 27_000, line: 350},
	{name: "search of 25 people in a large event", size: large, row: "search of 25 participants on one track",
		answer: 47_500, packed: 5_800, line: 350},
}

// Names of the reads of single records.
const (
	single     = "read a contact"
	withPeople = "read a session with its people"
)

// largestShare returns the share of the most frequent kind, in percent.
func largestShare() (most float64) {
	for _, k := range kinds {
		most = max(most, k.share)
	}
	return most
}

// figure returns the kind's figures.
func (k kind) figure(all map[string]map[string]figure) (figure, error) {
	f, ok := all[k.size][k.row]
	if !ok {
		return f, fmt.Errorf("cost: no row %q below %q", k.row, k.size)
	}
	return f, nil
}

// sentObject is bytes that a client sends, and fetches once.
type sentObject struct {
	name string
	mb   float64
	// puts and gets are the requests to the bucket: of client and service for the upload, and the
	// client's for the download.
	puts, gets float64
	// seconds is the time of the dataworker that converts the object.
	seconds float64
}

// Objects of the three kinds. An upload in parts begins, sends parts of 16 MiB, lists them and joins them;
// the service then looks at the object. A conversion reads blocks of 4 MiB, and makes such an upload of parts
// of 8 MiB.
var objects = []sentObject{
	{"a file of 5 MB, in one request", 5, 1, 2, 0},
	{"an hour of a recording, 16-bit mono 16 kHz, 115 MB in one request", 115, 1, 2, 0},
	{"the same converted from 16-bit stereo with 48 kHz, 691 MB", 115, 1 + 1 + 14 + 1 + 2, 2 + 173 + 3, convertSeconds},
	{"an hour of film, 2 GB in 128 parts", 2048, 1 + 128 + 1 + 1, 2, 0},
}

// convertSeconds is assumed for the conversion of an hour of stereo with 48 kHz: twice the measured time, for
// a processor of Lambda and the calls of the bucket.
const convertSeconds = 30

// objectCost is the cost of an object: to send it, to keep it for a month, to fetch it.
type objectCost struct{ sent, kept, fetched float64 }

// cost returns the cost of the object in a region. What a client sends to AWS costs nothing by size.
func (o sentObject) cost(p prices) objectCost {
	gb := o.mb / 1024
	return objectCost{
		sent: (o.puts*p.puts+(o.gets-1)*p.gets)/million + o.seconds*memoryOf(events.Dataworker)/1024*p.gbSecond,
		kept: gb * p.bytesKept, fetched: p.gets/million + gb*p.out,
	}
}

// byObject writes the cost of a thousand objects of each kind.
func byObject(b *strings.Builder) error {
	fmt.Fprint(b, "\n**A thousand uploads**, beside their requests to the API\n\n| what |")
	for _, p := range regions {
		fmt.Fprintf(b, " sent, %[1]s | kept a month, %[1]s | each fetched once, %[1]s |", p.name)
	}
	fmt.Fprintf(b, "\n|%s\n", strings.Repeat("---|", 1+3*len(regions)))
	for _, o := range objects {
		fmt.Fprintf(b, "| %s |", o.name)
		for _, p := range regions {
			one := o.cost(p)
			fmt.Fprintf(b, " %.3f | %.2f | %.2f |", thousand*one.sent, thousand*one.kept, thousand*one.fetched)
		}
		fmt.Fprintln(b)
	}
	return nil
}
