package form

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/blob"
	"lectern/shared/table"
)

const (
	// atOnce is the number of forms that a process reads at once.
	atOnce = 16
	// held is the number of parts that a process holds at once, of all forms together.
	held = 8
)

// memory is the memory of a part.
type memory [blob.MinPart]byte

// The memory of the forms that the process reads. A part that is held has a place in places.
var (
	reading atomic.Int32
	places  = make(chan struct{}, held)
	free    = sync.Pool{New: func() any { return new(memory) }}
)

// give gives the memory back.
func (m *memory) give() {
	if m != nil {
		free.Put(m)
		<-places
	}
}

// take waits for the memory of the next part, and begins the time of the part. A form that waits holds at
// most a part that is being sent, so each wait ends.
func (r *Reader) take(ctx context.Context) error {
	select {
	case places <- struct{}{}:
	case <-ctx.Done():
		return apierr.Unavailable()
	}
	r.memory, r.filled = free.Get().(*memory), 0
	r.hurry()
	return nil
}

// hurry begins the time in which a part must come, so that slow clients do not hold the memory for ever. A
// server that has the whole body already has no such time.
func (r *Reader) hurry() { _ = r.from.SetReadDeadline(time.Now().Add(r.PartTime)) }

// send gives a full part to the sink, as soon as the sink has sent the one before.
func (r *Reader) send(ctx context.Context) error {
	if err := r.wait(); err != nil {
		return err
	}
	part := r.memory
	r.memory, r.sent = nil, make(chan error, 1)
	go func(sent chan<- error) {
		err := table.Safely(func() error { return r.sink.Send(ctx, part[:]) })()
		part.give()
		sent <- err
	}(r.sent)
	return nil
}

// wait waits until the sink has sent a part, and returns the outcome.
func (r *Reader) wait() error {
	if r.sent == nil {
		return nil
	}
	err := <-r.sent
	r.sent = nil
	return err
}
