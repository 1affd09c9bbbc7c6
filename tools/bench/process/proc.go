// Package process reads what Linux reports about processes, and limits a process to a part of a
// processor.
package process

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Resident returns the resident memory of a process in MB.
func Resident(pid int) (float64, error) { return megabytes(pid, "VmRSS") }

// Peak returns the highest resident memory of a process in MB.
func Peak(pid int) (float64, error) { return megabytes(pid, "VmHWM") }

// megabytes reads a size of a process, reported in KiB.
func megabytes(pid int, name string) (kib float64, err error) {
	text, err := field(fmt.Sprintf("/proc/%d/status", pid), name)
	if err == nil {
		_, err = fmt.Sscan(text, &kib)
	}
	return kib * 1024 / 1e6, err
}

// Machine describes this machine.
func Machine() string {
	cpu, _ := field("/proc/cpuinfo", "model name") // Only Linux reports the name.
	return fmt.Sprintf("%s, %d cores, %s/%s, %s", cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// field returns the rest of the first line that begins with a name and a colon.
func field(path, name string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("%s has no %s", path, name)
}
