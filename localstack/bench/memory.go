package main

import (
	"bufio"
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
)

// memorySize is the event whose sessions are in memory when it is measured, and
// searches how many searches were made of it before.
const (
	memorySize = 10_000
	searches   = 1_000
)

// memory prints the resident memory of a service of its own over the same data,
// both regions running and one region's sessions loaded.
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
	all := s.search(s.path("sessions"), "", "")
	for n := range searches {
		if err := all(ctx, 0, n); err != nil {
			return err
		}
	}
	resident, err := resident(service.Process.Pid)
	if err != nil {
		return err
	}
	fmt.Printf("\nResident memory of the service after %d searches of %d sessions: %s, engines aside.\n", searches, memorySize, resident)
	return nil
}

// rows prints how much memory a row of a contact takes, with its association's: the
// heap before and after all of an organization's are loaded.
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

// heap is what is in use of the heap.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// address waits for the file that says where the service answers.
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

// resident is the resident memory of a process, as Linux tells it.
func resident(pid int) (string, error) { return field(fmt.Sprintf("/proc/%d/status", pid), "VmRSS") }

// machine describes where the figures were made.
func machine() string {
	cpu, _ := field("/proc/cpuinfo", "model name") // Elsewhere than on Linux it stays out.
	return fmt.Sprintf("%s, %d cores, %s/%s, %s", cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// field finds the first line of a file that begins with a name and a colon.
func field(path, name string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // It is only read.
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("%s has no %s", path, name)
}
