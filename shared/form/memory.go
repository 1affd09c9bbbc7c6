package form

import (
	"cmp"
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
	// ahead is the number of parts of a form that are sent at once.
	ahead = 2
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
// waits holds only parts that are being sent, so other forms can end. After PartTime, acquire returns a 503.
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

// send gives a full part to the sink, while the sink sends at most one other part. The first part is sent alone.
func (r *Reader) send(ctx context.Context) error {
	r.limit(0)
	for r.sending == ahead || r.sending > 0 && r.number == 1 {
		r.sending--
		if err := <-r.sent; err != nil {
			return err
		}
	}
	part := r.memory
	r.memory, r.number, r.sending = nil, r.number+1, r.sending+1
	go func(number int32) {
		err := table.Safely(func() error { return r.sink.Send(ctx, number, part[:]) })()
		part.release()
		r.sent <- err
	}(r.number)
	return nil
}

// wait waits until the sink sends no part any more, and returns an error of the sink.
func (r *Reader) wait() (err error) {
	for ; r.sending > 0; r.sending-- {
		err = cmp.Or(err, <-r.sent)
	}
	return err
}
