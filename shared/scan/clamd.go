package scan

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lectern/shared/lru"
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
	// maxKept is the number of scans whose verdicts are kept.
	maxKept = 1000
)

// Clamd is a ClamAV daemon on the machine of the service, or near it. A scan outlasts the request that
// began it: the next request gets the verdict. A Clamd is safe for concurrent use.
type Clamd struct {
	// Network is tcp or unix, Address a host with a port or the path of a socket.
	Network, Address string
	// Wait is the time for which Scan waits for the verdict.
	Wait time.Duration

	// running has a value for each scan at a time.
	running chan struct{}
	scans   *lru.Cache[string, *clamdScan]
}

// NewClamd returns the Clamd at a host with a port, for the network tcp, or at the path of a socket, for
// the network unix.
func NewClamd(network, address string) *Clamd {
	return &Clamd{network, address, waiting, make(chan struct{}, maxScans), lru.New[string, *clamdScan](maxKept)}
}

// clamdScan is a scan of an object. The scan has ended when done is closed.
type clamdScan struct {
	begin   sync.Once
	done    chan struct{}
	verdict Verdict
	err     error
}

func newScan() *clamdScan { return &clamdScan{done: make(chan struct{})} }

// Scan returns the verdict of clamd (Scanner). An object that is larger than all files of sessions is
// not scanned.
func (c *Clamd) Scan(ctx context.Context, o Object) (Verdict, error) {
	if o.Size > maxStream {
		return NotScanned, nil
	}
	s := c.scans.GetOrPut(o.Key, 1, newScan)
	if s.failed() { // An earlier request waited for this scan.
		s = newScan()
		c.scans.Put(o.Key, s, 1)
	}
	s.begin.Do(func() { go c.run(context.WithoutCancel(ctx), o, s) })
	ctx, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	select {
	case <-s.done:
	case <-ctx.Done():
		return "", fmt.Errorf("%w: the scan goes on", ErrNoVerdict)
	}
	return s.verdict, s.err
}

// failed reports whether the scan has ended without a verdict.
func (s *clamdScan) failed() bool {
	select {
	case <-s.done:
		return s.err != nil
	default:
		return false
	}
}

// run scans an object.
func (c *Clamd) run(ctx context.Context, o Object, s *clamdScan) {
	c.running <- struct{}{}
	ctx, cancel := context.WithTimeout(ctx, scanTime)
	defer cancel()
	s.verdict, s.err = c.stream(ctx, o)
	<-c.running
	close(s.done)
}
