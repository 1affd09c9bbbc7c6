// Package aws_test measures what the service does where DynamoDB acts as on AWS: behind a
// door that cancels conflicting transactions and a door that serves a partition key
// 3,000 read and 1,000 write units a second (package faulty). A local engine does
// neither. `make bench-aws` prints the rows of docs/performance.md, "Behind the doors of
// AWS"; `make test` makes the same runs at a small size.
//
// An instance is what one Lambda instance is: one group of routes with a memory and a
// client of the table of its own. All instances share the table and the doors and
// nothing else.
//
// Units, conflicts and retries count; the processor of this machine does not. A hundred
// Lambdas have a hundred processors. A herd therefore runs in virtual time (package
// synctest): the time passes only while every goroutine waits, so that decoding rows
// takes none of it. A call of the table takes callTime, and what the doors, the retries
// and the clients wait is waited in the same time. The first instance reads its pages
// from the engine, which keeps them in memory for all others, with the units that the
// engine reported. The other runs go by the real time, since mutexes that are held
// during calls stop the virtual one; their conflicts vary with what else the machine does.
package aws_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/tools/bench/scale"
)

// only is a flag of `go test`.
var only = flag.String("only", "", "measure only the runs whose name contains this")

// TestFigures makes each run, prints its figures and holds them to their targets.
func TestFigures(t *testing.T) {
	size := small
	if scale.Whole() {
		size = whole
	}
	var printed strings.Builder
	require.NoError(t, measure(t, size, io.MultiWriter(&printed, os.Stdout)))
	for _, r := range size.runs() {
		if strings.Contains(r.name, *only) {
			require.Contains(t, printed.String(), "| "+r.name+" |")
		}
	}
}

// sizes says how much is measured.
type sizes struct {
	// rows is how many contacts the partition of the herds has, and herds how many
	// instances load it. reads is what a partition key serves them in a second.
	rows  int
	herds []int
	reads float64
	// patience is how long a herd may take.
	patience time.Duration
	// writers write one event's settings, each so many.
	writers, each int
	// bulks are made one after the other by one instance.
	bulks int
	// sessions, each with two people, are searched by so many instances beside a PUT.
	sessions, searchers int
}

// whole is the run that docs/performance.md keeps; small has the same proportions and
// takes less than half a minute.
var (
	whole = sizes{
		rows: 10_000, herds: []int{20, 100}, reads: 3000, patience: time.Minute,
		writers: 16, each: 10, bulks: 5, sessions: 10_000, searchers: 100,
	}
	small = sizes{
		rows: 6_000, herds: []int{20}, reads: 1800, patience: 10 * time.Second,
		writers: 16, each: 3, bulks: 2, sessions: 500, searchers: 10,
	}
)

// run is one measurement, by n instances or of n bulks.
type run struct {
	name string
	n    int
	do   func(ctx context.Context, w *world, s sizes, n int) ([]figure, error)
	// prepare fills the table, past the doors. virtual is whether do runs in virtual time.
	prepare func(ctx context.Context, w *world, s sizes) error
	virtual bool
}

// figure is one row of the table. target is what value may be at most; below 0 there is
// no target.
type figure struct {
	name          string
	value, target float64
	shown         string
}

// measure makes each run on a table of its own and prints its figures.
func measure(t *testing.T, s sizes, to io.Writer) error {
	t.Helper()
	fmt.Fprint(to, "| run | figure | measured | target |\n|---|---|---|---|\n")
	for _, r := range s.runs() {
		if !strings.Contains(r.name, *only) {
			continue
		}
		figures, err := r.figures(t, s)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		for _, f := range figures {
			target := ""
			if f.target >= 0 {
				target = fmt.Sprintf("%.0f", f.target)
				if f.value > f.target {
					t.Errorf("%s: %s: %s is over the target of %.0f", r.name, f.name, f.shown, f.target)
				}
			}
			fmt.Fprintf(to, "| %s | %s | %s | %s |\n", r.name, f.name, f.shown, target)
		}
	}
	return nil
}

// figures makes the run.
func (r run) figures(t *testing.T, s sizes) ([]figure, error) {
	t.Helper()
	w, err := newWorld(t.Context())
	if err != nil {
		return nil, err
	}
	defer w.stop()
	if r.prepare != nil {
		if err := r.prepare(t.Context(), w, s); err != nil {
			return nil, err
		}
	}
	if !r.virtual {
		return r.do(t.Context(), w, s, r.n)
	}
	w.away()
	var figures []figure
	synctest.Test(t, func(t *testing.T) {
		figures, err = r.do(t.Context(), w, s, r.n)
		time.Sleep(2 * patience) // What nobody waits for any more ends, since the time stops with this function.
	})
	return figures, err
}

// runs returns the measurements of the sizes.
func (s sizes) runs() []run {
	var all []run
	for _, n := range s.herds {
		all = append(all, run{fmt.Sprintf("herd of %d", n), n, herd, contactRows, true})
	}
	return append(all,
		run{fmt.Sprintf("%d writers of settings", s.writers), s.writers, settings, nil, false},
		run{"lone bulks of 100 sessions", s.bulks, sessionBulks, nil, false},
		run{"lone bulks of 100 contacts", s.bulks, contactBulks, nil, false},
		run{fmt.Sprintf("a PUT beside %d searching instances", s.searchers), s.searchers, putBeside, sessionRows, false},
	)
}

// count returns the figure of a number; a target below 0 is none.
func count(name string, value, target float64) figure {
	return figure{name, value, target, fmt.Sprintf("%.0f", value)}
}

// share returns the figure of a part of a whole, in percent.
func share(name string, part, whole int, target float64) figure {
	value := 100 * float64(part) / float64(max(whole, 1))
	return figure{name, value, target, fmt.Sprintf("%d of %d, %.0f %%", part, whole, value)}
}
