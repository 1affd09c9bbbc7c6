// Package subscription delivers the log lines of requests to the ingester on this machine, as a
// subscription of CloudWatch does on AWS: in batches, after the requests. A slow or failing
// ingester slows no request.
package subscription

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lectern/shared/requestlog"
	"lectern/shared/table"
)

const (
	// maxLines and maxWait limit a batch: so many lines, and the time since the first.
	maxLines = 200
	maxWait  = 200 * time.Millisecond
	// maxWaiting is the number of lines that wait for the ingester. Further lines are dropped.
	maxWaiting = 10_000
	// tries is the number of tries of a batch, pause the time before the second.
	tries = 3
	pause = 100 * time.Millisecond
)

// Deliver handles an event, as the ingester does.
type Deliver func(context.Context, events.CloudwatchLogsEvent) error

// Subscription takes the lines of a log. It is safe for concurrent use.
type Subscription struct {
	deliver Deliver
	log     *slog.Logger
	lines   chan string
	// dropped is the number of dropped lines that the log does not have yet.
	dropped atomic.Int64
	// stopping is closed by Stop, done after the last delivery. abandon ends the deliveries.
	once           sync.Once
	stopping, done chan struct{}
	abandon        context.CancelFunc
}

// Start starts a subscription. log gets the number of dropped lines.
func Start(deliver Deliver, log *slog.Logger) *Subscription {
	s := &Subscription{
		deliver: deliver, log: log, lines: make(chan string, maxWaiting), stopping: make(chan struct{}), done: make(chan struct{}),
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.abandon = cancel
	go s.run(ctx)
	return s
}

// selected is part of each line about a request, and of no other line.
var selected = []byte(`"msg":"` + requestlog.Message + `"`)

// Write takes whole lines, and returns at once. Lines that come while Stop waits may be left
// undelivered.
func (s *Subscription) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if !bytes.Contains(line, selected) {
			continue
		}
		select {
		case s.lines <- string(bytes.TrimSpace(line)):
		default:
			s.dropped.Add(1)
		}
	}
	return len(p), nil
}

// Stop delivers the lines that wait, no longer than ctx allows.
func (s *Subscription) Stop(ctx context.Context) error {
	s.once.Do(s.stop)
	defer s.abandon()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("subscription: lines of requests were not delivered: %w", ctx.Err())
	}
}

// stop makes run end.
func (s *Subscription) stop() { close(s.stopping) }

// run delivers batches until Stop, and then the lines that still wait.
func (s *Subscription) run(ctx context.Context) {
	defer close(s.done)
	for stopped := false; !stopped; {
		select {
		case first := <-s.lines:
			s.send(ctx, s.gather(first))
		case <-s.stopping:
			stopped = true
		}
	}
	for len(s.lines) > 0 {
		s.send(ctx, s.gather(<-s.lines))
	}
	s.note()
}

// gather returns a batch that begins with a line.
func (s *Subscription) gather(first string) []string {
	batch := []string{first}
	wait := time.NewTimer(maxWait)
	defer wait.Stop()
	for len(batch) < maxLines {
		select {
		case line := <-s.lines:
			batch = append(batch, line)
		case <-wait.C:
			return batch
		case <-s.stopping:
			if len(s.lines) == 0 {
				return batch
			}
			batch = append(batch, <-s.lines) // No other goroutine takes lines.
		}
	}
	return batch
}

// send delivers a batch, and drops the batch after the last try.
func (s *Subscription) send(ctx context.Context, batch []string) {
	sent := false
	for _, ended := range (table.Retry{Tries: tries, First: pause, Max: 2 * pause}).Each(ctx) {
		if sent = ended == nil && s.try(ctx, batch); sent {
			break
		}
	}
	if !sent {
		s.dropped.Add(int64(len(batch)))
	}
	s.note()
}

// try delivers a batch once and reports whether the ingester has handled it.
func (s *Subscription) try(ctx context.Context, batch []string) bool {
	event, err := newEvent(batch)
	if err == nil {
		err = table.Safely(func() error { return s.deliver(ctx, event) })()
	}
	if err != nil {
		s.log.Error("the ingester failed", "error", err)
	}
	return err == nil
}

// note writes the number of dropped lines into the log.
func (s *Subscription) note() {
	if n := s.dropped.Swap(0); n > 0 {
		s.log.Error("requests are missing in the log of requests", "count", n)
	}
}

// newEvent returns the event that CloudWatch sends for lines.
func newEvent(lines []string) (event events.CloudwatchLogsEvent, err error) {
	data := events.CloudwatchLogsData{MessageType: "DATA_MESSAGE", LogEvents: make([]events.CloudwatchLogsLogEvent, len(lines))}
	for i, line := range lines {
		data.LogEvents[i].Message = line
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if err := json.NewEncoder(zip).Encode(data); err != nil {
		return event, fmt.Errorf("subscription: encode lines: %w", err)
	}
	if err := zip.Close(); err != nil {
		return event, fmt.Errorf("subscription: compress lines: %w", err)
	}
	event.AWSLogs.Data = base64.StdEncoding.EncodeToString(packed.Bytes())
	return event, nil
}
