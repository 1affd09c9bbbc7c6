package main

import (
	"fmt"
	"strings"
)

// sentObject is bytes that a client sends, and fetches once.
type sentObject struct {
	name string
	mb   float64
	// puts and gets are the requests to the bucket: of client and service for the upload, and the
	// client's for the download.
	puts, gets float64
}

// Objects of the three kinds. An upload in parts begins, sends parts of 16 MiB, lists them and joins
// them; the service then looks at the object.
var objects = []sentObject{
	{"a file of 5 MB, in one request", 5, 1, 2},
	{"an hour of a recording, 16-bit mono 16 kHz, 115 MB in one request", 115, 1, 2},
	{"an hour of film, 2 GB in 128 parts", 2048, 1 + 128 + 1 + 1, 2},
}

// objectCost is the cost of an object: to send it, to keep it for a month, to fetch it.
type objectCost struct{ sent, kept, fetched float64 }

// cost returns the cost of the object in a region. What a client sends to AWS costs nothing by size.
func (o sentObject) cost(p prices) objectCost {
	gb := o.mb / 1024
	return objectCost{
		sent: (o.puts*p.puts + (o.gets-1)*p.gets) / million,
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
