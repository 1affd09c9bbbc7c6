package subscription

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/stretchr/testify/require"
)

// receiver collects what a subscription delivers. before runs at the beginning of a delivery.
type receiver struct {
	mu      sync.Mutex
	batches [][]string
	before  func() error
}

func (r *receiver) deliver(_ context.Context, event events.CloudwatchLogsEvent) error {
	if r.before != nil {
		if err := r.before(); err != nil {
			return err
		}
	}
	data, err := event.AWSLogs.Parse()
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var batch []string
	for _, e := range data.LogEvents {
		batch = append(batch, e.Message)
	}
	r.batches = append(r.batches, batch)
	return nil
}

// lines returns all delivered lines, in order.
func (r *receiver) lines() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.batches {
		all = append(all, b...)
	}
	return all
}

// log collects lines of JSON. The subscription alone writes it.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// missing returns the sum of the counts of missing requests.
func (l *log) missing(t *testing.T) (sum int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		var fields struct {
			Msg   string
			Count int
		}
		require.NoError(t, json.Unmarshal([]byte(line), &fields))
		if fields.Msg == "requests are missing in the log of requests" {
			sum += fields.Count
		}
	}
	return sum
}

func start(t *testing.T, r *receiver) (*Subscription, *log) {
	t.Helper()
	l := &log{}
	s := Start(r.deliver, slog.New(slog.NewJSONHandler(l, nil)))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, s.Stop(ctx))
	})
	return s, l
}

func write(t *testing.T, s *Subscription, text string) {
	t.Helper()
	n, err := s.Write([]byte(text))
	require.NoError(t, err)
	require.Equal(t, len(text), n)
}

func request(n int) string { return fmt.Sprintf(`{"msg":"request","n":%d}`, n) }

func TestTheLinesOfRequestsAreDelivered(t *testing.T) {
	r := &receiver{}
	s, l := start(t, r)
	write(t, s, request(1)+"\nplain\n"+`{"msg":"requests"}`+"\n"+`{"msg":"ingested"}`+"\n"+request(2)+"\n")
	require.Eventually(t, func() bool { return len(r.lines()) == 2 }, 10*time.Second, time.Millisecond)
	require.Equal(t, []string{request(1), request(2)}, r.lines())
	write(t, s, request(3)+"\n")
	require.Eventually(t, func() bool { return len(r.lines()) == 3 }, 10*time.Second, time.Millisecond)
	require.Len(t, r.batches, 2)
	require.Zero(t, l.missing(t))
}

// TestStopDeliversWhatWaits, in batches of at most 200 lines.
func TestStopDeliversWhatWaits(t *testing.T) {
	r := &receiver{before: func() error { time.Sleep(time.Millisecond); return nil }}
	s, l := start(t, r)
	var want []string
	for i := range 1234 {
		want = append(want, request(i))
		write(t, s, want[i]+"\n")
	}
	require.NoError(t, s.Stop(t.Context()))
	require.Equal(t, want, r.lines())
	for _, b := range r.batches {
		require.LessOrEqual(t, len(b), maxLines)
	}
	require.Zero(t, l.missing(t))
	require.NoError(t, s.Stop(t.Context()), "a second stop is nothing")
}

// TestASlowIngesterHoldsUpNoWriter: what does not fit is dropped and counted.
func TestASlowIngesterHoldsUpNoWriter(t *testing.T) {
	release := make(chan struct{})
	r := &receiver{before: func() error { <-release; return nil }}
	s, l := start(t, r)
	const more = 500
	began := time.Now()
	for i := range maxWaiting + maxLines + more {
		write(t, s, request(i)+"\n")
	}
	require.Less(t, time.Since(began), 10*time.Second)
	close(release)
	require.NoError(t, s.Stop(t.Context()))
	require.Equal(t, maxWaiting+maxLines+more, len(r.lines())+l.missing(t))
	require.GreaterOrEqual(t, len(r.lines()), maxWaiting)
	require.GreaterOrEqual(t, l.missing(t), more)
}

// TestAStopEndsWithItsContext, and names what it could not do.
func TestAStopEndsWithItsContext(t *testing.T) {
	release := make(chan struct{})
	r := &receiver{before: func() error { <-release; return nil }}
	s, l := start(t, r)
	write(t, s, request(1)+"\n")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Stop(ctx), context.DeadlineExceeded)
	close(release)
	require.NoError(t, s.Stop(t.Context()))
	require.Equal(t, 1, len(r.lines())+l.missing(t))
}

// TestAFailingIngesterIsTriedAgain, three times in all. A panic is a failure.
func TestAFailingIngesterIsTriedAgain(t *testing.T) {
	failures := 0
	r := &receiver{before: func() error {
		if failures++; failures == 1 {
			panic("oh")
		}
		if failures == 2 {
			return errors.New("busy")
		}
		return nil
	}}
	s, l := start(t, r)
	write(t, s, request(1)+"\n")
	require.NoError(t, s.Stop(t.Context()))
	require.Equal(t, []string{request(1)}, r.lines())
	require.Zero(t, l.missing(t))

	tried := 0
	r = &receiver{before: func() error { tried++; return errors.New("busy") }}
	s, l = start(t, r)
	write(t, s, request(1)+"\n"+request(2)+"\n")
	require.NoError(t, s.Stop(t.Context()))
	require.Equal(t, tries, tried)
	require.Equal(t, 2, l.missing(t))
}
