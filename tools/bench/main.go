// Command bench measures the operations of the service on this machine, each beside its floor:
// the same calls of the table by the same number of clients, without the API. It prints the
// tables of docs/performance.md, and keeps its data between runs. Read main.go first, then
// measure.go and requests.go; floor.go has the floors.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lectern/localstack/local/stack"
	"lectern/tools/bench/process"
)

func main() {
	sizes := flag.String("sizes", "100,1000,10000,100000", "how many sessions the events have; none measures the starts alone")
	data := flag.String("data", ".local/bench", "where the data is kept")
	folder := flag.String("functions", stack.Binaries(), "where the functions' binaries are")
	span := flag.Duration("time", 4*time.Second, "how long each figure is measured")
	only := flag.String("starts", "", "the functions whose starts are measured, with commas between; all without")
	alone := flag.Bool("largest", false, "measure only the largest organization in what a Lambda of 512 MB has")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	fmt.Println(process.Machine())
	var err error
	if *alone {
		err = measureLargest(ctx, *folder, *data)
	} else if err = starts(ctx, *folder, *only); err == nil && *sizes != "" {
		err = run(ctx, *sizes, *data, *span)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// serve starts the measured region on a free port.
func serve(ctx context.Context, c stack.Config) (*stack.Stack, *stack.Instance, error) {
	c.Region = region
	running, err := stack.Start(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	instance, err := running.Serve("127.0.0.1:0")
	if err != nil {
		return nil, nil, errors.Join(err, running.Stop())
	}
	return running, instance, nil
}

// run measures the events of all sizes.
func run(ctx context.Context, sizes, data string, span time.Duration) error {
	m := &meter{}
	running, instance, err := serve(ctx, stack.Config{Dir: data + "/" + region, Log: m.logger()})
	if err != nil {
		return err
	}
	defer func() { _ = running.Stop() }() // The process ends anyway.
	for text := range strings.SplitSeq(sizes, ",") {
		size, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("sizes: %w", err)
		}
		place, err := prepare(ctx, filepath.Join(data, fmt.Sprintf("bench-%d.json", size)), instance,
			event{Size: size, Contacts: contactsOf(size)})
		if err != nil {
			return err
		}
		s := &subject{place: place, event: place.Event, stack: running, instance: instance, meter: m, span: span}
		if err := s.measure(ctx); err != nil {
			return err
		}
		if size == memorySize {
			if err := errors.Join(rows(ctx, place), memory(ctx, data, place)); err != nil {
				return err
			}
		}
	}
	return nil
}
