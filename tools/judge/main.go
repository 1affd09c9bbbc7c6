// Command judge writes instances of agendas, and the agendas that the solver proposes, as a JSON line each. judge.py
// solves the same instances with CP-SAT and prints the table of docs/performance.md.
//
//	go run ./tools/judge -sizes "12 20" -seconds 5 | .local/judge/bin/python tools/judge/judge.py
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"lectern/shared/agenda/board"
	"lectern/shared/agenda/solver"
	"lectern/tools/judge/instance"
)

// line is an instance with the agenda that the solver proposes.
type line struct {
	instance.Instance
	Placed   []instance.Placed `json:"placed"`
	Unplaced []solver.Unplaced `json:"unplaced"`
	Score    board.Score       `json:"score"`
	// Errors is the number of conflicts of level error of proposed sessions.
	Errors int `json:"errors"`
	// Alone marks an instance that is too large for CP-SAT.
	Alone bool `json:"alone"`
}

func main() {
	sizes := flag.String("sizes", "12 20", "the numbers of sessions, with blanks")
	seeds := flag.Int("seeds", 1, "the instances of each size")
	seconds := flag.Float64("seconds", 5, "the time for each instance")
	google := flag.String("google", "", "the file of Google I/O 2019; empty to leave the programme out")
	flag.Parse()
	if err := run(os.Stdout, *sizes, *seeds, *seconds, *google); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

// run writes the lines of all instances.
func run(w io.Writer, sizes string, seeds int, seconds float64, google string) error {
	for _, size := range strings.Fields(sizes) {
		n, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		for seed := range seeds {
			if err := write(w, line{Instance: instance.Draw(n, uint64(seed+1))}, seconds); err != nil {
				return err
			}
		}
	}
	if google == "" {
		return nil
	}
	in, err := instance.ReadGoogleIO(google)
	if err != nil {
		return err
	}
	return write(w, line{Instance: in, Alone: true}, seconds)
}

// write solves an instance and writes the line.
func write(w io.Writer, l line, seconds float64) error {
	p, err := l.Problem()
	if err != nil {
		return err
	}
	begin := time.Now()
	p.Seed, p.Steps, p.Deadline = 1, math.MaxInt, begin.Add(time.Duration(seconds*float64(time.Second)))
	r := solver.Solve(p)
	fmt.Fprintf(os.Stderr, "%s: %d moves in %.1f s, %d sessions without a place, %+v\n",
		l.Name, r.Steps, time.Since(begin).Seconds(), len(r.Unplaced), r.Score)
	l.Placed, l.Unplaced, l.Score = instance.PlacesOf(r), r.Unplaced, r.Score
	if l.Errors, err = instance.Errors(p, r); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(l)
}
