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
	held = 6
	// answerTime is the time in which a client must read the answer to a form that is refused.
	answerTime = time.Second
)

// memory is the memory of a part.
type memory [blob.MinPart]byte

// reading is the number of forms that the process reads. permits has an entry for each part that is held,
// and unused the memory of the others.
var (
	reading atomic.Int32
	permits = make(chan struct{}, held)
	unused  = sync.Pool{New: func() any { return new(memory) }}
)

// release gives memory back to the process.
func (m *memory) release() {
	if m != nil {
		unused.Put(m)
		<-permits
	}
}

// acquire waits for the memory of the next part, and limits the time in which the part must come. A form that
// waits holds at most a part that is being sent, so other forms can end. After PartTime, acquire returns a 503.
func (r *Reader) acquire(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.PartTime)
	defer cancel()
	select {
	case permits <- struct{}{}:
	case <-ctx.Done():
		return apierr.Unavailable()
	}
	r.memory, r.filled = unused.Get().(*memory), 0
	r.limit(r.PartTime)
	return nil
}

// limit limits the time of the next reads; 0 for no limit. It does nothing where the body has come before the
// request.
func (r *Reader) limit(d time.Duration) {
	at := time.Time{}
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = r.from.SetReadDeadline(at)
}

// send gives a full part to the sink, as soon as the sink has sent the part before.
func (r *Reader) send(ctx context.Context) error {
	r.limit(0)
	if err := r.wait(); err != nil {
		return err
	}
	part := r.memory
	r.memory, r.sent = nil, make(chan error, 1)
	go func(sent chan<- error) {
		err := table.Safely(func() error { return r.sink.Send(ctx, part[:]) })()
		part.release()
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
