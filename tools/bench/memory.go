package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"lectern/shared/contact"
	"lectern/shared/stores"
	"lectern/tools/bench/process"
)

// memorySize is the size of the event for the measurement of memory, and searches the number of
// searches before the measurement.
const (
	memorySize = 10_000
	searches   = 1_000
)

// memory prints the resident memory of a separate service over the same data, with both regions
// running and the sessions of a region loaded.
func memory(ctx context.Context, data string, p *place) error {
	binary := filepath.Join(data, "lectern")
	if text, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./localstack").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, text)
	}
	service := exec.CommandContext(ctx, binary, "up", "--no-demo", "--data", data, "--us-port", "0", "--eu-port", "0")
	environment := filepath.Join(data, "demo.env")
	if err := os.RemoveAll(environment); err != nil {
		return err
	}
	if err := service.Start(); err != nil {
		return err
	}
	defer func() {
		_ = service.Process.Signal(syscall.SIGTERM) // It may have ended by itself.
		_ = service.Wait()
	}()
	url, err := address(ctx, environment)
	if err != nil {
		return err
	}
	s := &subject{place: &place{client: newClient(url, p.Token)}, event: p.Event}
	all := s.search("sessions", query{})
	for n := range searches {
		if err := all.do(ctx, 0, n); err != nil {
			return err
		}
	}
	resident, err := process.Resident(service.Process.Pid)
	if err != nil {
		return err
	}
	fmt.Printf("\nResident memory of the service after %d searches of %d sessions: %.0f MB, engines aside.\n", searches, memorySize, resident)
	return nil
}

// rows prints the memory of a contact's row with its association's row: the growth of the heap
// while all rows of an organization are loaded, divided by the contacts.
func rows(ctx context.Context, p *place) error {
	caller, err := p.caller(ctx, p.Event.ID)
	if err != nil {
		return err
	}
	store := *stores.Contacts(p.env)
	store.Memory = contact.NewMemory(p.env.Table, 1<<30).Memory
	before := heap()
	if err := store.Load(ctx, caller); err != nil {
		return err
	}
	after := heap()
	runtime.KeepAlive(store.Memory)
	fmt.Printf("\nMemory of %d contacts loaded for a search: %d bytes a contact, the rows of record and association together.\n",
		p.Event.Contacts, (after-before)/uint64(p.Event.Contacts)) //nolint:gosec // a count of contacts is positive
	return nil
}

// heap returns the used bytes of the heap.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// address waits for the file with the address of the service.
func address(ctx context.Context, path string) (string, error) {
	for range 300 {
		if text, err := os.ReadFile(path); err == nil {
			for line := range strings.Lines(string(text)) {
				if url, ok := strings.CutPrefix(strings.TrimSpace(line), "LECTERN_US_URL="); ok {
					return url, nil
				}
			}
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return "", fmt.Errorf("the service did not start")
}
