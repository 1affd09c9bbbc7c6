package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"lectern/localstack/local/runtimeapi"
	"lectern/localstack/local/stack"
	"lectern/tools/bench/process"
)

// The largest organization for an instance of 512 MB (docs/operations.md): all its contacts, and
// its largest event.
const (
	largestSessions = 100_000
	largestContacts = 100_000
)

// largest measures the functions of a region with the largest organization.
type largest struct {
	place *place
	stack *stack.Stack
}

// step is a POST to a function, below the event's path.
type step struct {
	name, path string
	body       []byte
}

// measureLargest prints the time and memory of the functions for the largest organization, each
// in a process with 0.29 of a processor and a garbage collector that has the limit of 512 MB.
func measureLargest(ctx context.Context, folder, data string) error {
	running, instance, err := serve(ctx, stack.Config{Dir: data + "/" + region, Functions: folder})
	if err != nil {
		return err
	}
	defer func() { _ = running.Stop() }() // The process ends anyway.
	place, err := prepare(ctx, filepath.Join(data, "bench-largest.json"), instance, event{Size: largestSessions, Contacts: largestContacts})
	if err != nil {
		return err
	}
	l := &largest{place: place, stack: running}
	fmt.Printf("\n### The largest organization in 512 MB: %d sessions, %d contacts\n\n", largestSessions, largestContacts)
	fmt.Println("| function | request | seconds | at most MB |\n|---|---|---|---|")
	for _, name := range []string{"sessions", "participants", "speakers", "contacts", "sessionwrites", "contactwrites"} {
		if err := l.function(ctx, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// steps returns the requests of a function in order. Each request comes twice: the first loads
// the rows, the second finds them in memory.
func (l *largest) steps(function string) []step {
	byTrack := fmt.Appendf(nil, `{"filters":{"trackIds":[%q]}}`, l.place.Event.Tracks[0])
	byChange := fmt.Appendf(nil, `{"filters":{},"sort":{%s}}`, changed)
	people := l.place.Event.People
	switch function {
	case "sessions":
		return twice("search of 25 on one track", "sessions", byTrack)
	case "participants":
		return append(twice("search of 25 on one track", "participants", byTrack), twice("search by updatedAt", "participants", byChange)...)
	case "speakers":
		return twice("search by updatedAt", "speakers", byChange)
	case "contacts":
		return twice("search by updatedAt", "contacts", byChange)
	case "sessionwrites":
		return twice("bulk of 100 sessions with their people", "sessions/bulk", bulkOf(drafts{tracks: l.place.Event.Tracks, people: people}))
	default:
		return []step{{"bulk of 100 contacts", "contacts/bulk", bulkOf(persons{first: int(time.Now().UnixNano())})}}
	}
}

// twice returns the first and the next request of a kind.
func twice(name, path string, body []byte) []step {
	return []step{{"the first " + name, path, body}, {"the next " + name, path, body}}
}

// bulkOf returns the body of a bulk that creates records.
func bulkOf(records records) []byte {
	text, err := json.Marshal(creates(records, 0, batch))
	if err != nil {
		panic(err) // A request of plain values has a JSON form.
	}
	return text
}

// function prints the figures of a function, in a single process that has started and answered
// before: Lambda starts a process with a whole processor.
func (l *largest) function(ctx context.Context, name string) error {
	f := l.stack.Function(name)
	defer f.Close()
	if _, err := l.invoke(ctx, f, step{path: "none"}); err != nil {
		return err
	}
	pid := f.PIDs()[0]
	limit := process.HoldToShare(ctx, pid)
	return errors.Join(l.do(ctx, f, name, pid), limit.Release())
}

// do prints a row of the table for each request.
func (l *largest) do(ctx context.Context, f *runtimeapi.Function, name string, pid int) error {
	for _, s := range l.steps(name) {
		began := time.Now()
		status, err := l.invoke(ctx, f, s)
		took := time.Since(began).Seconds()
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("%s was answered with %d after %.1f s", s.name, status, took)
		}
		if err != nil {
			return err
		}
		peak, err := process.Peak(pid)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %s | %.2f | %.0f |\n", name, s.name, took, peak)
	}
	return nil
}

// invoke sends a request to a function and returns the status of the answer.
func (l *largest) invoke(ctx context.Context, f *runtimeapi.Function, s step) (status int, err error) {
	template := "/v1/event/{eventId}/" + s.path
	path := strings.ReplaceAll(template, "{eventId}", fmt.Sprint(l.place.Event.ID))
	payload, err := json.Marshal(request{l.place.Token, http.MethodPost, template, path, string(s.body)}.event())
	if err != nil {
		return 0, err
	}
	text, err := f.Invoke(ctx, payload)
	if err != nil {
		return 0, err
	}
	var answer struct{ StatusCode int }
	err = json.Unmarshal(text, &answer)
	return answer.StatusCode, err
}
