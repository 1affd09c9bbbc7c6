package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// lambdaShare is the part of a processor that Lambda gives an instance of 512 MB; an instance
// of 1,769 MB has a whole processor.
const lambdaShare = 512.0 / 1769

// maxAhead is the longest time that a process works beyond its share.
const maxAhead = 5 * time.Millisecond

// Hold limits a process until Release is called.
type Hold struct {
	end   context.CancelFunc
	ended chan error
}

// HoldToShare limits a process to the processor of a Lambda with 512 MB.
func HoldToShare(ctx context.Context, pid int) *Hold {
	ctx, end := context.WithCancel(ctx)
	h := &Hold{end, make(chan error, 1)}
	go h.run(ctx, &share{pid: pid, of: lambdaShare, since: time.Now()})
	return h
}

// run limits the process and keeps the error for Release.
func (h *Hold) run(ctx context.Context, s *share) { h.ended <- s.hold(ctx) }

// Release lets the process work without a limit again.
func (h *Hold) Release() error {
	h.end()
	return <-h.ended
}

// share limits a process to a part of a processor, like Lambda: a process ahead of its share is
// stopped until the time has caught up. An unused part is lost. Only Linux reports the time that
// a process has worked.
type share struct {
	pid int
	of  float64
	// worked is the time that the process had worked at since, the start of the account.
	worked  time.Duration
	since   time.Time
	stopped bool
}

// hold limits the process until ctx ends, and then continues it.
func (s *share) hold(ctx context.Context) error {
	tick := time.NewTicker(maxAhead)
	defer tick.Stop()
	for {
		if err := s.adjust(); err != nil {
			return errors.Join(err, s.signal(syscall.SIGCONT))
		}
		select {
		case <-ctx.Done():
			return s.signal(syscall.SIGCONT)
		case <-tick.C:
		}
	}
}

// adjust stops a process ahead of its share, and continues the process afterwards.
func (s *share) adjust() error {
	worked, err := processorTime(s.pid)
	if err != nil {
		return err
	}
	ahead := worked - s.worked - time.Duration(s.of*float64(time.Since(s.since)))
	switch {
	case !s.stopped && ahead > 0:
		s.stopped = true
		return s.signal(syscall.SIGSTOP)
	case s.stopped && ahead <= 0:
		s.stopped = false
		return s.signal(syscall.SIGCONT)
	case ahead < -maxAhead:
		s.worked, s.since = worked, time.Now()
	}
	return nil
}

// signal sends a signal to the process.
func (s *share) signal(signal syscall.Signal) error { return syscall.Kill(s.pid, signal) }

// processorTime returns the time that all threads of a process have worked.
func processorTime(pid int) (sum time.Duration, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // The thread has ended.
		}
		var worked time.Duration
		if _, err := fmt.Fscan(strings.NewReader(string(text)), &worked); err != nil {
			return 0, err
		}
		sum += worked
	}
	return sum, nil
}
