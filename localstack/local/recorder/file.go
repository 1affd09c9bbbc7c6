package recorder

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Read reads a list of permissions, with a permission on each line.
func Read(path string) (all []Permission, err error) {
	text, err := os.ReadFile(path) //nolint:gosec // the developer names the file
	if err != nil {
		return nil, fmt.Errorf("recorder: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		p, ok := Parse(strings.TrimSuffix(line, "\n"))
		if !ok {
			return nil, fmt.Errorf("recorder: %s: not a permission: %q", path, line)
		}
		all = append(all, p)
	}
	return all, nil
}

// Keep adds the noted permissions to the list in a file, and replaces the whole file. Only a
// single process at a time may call Keep for a file.
func (r *Recorder) Keep(path string) error {
	all, err := Read(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var lines []string
	for _, p := range append(all, r.Used()...) {
		lines = append(lines, p.String()+"\n")
	}
	slices.Sort(lines)
	partial := path + ".partial"
	if err := os.WriteFile(partial, []byte(strings.Join(slices.Compact(lines), "")), 0o600); err != nil {
		return fmt.Errorf("recorder: %w", err)
	}
	if err := os.Rename(partial, path); err != nil {
		return fmt.Errorf("recorder: %w", err)
	}
	return nil
}
