package main

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

// lambdaShare is the part of a processor that Lambda gives an instance of 512 MB: a whole
// one comes with 1,769 MB.
const lambdaShare = 512.0 / 1769

// shareTurn is how long a process works at most beyond its share.
const shareTurn = 5 * time.Millisecond

// share holds a process to a share of one processor, as Lambda does: one that has worked
// longer is stopped until it has waited as long as it should have. What it leaves unused
// it does not get later. Only Linux tells how long a process has worked.
type share struct {
	pid int
	of  float64
	// worked is how long the process had worked at since; from there on it is counted.
	worked  time.Duration
	since   time.Time
	stopped bool
}

// hold holds the process to its share until ctx ends, and then lets it go on.
func (s *share) hold(ctx context.Context) error {
	tick := time.NewTicker(shareTurn)
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

// adjust stops the process when it is ahead of its share, and lets it go on when it no
// longer is.
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
	case ahead < -shareTurn:
		s.worked, s.since = worked, time.Now()
	}
	return nil
}

func (s *share) signal(signal syscall.Signal) error { return syscall.Kill(s.pid, signal) }

// processorTime returns how long all threads of a process have worked.
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
