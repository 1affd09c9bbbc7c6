package scan

import (
	"cmp"
	"context"
	"sync"
	"time"
)

const (
	// maxStream is the size of the largest object that clamd gets, that of the largest file of a
	// session. clamd scans no file of 2 GiB, and needs minutes for less.
	maxStream = 500 << 20
	// waiting is the time for which a request waits for a verdict. The gateway ends a request after 29
	// seconds, and a request does more than wait.
	waiting = 12 * time.Second
	// scanTime limits a scan.
	scanTime = 10 * time.Minute
	// maxScans is the number of scans at a time, as many as the threads that clamd has by default.
	maxScans = 10
	// keepTime is the time for which a verdict waits for the request to be repeated.
	keepTime = 10 * time.Minute
)

// Clamd is a ClamAV daemon on the machine of the service, or near it. A scan outlasts the request that
// began it: the next request gets the verdict. A Clamd is safe for concurrent use.
type Clamd struct {
	// Network is tcp or unix, Address a host with a port or the path of a socket.
	Network, Address string
	// Wait is the time for which Scan waits for the verdict; 0 stands for 12 seconds.
	Wait time.Duration

	mu    sync.Mutex
	scans map[string]*running
}

// running is a scan of an object. The scan has ended when done is closed.
type running struct {
	done    chan struct{}
	verdict Verdict
	err     error
	ended   time.Time
}

// Scan returns the verdict of clamd (Scanner). An object that is larger than all files of sessions is
// not scanned.
func (c *Clamd) Scan(ctx context.Context, o Object) (Verdict, error) {
	if o.Size > maxStream {
		return NotScanned, nil
	}
	r := c.begin(ctx, o)
	if r == nil {
		return "", ErrPending
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Wait, waiting))
	defer cancel()
	select {
	case <-r.done:
		c.forget(o.Key, r)
		return r.verdict, r.err
	case <-ctx.Done():
		return "", ErrPending
	}
}

// begin returns the scan of an object, which an earlier request may have begun; nil while there are
// too many scans.
func (c *Clamd) begin(ctx context.Context, o Object) *running {
	c.mu.Lock()
	defer c.mu.Unlock()
	going := 0
	for key, r := range c.scans {
		switch {
		case r.ended.IsZero():
			going++
		case time.Since(r.ended) > keepTime:
			delete(c.scans, key)
		}
	}
	if r := c.scans[o.Key]; r != nil || going >= maxScans {
		return r
	}
	if c.scans == nil {
		c.scans = map[string]*running{}
	}
	r := &running{done: make(chan struct{})}
	c.scans[o.Key] = r
	go c.run(context.WithoutCancel(ctx), o, r)
	return r
}

// run scans an object.
func (c *Clamd) run(ctx context.Context, o Object, r *running) {
	ctx, cancel := context.WithTimeout(ctx, scanTime)
	defer cancel()
	verdict, err := c.stream(ctx, o)
	c.mu.Lock()
	defer c.mu.Unlock()
	r.verdict, r.err, r.ended = verdict, err, time.Now()
	close(r.done)
}

// forget drops a scan whose verdict a request has.
func (c *Clamd) forget(key string, r *running) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.scans[key] == r {
		delete(c.scans, key)
	}
}
